/* sendrecv.c -- messages as a program sends them by hand, numbered as they come. */
#include "parallel/crossing.h"

static const char THERE[] = "weft_send", BACK[] = "gradient of weft_send";

static weft_status check_peer(const weft_comm *comm, const char *call, int peer)
{
    if (comm == NULL)
        return WEFT_FAIL(WEFT_E_ARG, "%s without a communicator", call);
    if (peer == weft_comm_rank(comm))
        return WEFT_FAIL(WEFT_E_ARG, "%s: rank %d would wait for itself", call, peer);
    if (peer < 0 || peer >= weft_comm_size(comm))
        return WEFT_FAIL(WEFT_E_ARG, "%s: there is no rank %d, only 0 to %d", call, peer,
                         weft_comm_size(comm) - 1);
    return WEFT_OK;
}

weft_var *weft_send(weft_comm *comm, weft_vars x, int to)
{
    weft__part_set real = 0;
    weft_tape     *tape = weft_common_tape(x);

    if (tape == NULL || check_peer(comm, "weft_send", to) != WEFT_OK)
        return NULL;
    if (weft_tape_mode(tape) == WEFT_DRY)
        return weft__delegate(tape);

    const int        edge = weft__crossings(tape, true, comm, to);
    const weft__ways ways = weft__ways_of(tape, to, edge, THERE, BACK);
    for (int i = 0; i < x.n; i++)
        if (weft_dtype_is_real(x.at[i]->value.dtype))
            real |= 1U << i;
    return weft__cross_send(comm, tape, x, &ways, real);
}

static weft_status check_recv(const weft_comm *comm, const weft_tape *tape, int from,
                              const weft_var *delegate)
{
    WEFT_TRY(check_peer(comm, "weft_recv", from));
    if (tape == NULL)
        return WEFT_FAIL(WEFT_E_ARG, "weft_recv with neither a tape nor a delegate on one");
    if (delegate != NULL && delegate->tape != tape)
        return WEFT_FAIL(WEFT_E_STATE, "weft_recv: the delegate is on another tape");
    if (weft_tape_mode(tape) == WEFT_DRY)
        return WEFT_FAIL(WEFT_E_STATE, "weft_recv in a dry run: nothing comes");
    return WEFT_OK;
}

weft_vars weft_recv(weft_comm *comm, weft_tape *tape, int from, weft_var *delegate)
{
    if (tape == NULL && delegate != NULL)
        tape = delegate->tape;
    if (check_recv(comm, tape, from, delegate) != WEFT_OK)
        return weft_one(NULL);

    const int        edge = weft__crossings(tape, false, comm, from);
    const weft__ways ways = weft__ways_of(tape, from, edge, THERE, BACK);
    return weft__cross_recv(comm, tape, &ways, NULL,
                            delegate != NULL ? weft_one(delegate) : (weft_vars){ 0 });
}
