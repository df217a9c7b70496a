/* header.c -- what travels in front of the data, and whether it meets what is
 * expected here. */
#include "comm/comm_impl.h"
#include "tensor/shape.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int64_t weft__aligned(int64_t bytes)
{
    return (bytes + WEFT_ALIGNMENT - 1) / WEFT_ALIGNMENT * WEFT_ALIGNMENT;
}

int64_t weft__header_bytes(int n)
{
    return weft__aligned((int64_t)offsetof(weft__header, part) + n * (int64_t)sizeof(weft__part));
}

int64_t weft__data_bytes(int n, const weft_tensor *const *x)
{
    int64_t bytes = 0;
    for (int i = 0; i < n; i++)
        bytes = weft__aligned(bytes) + weft_tensor_bytes(x[i]);
    return bytes;
}

bool weft__is_short(const weft_comm *comm, int64_t data_bytes)
{
    return data_bytes <= WEFT__SHORT && data_bytes <= comm->chunk_bytes;
}

void weft__header_fill(weft__header *header, const weft_comm *comm, const weft__operation *op,
                       int n, const weft_tensor *const *x)
{
    header->magic = WEFT__MAGIC;
    header->version = WEFT__WIRE_VERSION;
    header->kind = (int32_t)op->kind;
    header->edge = op->route.edge;
    header->micro_batch = op->route.micro_batch;
    header->backward = op->route.backward;
    header->mode = op->route.mode;
    header->n = n;
    header->number = op->number;
    header->collective = op->collective;
    header->how = op->how;
    header->root = op->root;
    header->dtype = (int32_t)op->dtype;
    header->count = op->count;
    header->data_bytes = weft__data_bytes(n, x);
    header->chunk_bytes = comm->chunk_bytes;
    snprintf(header->label, sizeof header->label, "%s",
             op->route.label != NULL ? op->route.label : "");
    for (int i = 0; i < n; i++) {
        header->part[i].dtype = (int32_t)x[i]->dtype;
        header->part[i].ndim = x[i]->ndim;
        memcpy(header->part[i].shape, x[i]->shape, sizeof x[i]->shape);
    }
}

/* ---- what came: does it make sense? ---------------------------------------- */

/* Its bytes; -1 if it is no tensor, or one that does not fit into memory. */
static int64_t part_bytes(const weft__part *part)
{
    if (!weft__dtype_known((weft_dtype)part->dtype) || part->ndim < 0 || part->ndim > WEFT_MAX_AXES)
        return -1;

    int64_t bytes = weft_dtype_bytes((weft_dtype)part->dtype);
    bool    empty = false;
    for (int a = 0; a < part->ndim; a++) {
        if (part->shape[a] < 0)
            return -1;
        empty |= part->shape[a] == 0;
    }
    for (int a = 0; a < part->ndim && !empty; a++) {
        if (part->shape[a] > INT64_MAX / 2 / bytes)
            return -1;
        bytes *= part->shape[a];
    }
    return empty ? 0 : bytes;
}

static bool parts_make_sense(const weft__header *header)
{
    int64_t sum = 0;
    for (int i = 0; i < header->n; i++) {
        const int64_t bytes = part_bytes(&header->part[i]);
        if (bytes < 0 || bytes > INT64_MAX / 2 - WEFT_ALIGNMENT - sum)
            return false;
        sum = weft__aligned(sum) + bytes;
    }
    return sum == header->data_bytes;
}

static bool makes_sense(const weft_comm *comm, const weft__header *header, int64_t message_bytes)
{
    if (message_bytes < weft__header_bytes(1) || header->magic != WEFT__MAGIC ||
        header->version != WEFT__WIRE_VERSION || header->n < 1 || header->n > WEFT_MAX_PARTS ||
        message_bytes < weft__header_bytes(header->n) || !parts_make_sense(header))
        return false;
    const bool with_data = weft__is_short(comm, header->data_bytes);
    return message_bytes == weft__header_bytes(header->n) + (with_data ? header->data_bytes : 0);
}

weft_status weft__header_check(weft_comm *comm, const weft__operation *op,
                               const weft__header *header, int64_t message_bytes)
{
    const bool ours = message_bytes >= weft__header_bytes(1) && header->magic == WEFT__MAGIC;

    if (ours && header->chunk_bytes == comm->chunk_bytes &&
        makes_sense(comm, header, message_bytes))
        return WEFT_OK;

    comm->broken = weft__operation_text(op);
    if (ours && header->chunk_bytes != comm->chunk_bytes)
        return WEFT_FAIL(WEFT_E_COMM, "%s: it cuts messages at %lld bytes, this rank at %lld",
                         comm->broken.at, (long long)header->chunk_bytes,
                         (long long)comm->chunk_bytes);
    return WEFT_FAIL(WEFT_E_COMM, "%s: the %lld bytes that came are no message of this Weft",
                     comm->broken.at, (long long)message_bytes);
}

