/* comm_impl.h -- what the files of comm share: operations, messages, waits. */
#ifndef WEFT__COMM_IMPL_H
#define WEFT__COMM_IMPL_H

#include "weft/comm.h"

/* ---- operations: what this rank does, in words and numbers ----------------- */

#define WEFT__KIND_LIST(X)                                                                         \
    X(CREATE, "create of a communicator")                                                          \
    X(SEND, "send")                                                                                \
    X(RECV, "recv")                                                                                \
    X(SPLIT, "split")                                                                              \
    X(ALLREDUCE, "allreduce")                                                                      \
    X(BCAST, "bcast")                                                                              \
    X(GATHER, "gather")                                                                            \
    X(SCATTER, "scatter")                                                                          \
    X(ALLGATHER, "allgather")                                                                      \
    X(ALLTOALL, "alltoall")                                                                        \
    X(BARRIER, "barrier")                                                                          \
    X(AGREE, "agree")

typedef enum weft__kind {
#define X(name, text) WEFT__##name,
    WEFT__KIND_LIST(X)
#undef X
        WEFT__KINDS
} weft__kind;

/* Of a collective, route has a label, and the peer while one is waited for; else
 * the peer is WEFT__NOBODY. dtype is the first tensor's. */
typedef struct weft__operation {
    weft__kind kind;
    weft_route route;
    weft_dtype dtype;
    int64_t    count, bytes; /* elements and their bytes, of all tensors */
    int64_t    number;       /* 1, 2, ... on its communicator */
    int64_t    collective;   /* 1, 2, ... of its collectives; 0: a message */
    int        how, root;    /* a weft_reduction, a rank; 0 where there is none */
    double     since;
} weft__operation;

enum { WEFT__NOBODY = -1 };

/* One line. */
typedef struct weft__text {
    char at[256];
} weft__text;

/* "recv of edge 3 'l1 to l2' from rank 1, micro-batch 0". */
weft__text weft__operation_text(const weft__operation *op);

const char *weft__kind_text(int kind); /* "allreduce"; never NULL */

/* A collective of this tensor, which may be NULL, and all that it needs to begin. */
weft__operation weft__collective(weft__kind kind, const weft_tensor *x, const char *label);

/* A message over this route, which is checked, and then of these tensors. */
weft_status weft__message(weft__operation *op, const weft_comm *comm, weft__kind kind,
                          const weft_route *route);
weft_status weft__message_parts(weft__operation *op, int n, const weft_tensor *const *x);

/* Give the operation its number and count it; every public call passes here once.
 * WEFT_E_STATE on a broken communicator. */
weft_status weft__begin(weft_comm *comm, weft__operation *op);

/* What a call was handed: a communicator, a rank of it, a tensor that can be sent or
 * received into. */
weft_status weft__check_tensor(const weft__operation *op, const weft_tensor *x);
weft_status weft__check_comm(const weft_comm *comm, const weft__operation *op);
weft_status weft__check_root(const weft_comm *comm, const weft__operation *op, int root);

/* ---- messages: a header and the elements of some tensors ------------------- */

/* Edges use tags from 0, one each way. MPI promises 32767. */
enum { WEFT__TAG_COLLECTIVE = 2 * (WEFT_MAX_EDGE + 1) };

enum {
    WEFT__MAGIC = 0x57656674, /* another order of bytes does not read as this */
    WEFT__WIRE_VERSION = 2,
    WEFT__SHORT = 1 << 20, /* bytes; measured, in one node: a type is faster up to here */
    WEFT__LABEL = 44
};

typedef struct weft__part {
    int32_t dtype, ndim;
    int64_t shape[WEFT_MAX_AXES];
} weft__part;

/* In front of the data; of part only as many are sent as there are.
 *
 * A short message is one MPI message: the header and, each at a multiple of
 * WEFT_ALIGNMENT, the tensors. A long one is the header alone, then each tensor by
 * itself in pieces of up to chunk_bytes: MPI moves plain memory fastest, without
 * a copy where it can, and without the sender's help. */
typedef struct weft__header {
    uint32_t   magic, version;
    int32_t    kind, edge, micro_batch, backward, mode, n;
    int64_t    number, count; /* of the sender's operation */
    int64_t    data_bytes;    /* behind the header, with padding between tensors */
    int64_t    chunk_bytes;   /* the sender's */
    int64_t    collective;    /* of the sender's operation too, as the next three */
    int32_t    how, root;
    int32_t    dtype;
    char       label[WEFT__LABEL];
    weft__part part[WEFT_MAX_PARTS];
} weft__header;

/* With all its parts it is sent as it lies: no byte behind it is. */
_Static_assert(sizeof(weft__header) % WEFT_ALIGNMENT == 0, "a header ends where data may begin");

int64_t weft__aligned(int64_t bytes);                         /* rounded up */
int64_t weft__header_bytes(int n);                            /* sent, for n tensors */
int64_t weft__data_bytes(int n, const weft_tensor *const *x); /* with padding */

void weft__header_fill(weft__header *header, const weft_comm *comm, const weft__operation *op,
                       int n, const weft_tensor *const *x);

/* A header came, in a message of that many bytes, and makes sense: WEFT_E_COMM. */
weft_status weft__header_check(weft_comm *comm, const weft__operation *op,
                               const weft__header *header, int64_t message_bytes);

/* It comes from the operation that meets op. WEFT_E_STATE, naming both sides. */
weft_status weft__header_meets(const weft__header *header, const weft__operation *op);

