/* recv_any.c -- whatever another rank sends, over memory taken when its size is
 * known. */
#include "comm/comm_impl.h"

#include <string.h>

/* Where it all lies in the end: the data behind the header, or alone. */
typedef struct landing {
    void *(*take)(void *context, int64_t bytes);
    void        *context;
    weft__header header;
    char        *data;
} landing;

static weft_status land_in(landing *l, int64_t bytes, char **block)
{
    *block = l->take(l->context, bytes);
    if (*block == NULL)
        return weft_error_status() != WEFT_OK
                   ? weft_error_status()
                   : WEFT_FAIL(WEFT_E_NOMEM, "no block of %lld bytes for a message",
                               (long long)bytes);
    return WEFT_OK;
}

/* A message longer than any header is whole: received where it stays. */
static weft_status land_whole(weft_comm *comm, const weft__operation *op, landing *l, int bytes)
{
    char *block;
    WEFT_TRY(land_in(l, bytes, &block));
    WEFT_TRY(weft__recv_bytes(comm, op, block, bytes));
    memcpy(&l->header, block, sizeof l->header);
    WEFT_TRY(weft__header_check(comm, op, &l->header, bytes));
    l->data = block + weft__header_bytes(l->header.n);
    return weft__header_meets(&l->header, op);
}

/* A short one is a header with little behind it, or the first of several. */
static weft_status land_short(weft_comm *comm, const weft__operation *op, landing *l, int bytes)
{
    const char *first = (const char *)&comm->first;

    WEFT_TRY(weft__recv_bytes(comm, op, &comm->first, bytes));
    memcpy(&l->header, first, (size_t)bytes);
    WEFT_TRY(weft__header_check(comm, op, &l->header, bytes));

    const weft_status meets = weft__header_meets(&l->header, op);
    if (meets != WEFT_OK) {
        WEFT_TRY(weft__drop_chunks(comm, op, &l->header));
        return meets;
    }
    WEFT_TRY(land_in(l, l->header.data_bytes, &l->data));
    if (l->header.data_bytes > comm->chunk_bytes)
        return weft__recv_chunks(comm, op, &l->header, l->data, true);
    memcpy(l->data, first + weft__header_bytes(l->header.n), (size_t)l->header.data_bytes);
    return WEFT_OK;
}

/* The tensors over it. */
static int64_t lay_tensors(const landing *l, weft_tensor *x)
{
    int64_t at = 0, bytes = 0;
    for (int i = 0; i < l->header.n; i++) {
        at = weft__aligned(at);
        x[i] = weft__header_tensor(&l->header, i, l->data + at);
        at += weft_tensor_bytes(&x[i]);
        bytes += weft_tensor_bytes(&x[i]);
    }
    return bytes;
}

weft_status weft_comm_recv_any(weft_comm *comm, const weft_route                 *route,
                               void *(*take)(void *context, int64_t bytes), void *context, int *n,
                               weft_tensor *x)
{
    weft__operation op;
    landing         l = { .take = take, .context = context };
    int             bytes;

    WEFT_TRY(weft__message(&op, comm, WEFT__RECV, route));
    if (take == NULL || n == NULL || x == NULL)
        return WEFT_FAIL(WEFT_E_ARG, "%s: an argument is NULL", weft__operation_text(&op).at);
    WEFT_TRY(weft__begin(comm, &op));
    WEFT_TRY(weft__wait_message(comm, &op, &bytes));
    if (bytes > (int)sizeof(weft__header))
        WEFT_TRY(land_whole(comm, &op, &l, bytes));
    else
        WEFT_TRY(land_short(comm, &op, &l, bytes));

    *n = l.header.n;
    comm->traffic.messages_received++;
    comm->traffic.bytes_received += lay_tensors(&l, x);
    return WEFT_OK;
}
