/* recv_any.c -- whatever another rank sends, over memory taken when its size is
 * known. */
#include "comm/comm_impl.h"

#include <string.h>

/* A message on its way to its place. */
typedef struct landing {
    weft_comm      *comm;
    weft__operation op;
    void *(*take)(void *context, int64_t bytes);
    void        *context;
    weft__header header;
    weft_tensor *x;
} landing;

static weft_status take_block(const landing *l, int64_t bytes, char **block)
{
    *block = l->take(l->context, bytes);
    if (*block == NULL)
        return WEFT_FAIL(WEFT_E_NOMEM, "%s: no block of %lld bytes",
                         weft__operation_text(&l->op).at, (long long)bytes);
    return WEFT_OK;
}

static void lay_tensors(const landing *l, char *data)
{
    int64_t at = 0;
    for (int i = 0; i < l->header.n; i++) {
        at = weft__aligned(at);
        l->x[i] = weft__header_tensor(&l->header, i, data + at);
        at += weft_tensor_bytes(&l->x[i]);
    }
}

/* More than any header: it is received where it stays, header and all. */
static weft_status land_with_header(landing *l, int bytes)
{
    char *block;

    WEFT_TRY(take_block(l, bytes, &block));
    WEFT_TRY(weft__recv_bytes(l->comm, &l->op, block, bytes));
    memcpy(&l->header, block, sizeof l->header);
    WEFT_TRY(weft__header_check(l->comm, &l->op, &l->header, bytes));
    lay_tensors(l, block + weft__header_bytes(l->header.n));
    return weft__header_meets(&l->header, &l->op);
}

static weft_status recv_pieces(const landing *l)
{
    const weft_tensor *part[WEFT_MAX_PARTS];
    for (int i = 0; i < l->header.n; i++)
        part[i] = &l->x[i];
    return weft__recv_pieces(l->comm, &l->op, l->header.n, part);
}

/* A header with little behind it, or with pieces to come. */
static weft_status land_after_header(landing *l, int bytes)
{
    const char *first = (const char *)&l->comm->first;
    char       *data;

    WEFT_TRY(weft__recv_bytes(l->comm, &l->op, &l->comm->first, bytes));
    memcpy(&l->header, first, (size_t)bytes);
    WEFT_TRY(weft__header_check(l->comm, &l->op, &l->header, bytes));

    const weft_status meets = weft__header_meets(&l->header, &l->op);
    if (meets != WEFT_OK) {
        WEFT_TRY(weft__drop_pieces(l->comm, &l->op, &l->header));
        return meets;
    }
    WEFT_TRY(take_block(l, l->header.data_bytes, &data));
    lay_tensors(l, data);
    if (!weft__is_short(l->comm, l->header.data_bytes))
        return recv_pieces(l);
    memcpy(data, first + weft__header_bytes(l->header.n), (size_t)l->header.data_bytes);
    return WEFT_OK;
}

weft_status weft_comm_recv_any(weft_comm *comm, const weft_route                 *route,
                               void *(*take)(void *context, int64_t bytes), void *context, int *n,
                               weft_tensor *x)
{
    landing l = { .comm = comm, .take = take, .context = context, .x = x };
    int     bytes;

    WEFT_TRY(weft__message(&l.op, comm, WEFT__RECV, route));
    if (take == NULL || n == NULL || x == NULL)
        return WEFT_FAIL(WEFT_E_ARG, "%s: an argument is NULL", weft__operation_text(&l.op).at);
    WEFT_TRY(weft__begin(comm, &l.op));
    WEFT_TRY(weft__wait_message(comm, &l.op, &bytes));
    if (bytes > (int)sizeof l.header)
        WEFT_TRY(land_with_header(&l, bytes));
    else
        WEFT_TRY(land_after_header(&l, bytes));

    *n = l.header.n;
    comm->traffic.messages_received++;
    for (int i = 0; i < *n; i++)
        comm->traffic.bytes_received += weft_tensor_bytes(&x[i]);
    return WEFT_OK;
}
