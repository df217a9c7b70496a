/* route.c -- where a message goes: its tag, and whether there is such a place. */
#include "comm/comm_impl.h"

int weft__tag(const weft__operation *op)
{
    return op->route.edge < 0 ? WEFT__TAG_COLLECTIVE : 2 * op->route.edge + op->route.backward;
}

static weft_status check_route(const weft_comm *comm, const weft__operation *op)
{
    const weft_route *r = &op->route;

    if (r->peer < 0 || r->peer >= comm->size)
        return WEFT_FAIL(WEFT_E_ARG, "%s: there are ranks 0 to %d", weft__operation_text(op).at,
                         comm->size - 1);
    if (r->peer == comm->rank)
        return WEFT_FAIL(WEFT_E_ARG, "%s: that is this rank itself, it would wait for ever",
                         weft__operation_text(op).at);
    if (r->edge < 0 || r->edge > WEFT_MAX_EDGE || r->micro_batch < 0)
        return WEFT_FAIL(WEFT_E_ARG, "%s: edges are 0 to %d, micro-batches 0 or more",
                         weft__operation_text(op).at, WEFT_MAX_EDGE);
    return WEFT_OK;
}

weft_status weft__message(weft__operation *op, const weft_comm *comm, weft__kind kind,
                          const weft_route *route)
{
    if (comm == NULL || route == NULL)
        return WEFT_FAIL(WEFT_E_ARG, "%s without a %s", weft__kind_text((int)kind),
                         comm == NULL ? "communicator" : "route");
    *op = (weft__operation){ .kind = kind, .route = *route };
    return check_route(comm, op);
}

weft_status weft__message_parts(weft__operation *op, int n, const weft_tensor *const *x)
{
    if (n < 1 || n > WEFT_MAX_PARTS || x == NULL)
        return WEFT_FAIL(WEFT_E_ARG, "%s: %d tensors, and there may be 1 to %d",
                         weft__operation_text(op).at, x != NULL ? n : 0, WEFT_MAX_PARTS);
    for (int i = 0; i < n; i++) {
        WEFT_TRY(weft__check_tensor(op, x[i]));
        op->count += x[i]->count;
        op->bytes += weft_tensor_bytes(x[i]);
    }
    op->dtype = x[0]->dtype;
    return WEFT_OK;
}
