/* bcast.c -- one rank's tensor to all, along a binomial tree.
 *
 * Counted from the root, rank v has its tensor from v less its lowest bit, and
 * gives it to v plus each lower bit.
 */
#include "comm/comm_impl.h"

/* Rank v counted from the root. */
static int rank_of(const weft_comm *comm, int root, int v)
{
    return (v + root) % comm->size;
}

/* Start with the child that has most behind it; return to wait for all of them. */
static weft_status pass_on(weft_comm *comm, weft__operation *op, const weft_tensor *x, int root,
                           int v, int below)
{
    weft_request *sent[32];
    int           n = 0;

    for (int bit = below / 2; bit > 0; bit /= 2) {
        if (v + bit >= comm->size)
            continue;
        op->route.peer = rank_of(comm, root, v + bit);
        WEFT_TRY_NEW(sent[n] = weft__send_start(comm, op, 1, &x));
        n++;
    }
    for (int i = 0; i < n; i++)
        WEFT_TRY(weft__send_wait(comm, sent[i]));
    return WEFT_OK;
}

weft_status weft__spread(weft_comm *comm, weft__operation *op, const weft_tensor *x, int root)
{
    const int v = (comm->rank - root + comm->size) % comm->size;
    int       bit = 1;

    while (bit < comm->size && (v & bit) == 0)
        bit *= 2;
    if (v != 0) {
        op->route.peer = rank_of(comm, root, v - bit);
        WEFT_TRY(weft__recv(comm, op, 1, &x));
    }
    return pass_on(comm, op, x, root, v, bit);
}

weft_status weft_comm_bcast(weft_comm *comm, weft_tensor *x, int root, const char *label)
{
    weft__operation op = weft__collective(WEFT__BCAST, x, label);

    WEFT_TRY(weft__check_root(comm, &op, root));
    WEFT_TRY(weft__check_tensor(&op, x));
    op.root = root;
    op.bytes = comm->rank == root ? weft_tensor_bytes(x) : 0;
    WEFT_TRY(weft__begin(comm, &op));
    return weft__in_step(comm, &op, weft__spread(comm, &op, x, root));
}
