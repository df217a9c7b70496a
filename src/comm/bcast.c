/* bcast.c -- one rank's tensor to all, of any length. */
#include "comm/comm_impl.h"

static weft_status spread(weft_comm *comm, const weft__operation *op, weft_tensor *x, int root)
{
    char       *at = x->data;
    MPI_Request request;

    for (int64_t left = weft_tensor_bytes(x), n; left > 0; left -= n, at += n) {
        n = left < comm->chunk_bytes ? left : comm->chunk_bytes;
        WEFT__TRY_MPI(comm, op, MPI_Ibcast(at, (int)n, MPI_BYTE, root, comm->mpi, &request));
        WEFT_TRY(weft__wait_request(comm, op, &request));
    }
    return WEFT_OK;
}

weft_status weft_comm_bcast(weft_comm *comm, weft_tensor *x, int root, const char *label)
{
    weft__operation op = weft__collective(WEFT__BCAST, x, label);

    WEFT_TRY(weft__check_comm(comm, &op));
    WEFT_TRY(weft__check_tensor(&op, x));
    WEFT_TRY(weft__check_root(comm, &op, root));
    op.bytes = comm->rank == root ? weft_tensor_bytes(x) : 0;
    WEFT_TRY(weft__begin(comm, &op));
    return spread(comm, &op, x, root);
}
