/* allreduce.c -- x <- sum, mean or maximum of x over ranks, of any length. */
#include "weft/comm.h"

#ifdef REAL /* ---- kernels: compiled once per real type, see each_real.h ---- */

static void K(divide)(int64_t n, int by, void *data)
{
    REAL *x = data;
    EACH_CHUNK (n, begin, end)
        for (int64_t i = begin; i < end; i++)
            x[i] /= (REAL)by;
}

#else /* ---- the collective ---- */

#include "comm/comm_impl.h"

#define SELF "comm/allreduce.c"
#include "tensor/each_real.h"

static MPI_Datatype mpi_type(weft_dtype dtype)
{
    switch (dtype) {
    case WEFT_F32:
        return MPI_FLOAT;
    case WEFT_F64:
        return MPI_DOUBLE;
    case WEFT_I32:
        return MPI_INT32_T;
    case WEFT_I64:
        return MPI_INT64_T;
    default:
        return MPI_UINT8_T;
    }
}

static weft_status reduce(weft_comm *comm, const weft__operation *op, weft_tensor *x, MPI_Op mpi_op)
{
    const int64_t width = weft_dtype_bytes(x->dtype);
    const int64_t chunk = comm->chunk_bytes < width ? 1 : comm->chunk_bytes / width;
    char         *at = x->data;
    MPI_Request   request;

    for (int64_t left = x->count, n; left > 0; left -= n, at += n * width) {
        n = left < chunk ? left : chunk;
        WEFT__TRY_MPI(comm, op,
                      MPI_Iallreduce(MPI_IN_PLACE, at, (int)n, mpi_type(x->dtype), mpi_op,
                                     comm->mpi, &request));
        WEFT_TRY(weft__wait_request(comm, op, &request));
    }
    return WEFT_OK;
}

static weft_status check_reduction(const weft__operation *op, weft_reduction how)
{
    if ((int)how < WEFT_REDUCE_SUM || how > WEFT_REDUCE_MAX)
        return WEFT_FAIL(WEFT_E_ARG, "%s: there is no reduction %d", weft__operation_text(op).at,
                         (int)how);
    if (how == WEFT_REDUCE_MEAN && !weft_dtype_is_real(op->dtype))
        return WEFT_FAIL(WEFT_E_DTYPE, "%s: a mean of whole numbers", weft__operation_text(op).at);
    return WEFT_OK;
}

weft_status weft_comm_allreduce(weft_comm *comm, weft_tensor *x, weft_reduction how,
                                const char *label)
{
    weft__operation op = weft__collective(WEFT__ALLREDUCE, x, label);

    WEFT_TRY(weft__check_comm(comm, &op));
    WEFT_TRY(weft__check_tensor(&op, x));
    WEFT_TRY(check_reduction(&op, how));
    op.bytes = weft_tensor_bytes(x);
    WEFT_TRY(weft__begin(comm, &op));
    WEFT_TRY(reduce(comm, &op, x, how == WEFT_REDUCE_MAX ? MPI_MAX : MPI_SUM));
    if (how == WEFT_REDUCE_MEAN)
        BY_REAL(x->dtype, divide, x->count, comm->size, x->data);
    return WEFT_OK;
}

#endif
