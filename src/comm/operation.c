/* operation.c -- what a rank does, numbered, counted and said in words. */
#include "comm/comm_impl.h"
#include "tensor/shape.h"

#include <stdio.h>

static bool is_message(weft__kind kind)
{
    return kind == WEFT__SEND || kind == WEFT__RECV;
}

const char *weft__kind_text(int kind)
{
    static const char *const text[] = {
#define X(name, words) words,
        WEFT__KIND_LIST(X)
#undef X
    };
    return kind >= 0 && kind < WEFT__KINDS ? text[kind] : "an unknown operation";
}

/* ' 'l1 to l2'', or nothing. */
static weft__text quoted(const char *label)
{
    weft__text text = { "" };
    if (label != NULL && *label != '\0')
        snprintf(text.at, sizeof text.at, " '%.100s'", label);
    return text;
}

/* "send of edge 3 'l1 to l2' backward to rank 1, micro-batch 0". */
static weft__text message_text(const weft__operation *op)
{
    const weft_route *r = &op->route;
    weft__text        text;
    snprintf(text.at, sizeof text.at, "%s of edge %d%.110s%s %s rank %d, micro-batch %d",
             weft__kind_text((int)op->kind), r->edge, quoted(r->label).at,
             r->backward ? " backward" : "", op->kind == WEFT__SEND ? "to" : "from", r->peer,
             r->micro_batch);
    return text;
}

/* "allreduce 'gradients' of 7840 f32 with rank 1". */
static weft__text collective_text(const weft__operation *op)
{
    weft__text what = { "" }, with = { "" }, text;

    if (op->count > 0)
        snprintf(what.at, sizeof what.at, " of %lld %s", (long long)op->count,
                 weft_dtype_text(op->dtype));
    if (op->route.peer != WEFT__NOBODY)
        snprintf(with.at, sizeof with.at, " with rank %d", op->route.peer);
    snprintf(text.at, sizeof text.at, "%s%.110s%.50s%.50s", weft__kind_text((int)op->kind),
             quoted(op->route.label).at, what.at, with.at);
    return text;
}

weft__text weft__operation_text(const weft__operation *op)
{
    return is_message(op->kind) ? message_text(op) : collective_text(op);
}

weft__operation weft__collective(weft__kind kind, const weft_tensor *x, const char *label)
{
    weft__operation op = { .kind = kind,
                           .route = { .peer = WEFT__NOBODY, .edge = -1, .label = label } };
    if (x != NULL) {
        op.dtype = x->dtype;
        op.count = x->count;
    }
    return op;
}

weft_status weft__begin(weft_comm *comm, weft__operation *op)
{
    if (comm->broken.at[0] != '\0')
        return WEFT_FAIL(WEFT_E_STATE, "%s: this communicator is broken since %s",
                         weft__operation_text(op).at, comm->broken.at);
    op->number = ++comm->traffic.operations;
    op->since = weft_seconds();
    if (!is_message(op->kind)) {
        op->collective = ++comm->traffic.collectives;
        comm->traffic.collective_bytes += op->bytes;
    }
    return WEFT_OK;
}

weft_status weft__check_tensor(const weft__operation *op, const weft_tensor *x)
{
    if (x == NULL)
        return WEFT_FAIL(WEFT_E_ARG, "%s: a tensor is NULL", weft__operation_text(op).at);
    if (!weft__dtype_known(x->dtype))
        return WEFT_FAIL(WEFT_E_DTYPE, "%s: there is no dtype %d", weft__operation_text(op).at,
                         (int)x->dtype);
    if (x->ndim < 0 || x->ndim > WEFT_MAX_AXES || x->count < 0)
        return WEFT_FAIL(WEFT_E_ARG, "%s: a tensor of %d axes and %lld elements",
                         weft__operation_text(op).at, x->ndim, (long long)x->count);
    if (x->data == NULL && x->count > 0)
        return WEFT_FAIL(WEFT_E_ARG, "%s: the tensor %s has no data", weft__operation_text(op).at,
                         weft_shape_text(x));
    return WEFT_OK;
}

weft_status weft__check_comm(const weft_comm *comm, const weft__operation *op)
{
    if (comm == NULL)
        return WEFT_FAIL(WEFT_E_ARG, "%s without a communicator", weft__operation_text(op).at);
    return WEFT_OK;
}

weft_status weft__check_root(const weft_comm *comm, const weft__operation *op, int root)
{
    WEFT_TRY(weft__check_comm(comm, op));
    if (root < 0 || root >= comm->size)
        return WEFT_FAIL(WEFT_E_ARG, "%s: root %d is no rank of %d", weft__operation_text(op).at,
                         root, comm->size);
    return WEFT_OK;
}

weft_status weft__mpi_failed(weft_comm *comm, const weft__operation *op, int code,
                             const char *where, const char *call)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int  length;

    MPI_Error_string(code, text, &length);
    comm->broken = weft__operation_text(op);
    return weft_error_set(WEFT_E_COMM, where, "%s: %.40s: %s", comm->broken.at, call, text);
}

weft_status weft__in_step(weft_comm *comm, const weft__operation *op, weft_status ended)
{
    if (ended != WEFT_OK && comm->broken.at[0] == '\0')
        comm->broken = weft__operation_text(op);
    return ended;
}
