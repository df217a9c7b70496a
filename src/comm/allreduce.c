/* allreduce.c -- x <- sum, mean or maximum of x over ranks.
 *
 * Short tensors go up a binomial tree to rank 0 and down again. Long ones go round a
 * ring in P segments: in P - 1 steps each rank gets the sum of one segment, in
 * as many more all get all, and each rank sends 2 (P - 1) / P times the tensor, the
 * least there is. P. Patarasuk, X. Yuan, J. Parallel Distrib. Comput. 69 (2009) 117.
 *
 * Either way each element is summed in one place, in an order that depends on P and
 * the length alone, and copied from there: the same bits on every rank and in
 * every run.
 */
#include "comm/comm_impl.h"

#ifdef REAL /* ---- kernels: compiled once per real type, see each_real.h ---- */

static void K(divide)(int64_t n, int by, void *data)
{
    REAL *x = data;
    EACH_CHUNK (n, begin, end)
        for (int64_t i = begin; i < end; i++)
            x[i] /= (REAL)by;
}

#else /* ---- the collective ---- */

#define SELF "comm/allreduce.c"
#include "tensor/each_real.h"

enum { SHORT_BYTES = 1 << 16 }; /* the most that go by the tree */

/* What all steps of one allreduce share. */
typedef struct reduction {
    weft_comm      *comm;
    weft__operation op;
    weft_tensor     x;
    MPI_Op          mpi;
    char           *scratch; /* for what a neighbour sends */
} reduction;

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

/* ---- pieces of x ---- */

/* Elements begin .. end - 1. */
static weft_tensor piece(const reduction *r, int64_t begin, int64_t end)
{
    const int64_t n = end - begin;
    return weft_tensor_wrap(r->x.dtype, 1, &n,
                            (char *)r->x.data + begin * weft_dtype_bytes(r->x.dtype));
}

/* Segment k of P, counted round. */
static weft_tensor segment(const reduction *r, int k)
{
    const int64_t size = r->comm->size, at = (k % size + size) % size;
    const int64_t each = r->x.count / size, more = r->x.count % size;
    const int64_t begin = at * each + (at < more ? at : more);
    return piece(r, begin, begin + each + (at < more));
}

static weft_status send_to(reduction *r, int peer, const weft_tensor *x, weft_request **sent)
{
    r->op.route.peer = peer;
    WEFT_TRY_NEW(*sent = weft__send_start(r->comm, &r->op, 1, &x));
    return WEFT_OK;
}

static weft_status recv_from(reduction *r, int peer, const weft_tensor *x)
{
    r->op.route.peer = peer;
    return weft__recv(r->comm, &r->op, 1, &x);
}

/* x <- x + what the peer sends. */
static weft_status add_from(reduction *r, int peer, const weft_tensor *x)
{
    weft_tensor   theirs = *x;
    const int64_t width = weft_dtype_bytes(x->dtype), most = INT32_MAX;

    theirs.data = r->scratch;
    WEFT_TRY(recv_from(r, peer, &theirs));
    for (int64_t i = 0; i < x->count; i += most)
        WEFT__TRY_MPI(r->comm, &r->op,
                      MPI_Reduce_local(r->scratch + i * width, (char *)x->data + i * width,
                                       (int)(x->count - i < most ? x->count - i : most),
                                       mpi_type(x->dtype), r->mpi));
    return WEFT_OK;
}

/* ---- the two ways ---- */

static weft_status by_tree(reduction *r)
{
    const int     rank = r->comm->rank;
    weft_request *sent;
    int           bit = 1;

    for (; bit < r->comm->size && (rank & bit) == 0; bit *= 2)
        if (rank + bit < r->comm->size)
            WEFT_TRY(add_from(r, rank + bit, &r->x));
    if (rank != 0) {
        WEFT_TRY(send_to(r, rank - bit, &r->x, &sent));
        WEFT_TRY(weft__send_wait(r->comm, sent));
    }
    return weft__spread(r->comm, &r->op, &r->x, 0);
}

static weft_status by_ring(reduction *r)
{
    const int     rank = r->comm->rank, size = r->comm->size;
    const int     next = (rank + 1) % size, last = (rank + size - 1) % size;
    weft_request *sent;

    for (int step = 0; step < 2 * (size - 1); step++) {
        const weft_tensor away = segment(r, rank - step), here = segment(r, rank - step - 1);
        WEFT_TRY(send_to(r, next, &away, &sent));
        WEFT_TRY(step < size - 1 ? add_from(r, last, &here) : recv_from(r, last, &here));
        WEFT_TRY(weft__send_wait(r->comm, sent));
    }
    return WEFT_OK;
}

static weft_status reduce(reduction *r)
{
    const bool        tree = weft_tensor_bytes(&r->x) <= SHORT_BYTES;
    const weft_tensor first = segment(r, 0); /* the longest */

    if (r->comm->size == 1 || r->x.count == 0)
        return WEFT_OK;
    WEFT_TRY_NEW(r->scratch = weft__scratch(r->comm, weft_tensor_bytes(tree ? &r->x : &first)));
    return tree ? by_tree(r) : by_ring(r);
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
    op.how = (int)how;
    op.bytes = weft_tensor_bytes(x);
    WEFT_TRY(weft__begin(comm, &op));

    reduction r = { .comm = comm, .op = op, .x = *x };
    r.mpi = how == WEFT_REDUCE_MAX ? MPI_MAX : MPI_SUM;
    WEFT_TRY(weft__in_step(comm, &r.op, reduce(&r)));
    if (how == WEFT_REDUCE_MEAN)
        BY_REAL(x->dtype, divide, x->count, comm->size, x->data);
    return WEFT_OK;
}

#endif
