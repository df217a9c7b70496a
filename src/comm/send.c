/* send.c -- tensors to another rank, as one message, without waiting. */
#include "comm/comm_impl.h"

/* A long message's tensors, in the order of weft__recv_pieces(). */
static weft_status post_pieces(weft_comm *comm, weft_request *m)
{
    const weft__operation *op = &m->op;
    const int64_t          most = comm->chunk_bytes;
    int                    k = 1;

    for (int i = 0; i < m->n; i++) {
        char *data = m->data[i];
        for (int64_t at = 0; at < m->bytes[i]; at += most, k++) {
            const int64_t bytes = m->bytes[i] - at < most ? m->bytes[i] - at : most;
            WEFT__TRY_MPI(comm, op,
                          MPI_Isend(data + at, (int)bytes, MPI_BYTE, op->route.peer, weft__tag(op),
                                    comm->mpi, &m->pending[k]));
        }
    }
    return WEFT_OK;
}

static weft_status post(weft_comm *comm, weft_request *m)
{
    const weft__operation *op = &m->op;
    WEFT__TRY_MPI(comm, op,
                  MPI_Isend(MPI_BOTTOM, 1, m->type, op->route.peer, weft__tag(op), comm->mpi,
                            &m->pending[0]));
    return m->messages > 1 ? post_pieces(comm, m) : WEFT_OK;
}

weft_request *weft__send_start(weft_comm *comm, const weft__operation *op, int n,
                               const weft_tensor *const *x)
{
    weft_request *m = weft__request_take(comm, op, n, x);
    return m != NULL && post(comm, m) == WEFT_OK ? m : NULL;
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
