/* exchange.c -- gather, scatter, allgather, alltoall: every rank sends at most one
 * tensor to every other.
 *
 * They are made of messages: so lengths are free, shapes may differ from rank to
 * rank, and a tensor that does not fit is named with both its sides. The volume is
 * that of any algorithm; all sends start before the first receive, so no
 * order of the ranks matters.
 */
#include "comm/comm_impl.h"

#include <string.h>

/* ---- what goes where: comm->give and comm->get, NULL for nothing -------------- */

static weft_status check_all(const weft_comm *comm, const weft__operation *op,
                             const weft_tensor *const *all)
{
    if (all == NULL)
        return WEFT_FAIL(WEFT_E_ARG, "%s: no tensors, one for each of %d ranks",
                         weft__operation_text(op).at, comm->size);
    for (int k = 0; k < comm->size; k++)
        WEFT_TRY(weft__check_tensor(op, all[k]));
    return WEFT_OK;
}

static int64_t bytes_of(const weft_comm *comm, const weft_tensor *const *all)
{
    int64_t bytes = 0;
    for (int k = 0; k < comm->size; k++)
        bytes += weft_tensor_bytes(all[k]);
    return bytes;
}

static void clear(weft_comm *comm)
{
    for (int k = 0; k < comm->size; k++) {
        comm->give[k] = NULL;
        comm->get[k] = NULL;
        comm->sent[k] = NULL;
    }
}

/* The type of a list of tensors to write to is not that of one to read from. */
static const weft_tensor *const *readable(weft_comm *comm, weft_tensor *const *all)
{
    for (int k = 0; all != NULL && k < comm->size; k++)
        comm->get[k] = all[k];
    return all != NULL ? comm->get : NULL;
}

/* ---- the exchange --------------------------------------------------------------- */

static weft_status keep_own(const weft_comm *comm, const weft__operation *op)
{
    const weft_tensor *from = comm->give[comm->rank], *to = comm->get[comm->rank];

    if (from == NULL || to == NULL)
        return WEFT_OK;
    if (from->dtype != to->dtype || !weft_tensor_same_shape(from, to))
        return WEFT_FAIL(from->dtype != to->dtype ? WEFT_E_DTYPE : WEFT_E_SHAPE,
                         "%s: rank %d has %s for itself and takes %s", weft__operation_text(op).at,
                         comm->rank, weft_shape_text(from), weft_shape_text(to));
    if (from->data != to->data && to->count > 0)
        memmove(to->data, from->data, (size_t)weft_tensor_bytes(to));
    return WEFT_OK;
}

/* Each rank begins with the next one, so that not all send to the same. */
static weft_status send_all(weft_comm *comm, weft__operation *op)
{
    for (int i = 1; i < comm->size; i++) {
        const int to = (comm->rank + i) % comm->size;
        op->route.peer = to;
        if (comm->give[to] != NULL)
            WEFT_TRY_NEW(comm->sent[to] = weft__send_start(comm, op, 1, &comm->give[to]));
    }
    return WEFT_OK;
}

/* A message that does not fit is consumed, and the others still are received: then
 * the next operation finds everything in order. */
static weft_status recv_all(weft_comm *comm, weft__operation *op)
{
    weft_status failed = WEFT_OK;
    for (int i = 1; i < comm->size; i++) {
        const int from = (comm->rank - i + comm->size) % comm->size;
        op->route.peer = from;
        if (comm->get[from] == NULL)
            continue;
        const weft_status got = weft__recv(comm, op, 1, &comm->get[from]);
        if (got != WEFT_OK)
            failed = got;
        if (comm->broken.at[0] != '\0')
            return failed;
    }
    return failed;
}

static weft_status wait_all(weft_comm *comm)
{
    for (int k = 0; k < comm->size; k++)
        if (comm->sent[k] != NULL)
            WEFT_TRY(weft__send_wait(comm, comm->sent[k]));
    return WEFT_OK;
}

static weft_status exchange(weft_comm *comm, weft__operation op)
{
    WEFT_TRY(keep_own(comm, &op));
    WEFT_TRY(weft__begin(comm, &op));
    WEFT_TRY(send_all(comm, &op));
    const weft_status got = recv_all(comm, &op);
    if (comm->broken.at[0] == '\0')
        WEFT_TRY(wait_all(comm));
    return got;
}

/* ---- the four ---------------------------------------------------------------------- */

weft_status weft_comm_gather(weft_comm *comm, const weft_tensor *x, weft_tensor *const *all,
                             int root, const char *label)
{
    weft__operation op = weft__collective(WEFT__GATHER, x, label);

    WEFT_TRY(weft__check_root(comm, &op, root));
    WEFT_TRY(weft__check_tensor(&op, x));
    clear(comm);
    if (comm->rank == root)
        WEFT_TRY(check_all(comm, &op, readable(comm, all)));
    comm->give[root] = x;
    op.root = root;
    op.bytes = weft_tensor_bytes(x);
    return exchange(comm, op);
}

weft_status weft_comm_scatter(weft_comm *comm, const weft_tensor *const *all, weft_tensor *x,
                              int root, const char *label)
{
    weft__operation op = weft__collective(WEFT__SCATTER, x, label);

    WEFT_TRY(weft__check_root(comm, &op, root));
    WEFT_TRY(weft__check_tensor(&op, x));
    clear(comm);
    if (comm->rank == root) {
        WEFT_TRY(check_all(comm, &op, all));
        memcpy(comm->give, all, (size_t)comm->size * sizeof *all);
        op.bytes = bytes_of(comm, all);
    }
    comm->get[root] = x;
    op.root = root;
    return exchange(comm, op);
}

weft_status weft_comm_allgather(weft_comm *comm, const weft_tensor *x, weft_tensor *const *all,
                                const char *label)
{
    weft__operation op = weft__collective(WEFT__ALLGATHER, x, label);

    WEFT_TRY(weft__check_comm(comm, &op));
    WEFT_TRY(weft__check_tensor(&op, x));
    clear(comm);
    WEFT_TRY(check_all(comm, &op, readable(comm, all)));
    for (int k = 0; k < comm->size; k++)
        comm->give[k] = x;
    op.bytes = weft_tensor_bytes(x);
    return exchange(comm, op);
}

weft_status weft_comm_alltoall(weft_comm *comm, const weft_tensor *const *from,
                               weft_tensor *const *to, const char *label)
{
    weft__operation op = weft__collective(WEFT__ALLTOALL, NULL, label);

    WEFT_TRY(weft__check_comm(comm, &op));
    WEFT_TRY(check_all(comm, &op, from));
    clear(comm);
    WEFT_TRY(check_all(comm, &op, readable(comm, to)));
    memcpy(comm->give, from, (size_t)comm->size * sizeof *from);
    op.bytes = bytes_of(comm, from);
    return exchange(comm, op);
}
