/* send.c -- tensors to another rank, as one message, without waiting. */
#include "comm/comm_impl.h"

static weft_status post_sends(weft_comm *comm, weft_request *m)
{
    const weft__operation *op = &m->op;
    for (int k = 0; k < m->messages; k++)
        WEFT__TRY_MPI(comm, op,
                      MPI_Isend(MPI_BOTTOM, 1, m->type[k], op->route.peer, weft__tag(op), comm->mpi,
                                &m->pending[k]));
    return WEFT_OK;
}

weft_request *weft__send_start(weft_comm *comm, const weft__operation *op, int n,
                               const weft_tensor *const *x)
{
    weft_request *m = weft__request_take(comm, op, n, x);
    return m != NULL && post_sends(comm, m) == WEFT_OK ? m : NULL;
}

weft_status weft__send_wait(weft_comm *comm, weft_request *message)
{
    for (int k = 0; k < message->messages; k++)
        WEFT_TRY(weft__wait_request(comm, &message->op, &message->pending[k]));
    weft__request_give(message);
    return WEFT_OK;
}

static weft_status begin(weft_comm *comm, const weft_route *route, int n,
                         const weft_tensor *const *x, weft__operation *op)
{
    WEFT_TRY(weft__message(op, comm, WEFT__SEND, route));
    WEFT_TRY(weft__message_parts(op, n, x));
    return weft__begin(comm, op);
}

weft_request *weft_comm_send_start(weft_comm *comm, const weft_route *route, int n,
                                   const weft_tensor *const *x)
{
    weft__operation op;
    if (begin(comm, route, n, x, &op) != WEFT_OK)
        return NULL;

    weft_request *m = weft__send_start(comm, &op, n, x);
    if (m != NULL) {
        comm->traffic.messages_sent++;
        comm->traffic.bytes_sent += op.bytes;
    }
    return m;
}

weft_status weft_comm_wait(weft_comm *comm, weft_request *request)
{
    if (comm == NULL || request == NULL)
        return WEFT_FAIL(WEFT_E_ARG, "wait without %s", comm == NULL ? "a communicator" : "a send");
    if (comm->broken.at[0] != '\0')
        return WEFT_FAIL(WEFT_E_STATE, "wait for %s: this communicator is broken since %s",
                         weft__operation_text(&request->op).at, comm->broken.at);
    if (!request->in_use)
        return WEFT_FAIL(WEFT_E_STATE, "wait for %s, which was waited for before",
                         weft__operation_text(&request->op).at);
    return weft__send_wait(comm, request);
}

weft_status weft_comm_send(weft_comm *comm, const weft_route *route, int n,
                           const weft_tensor *const *x)
{
    weft_request *request;
    WEFT_TRY_NEW(request = weft_comm_send_start(comm, route, n, x));
    WEFT_TRY(weft_comm_wait(comm, request));
    return WEFT_OK;
}