/* ---- what came: is it what is waited for? ----------------------------------- */

static const char *mode_text(int mode)
{
    static const char *const text[] = { "WEFT_TRAIN", "WEFT_INFER", "WEFT_DRY" };
    return mode >= 0 && mode < 3 ? text[mode] : "an unknown mode";
}

/* "recv of ...: rank 1's send 'l1 to l2' (operation 46) has 2 tensors". */
#define REFUSE(kind, header, op, ...) refuse((kind), WEFT_HERE, (header), (op), __VA_ARGS__)

WEFT_PRINTF(5, 6)
static weft_status refuse(weft_status kind, const char *where, const weft__header *header,
                          const weft__operation *op, const char *format, ...)
{
    char    what[500];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return weft_error_set(kind, where, "%s: rank %d's %s '%.*s' (operation %lld) %s",
                          weft__operation_text(op).at, op->route.peer,
                          weft__kind_text(header->kind), WEFT__LABEL, header->label,
                          (long long)header->number, what);
}

/* Some collectives have the same dtype and count on all ranks. */
static weft_status check_count(const weft__header *header, const weft__operation *op)
{
    const weft_dtype its = (weft_dtype)header->dtype;

    if (op->kind != WEFT__ALLREDUCE && op->kind != WEFT__BCAST)
        return WEFT_OK;
    if (header->count == op->count && its == op->dtype)
        return WEFT_OK;
    return REFUSE(its == op->dtype ? WEFT_E_SHAPE : WEFT_E_DTYPE, header, op, "has %lld %s",
                  (long long)header->count, weft_dtype_text(its));
}

static const char *how_text(int how)
{
    static const char *const text[] = { "a sum", "a mean", "a maximum" };
    return how >= 0 && how < 3 ? text[how] : "an unknown reduction";
}

/* A collective is the same call on every rank, and none of them has left one out. */
static weft_status check_call(const weft__header *header, const weft__operation *op)
{
    if (header->how != op->how)
        return REFUSE(WEFT_E_STATE, header, op, "is %s, this rank's %s", how_text(header->how),
                      how_text(op->how));
    if (header->root != op->root)
        return REFUSE(WEFT_E_STATE, header, op, "has root %d, this rank's %d", header->root,
                      op->root);
    if (header->collective != op->collective)
        return REFUSE(WEFT_E_STATE, header, op, "is collective %lld there, %lld on this rank",
                      (long long)header->collective, (long long)op->collective);
    return WEFT_OK;
}

/* Messages are told apart by edges; a collective is known by its label alone. */
static bool same_label(const weft__header *header, const weft__operation *op)
{
    const char *const label = op->route.label != NULL ? op->route.label : "";
    return op->kind == WEFT__RECV || strncmp(header->label, label, WEFT__LABEL - 1) == 0;
}

weft_status weft__header_meets(const weft__header *header, const weft__operation *op)
{
    const weft__kind  wanted = op->kind == WEFT__RECV ? WEFT__SEND : op->kind;
    const weft_route *r = &op->route;

    if (header->kind != (int32_t)wanted || !same_label(header, op))
        return REFUSE(WEFT_E_STATE, header, op, "came instead");
    WEFT_TRY(check_call(header, op));
    if (header->mode != r->mode)
        return REFUSE(WEFT_E_STATE, header, op, "is in mode %s, this rank in %s",
                      mode_text(header->mode), mode_text(r->mode));
    if (header->micro_batch != r->micro_batch)
        return REFUSE(WEFT_E_STATE, header, op, "is of micro-batch %d", header->micro_batch);
    return check_count(header, op);
}

weft_tensor weft__header_tensor(const weft__header *header, int index, void *data)
{
    const weft__part *part = &header->part[index];
    return weft_tensor_wrap((weft_dtype)part->dtype, part->ndim, part->shape, data);
}

weft_status weft__header_fits(const weft__header *header, const weft__operation *op, int n,
                              const weft_tensor *const *x)
{
    if (header->n != n)
        return REFUSE(WEFT_E_SHAPE, header, op, "has %d tensors, this rank takes %d", header->n, n);
    for (int i = 0; i < n; i++) {
        const weft_tensor its = weft__header_tensor(header, i, NULL);
        const bool        same = weft_tensor_same_shape(&its, x[i]);
        if (!same || its.dtype != x[i]->dtype)
            return REFUSE(same ? WEFT_E_DTYPE : WEFT_E_SHAPE, header, op,
                          "has %s as tensor %d of %d, this rank takes %s", weft_shape_text(&its),
                          i + 1, n, weft_shape_text(x[i]));
    }
    return WEFT_OK;
}
