/* recv.c -- tensors from another rank, straight into place.
 *
 * A receive looks at the size of what is there before it takes it. So a message
 * that does not fit can be taken into other memory, read and reported, where a
 * receive posted before would be left with MPI's word for "too long".
 */
#include "comm/comm_impl.h"

weft_status weft__recv_bytes(weft_comm *comm, const weft__operation *op, void *to, int bytes)
{
    MPI_Request request;
    WEFT__TRY_MPI(
        comm, op,
        MPI_Irecv(to, bytes, MPI_BYTE, op->route.peer, weft__tag(op), comm->mpi, &request));
    return weft__wait_request(comm, op, &request);
}

weft_status weft__recv_pieces(weft_comm *comm, const weft__operation *op, int n,
                              const weft_tensor *const *x)
{
    const int64_t most = comm->chunk_bytes;

    for (int i = 0; i < n; i++) {
        const int64_t whole = weft_tensor_bytes(x[i]);
        char         *data = x[i]->data;
        for (int64_t at = 0; at < whole; at += most)
            WEFT_TRY(weft__recv_bytes(comm, op, data + at,
                                      (int)(whole - at < most ? whole - at : most)));
    }
    return WEFT_OK;
}

static weft_status drop_into(weft_comm *comm, const weft__operation *op, const weft__header *header,
                             void *scratch)
{
    const int64_t most = comm->chunk_bytes;

    for (int i = 0; i < header->n; i++) {
        const weft_tensor its = weft__header_tensor(header, i, NULL);
        for (int64_t left = weft_tensor_bytes(&its); left > 0; left -= most)
            WEFT_TRY(weft__recv_bytes(comm, op, scratch, (int)(left < most ? left : most)));
    }
    return WEFT_OK;
}

weft_status weft__drop_pieces(weft_comm *comm, const weft__operation *op,
                              const weft__header *header)
{
    const int64_t most = comm->chunk_bytes, all = header->data_bytes;
    if (weft__is_short(comm, all))
        return WEFT_OK;

    void *scratch = weft_alloc(all < most ? all : most);
    if (scratch == NULL)
        return weft_error_status();
    const weft_status done = drop_into(comm, op, header, scratch);
    if (done == WEFT_OK) /* else MPI may still write there */
        weft_free(scratch);
    return done;
}

static weft_status check_header(weft_comm *comm, const weft__operation *op,
                                const weft__header *header, int64_t message_bytes, int n,
                                const weft_tensor *const *x)
{
    WEFT_TRY(weft__header_check(comm, op, header, message_bytes));
    weft_status refused = weft__header_meets(header, op);
    if (refused == WEFT_OK)
        refused = weft__header_fits(header, op, n, x);
    if (refused != WEFT_OK)
        WEFT_TRY(weft__drop_pieces(comm, op, header));
    return refused;
}

/* A message of another size than these tensors': take it and say what it is. */
static weft_status refuse(weft_comm *comm, const weft__operation *op, int bytes, int n,
                          const weft_tensor *const *x)
{
    const int64_t room = bytes < (int)sizeof(weft__header) ? (int)sizeof(weft__header) : bytes;
    weft__header *header = weft_alloc(room);
    if (header == NULL)
        return weft_error_status();

    weft_status done = weft__recv_bytes(comm, op, header, bytes);
    if (done == WEFT_E_TIMEOUT || done == WEFT_E_COMM)
        return done; /* MPI may still write there */
    done = check_header(comm, op, header, bytes, n, x);
    weft_free(header);
    return done;
}

static weft_status recv_first(weft_comm *comm, weft_request *m)
{
    const weft__operation *op = &m->op;
    WEFT__TRY_MPI(comm, op,
                  MPI_Irecv(MPI_BOTTOM, 1, m->type, op->route.peer, weft__tag(op), comm->mpi,
                            &m->pending[0]));
    return weft__wait_request(comm, op, &m->pending[0]);
}

static weft_status recv_into(weft_comm *comm, weft_request *m, const weft_tensor *const *x)
{
    const weft__operation *op = &m->op;
    int                    bytes;

    WEFT_TRY(weft__wait_message(comm, op, &bytes));
    if (bytes != m->first_bytes)
        return refuse(comm, op, bytes, m->n, x);
    WEFT_TRY(recv_first(comm, m));
    WEFT_TRY(check_header(comm, op, &m->header, bytes, m->n, x));
    return m->messages > 1 ? weft__recv_pieces(comm, op, m->n, x) : WEFT_OK;
}

weft_status weft__recv(weft_comm *comm, const weft__operation *op, int n,
                       const weft_tensor *const *x)
{
    weft_request *m = weft__request_take(comm, op, n, x);
    if (m == NULL)
        return weft_error_status();

    m->incoming = true;
    const weft_status done = recv_into(comm, m, x);
    if (comm->broken.at[0] == '\0')
        weft__request_give(m);
    return done;
}

weft_status weft_comm_recv(weft_comm *comm, const weft_route *route, int n, weft_tensor *const *x)
{
    const weft_tensor *part[WEFT_MAX_PARTS] = { NULL };
    for (int i = 0; x != NULL && i < n && i < WEFT_MAX_PARTS; i++)
        part[i] = x[i];

    weft__operation op;
    WEFT_TRY(weft__message(&op, comm, WEFT__RECV, route));
    WEFT_TRY(weft__message_parts(&op, n, x != NULL ? part : NULL));
    WEFT_TRY(weft__begin(comm, &op));
    WEFT_TRY(weft__recv(comm, &op, n, part));
    comm->traffic.messages_received++;
    comm->traffic.bytes_received += op.bytes;
    return WEFT_OK;
}