/* Its tensors are like these. WEFT_E_SHAPE, WEFT_E_DTYPE, naming both sides. */
weft_status weft__header_fits(const weft__header *header, const weft__operation *op, int n,
                              const weft_tensor *const *x);

weft_tensor weft__header_tensor(const weft__header *header, int index, void *data);

/* Whether so much data travels with the header. */
bool weft__is_short(const weft_comm *comm, int64_t data_bytes);

/* A message in memory: its header and where its tensors lie. */
struct weft_request {
    weft_request   *next; /* on the same shelf */
    bool            in_use, incoming;
    weft__operation op; /* that uses it, or did last */
    int             n;
    void           *data[WEFT_MAX_PARTS];
    int64_t         bytes[WEFT_MAX_PARTS];
    int64_t         first_bytes;    /* of the first MPI message */
    MPI_Datatype    type;           /* of the first MPI message, with absolute addresses */
    int             messages, room; /* MPI messages; how many there is room for */
    MPI_Request    *pending;
    weft__header    header;
    char            padding[WEFT_MAX_PARTS][WEFT_ALIGNMENT]; /* between tensors */
};

/* One over these tensors, header filled: the one used before, if their addresses
 * and sizes are the same and it is idle. Borrowed until given back. */
weft_request *weft__request_take(weft_comm *comm, const weft__operation *op, int n,
                                 const weft_tensor *const *x);
void          weft__request_give(weft_request *message);

/* Free all but those that MPI still works on. */
void weft__requests_end(weft_comm *comm);

/* send and recv without counting, shared with the collectives made of them. */
weft_request *weft__send_start(weft_comm *comm, const weft__operation *op, int n,
                               const weft_tensor *const *x);
weft_status   weft__send_wait(weft_comm *comm, weft_request *message);
weft_status   weft__recv(weft_comm *comm, const weft__operation *op, int n,
                         const weft_tensor *const *x);

int weft__tag(const weft__operation *op);

/* The next MPI message into plain memory, which must stay if that fails. */
weft_status weft__recv_bytes(weft_comm *comm, const weft__operation *op, void *to, int bytes);

/* What follows the header of a long message: the tensors, piece by piece. */
weft_status weft__recv_pieces(weft_comm *comm, const weft__operation *op, int n,
                              const weft_tensor *const *x);

/* Take the pieces of a message that is refused, if it is long, so that the next one
 * can be received. The failure that it is refused with stays. */
weft_status weft__drop_pieces(weft_comm *comm, const weft__operation *op,
                              const weft__header *header);

/* ---- pieces of collectives --------------------------------------------------- */

/* How a collective ended: one that stopped half-way has left other ranks waiting
 * and messages under way, so comm is broken. @return @p ended. */
weft_status weft__in_step(weft_comm *comm, const weft__operation *op, weft_status ended);

/* All ranks wait for each other. */
weft_status weft__meet(weft_comm *comm, weft__operation *op);

/* x of the root to all. */
weft_status weft__spread(weft_comm *comm, weft__operation *op, const weft_tensor *x, int root);

/* Memory kept for the next call; NULL: WEFT_E_NOMEM. */
char *weft__scratch(weft_comm *comm, int64_t bytes);

/* ---- waits ----------------------------------------------------------------- */

/* Until the request is done. WEFT_E_TIMEOUT, WEFT_E_COMM: then comm is broken. */
weft_status weft__wait_request(weft_comm *comm, const weft__operation *op, MPI_Request *request);

/* Until the message that meets op is there; the bytes of its first MPI message. */
weft_status weft__wait_message(weft_comm *comm, const weft__operation *op, int *bytes);

/* ---- the communicator ------------------------------------------------------- */

enum { WEFT__SHELVES = 64, WEFT__KEPT_REQUESTS = 256 };

/* How a step ended on one rank, as others hear of it. */
typedef struct weft__report {
    int32_t status, rank;
    char    text[504]; /* the failure's message */
} weft__report;

struct weft_comm {
    MPI_Comm     mpi; /* our own; errors are returned, not fatal */
    int          rank, size;
    double       deadline;
    int64_t      chunk_bytes;
    weft__text   broken; /* by what; empty while all is well */
    weft_traffic traffic;
    double       quickest_poll; /* in seconds of the processor; 0: none yet */

    weft_request *shelf[WEFT__SHELVES]; /* requests by a hash of their addresses */
    int           requests;             /* on all shelves */

    /* What MPI may still write to after a deadline has passed; the struct of a
     * broken communicator and its scratch are never freed for this reason. */
    weft__header first;
    weft__report told, heard;
    char        *scratch;
    int64_t      scratch_bytes;

    /* For collectives made of messages, one of each for every rank. */
    const weft_tensor **give;
    const weft_tensor **get;
    weft_request      **sent;
};

/* Seconds from options or environment. */
weft_status weft__deadline_choose(double wanted, double *deadline);

/* Record what MPI said; comm is broken from now on. @return WEFT_E_COMM. */
weft_status weft__mpi_failed(weft_comm *comm, const weft__operation *op, int code,
                             const char *where, const char *call);

/* Do this MPI call or return WEFT_E_COMM with MPI's own words. */
#define WEFT__TRY_MPI(comm, op, call)                                                              \
    do {                                                                                           \
        const int try_code_ = (call);                                                              \
        if (try_code_ != MPI_SUCCESS)                                                              \
            return weft__mpi_failed((comm), (op), try_code_, WEFT_HERE, #call);                    \
    } while (0)

#endif
