/** @file comm.h -- ranks: messages and collectives with names, counts and deadlines.
 *
 * All of Weft's traffic goes through here. Each operation has a sequence number,
 * a label, a signature (kind, dtype, count, peer) and a deadline. A wait past it
 * returns WEFT_E_TIMEOUT with these in its message, and the communicator is then
 * **broken**: every later call on it returns WEFT_E_STATE, and the job should end.
 * So it is after WEFT_E_COMM, and after a collective that ranks called differently.
 * Waiting means testing, then yielding the core, then sleeping shortly, since
 * ranks may outnumber cores.
 *
 * Counts are 64-bit; long messages are cut into chunks inside.
 *
 * Needs MPI 3 and MPI_THREAD_SINGLE. The library never initialises MPI, never
 * ends it or the job. Not thread-safe: one thread at a time per communicator.
 */
#ifndef WEFT_COMM_H
#define WEFT_COMM_H

#include "weft/tensor.h"

/* MPI's C++ bindings would need a C++ compiler to link. */
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>

WEFT_BEGIN

/** A group of ranks, with a duplicate of the caller's MPI communicator, so its
 * messages never meet the caller's. */
typedef struct weft_comm weft_comm;

typedef struct weft_comm_options {
    double  deadline;    /**< seconds that one wait may take; 0: $WEFT_DEADLINE, else 300 */
    int64_t chunk_bytes; /**< the most of a tensor in one MPI message, up to 2^30; 0: 2^30 */
} weft_comm_options;

/** Make one over the ranks of @p mpi. **Collective** over @p mpi. @p options are
 * the same on every rank; NULL: defaults. Owned.
 * @return NULL: WEFT_E_ARG for an option or a $WEFT_DEADLINE that is not a positive
 *         number; WEFT_E_STATE before MPI_Init() or after MPI_Finalize();
 *         WEFT_E_NOMEM, WEFT_E_COMM. */
WEFT_API weft_comm *weft_comm_create(MPI_Comm mpi, const weft_comm_options *options);

/** The ranks that give the same @p color, ordered by @p key, then by rank; a
 * negative color: none, and the maker returns NULL without a failure (look at
 * weft_error_status()). Keeps the options. **Collective.** Owned.
 * @return NULL: WEFT_E_STATE if @p comm is broken; WEFT_E_TIMEOUT, WEFT_E_COMM,
 *         WEFT_E_NOMEM. */
WEFT_API weft_comm *weft_comm_split(weft_comm *comm, int color, int key);

/** Free it. **Collective**, but for a broken one. NULL is allowed. */
WEFT_API void weft_comm_destroy(weft_comm *comm);

WEFT_API int    weft_comm_rank(const weft_comm *comm);     /**< 0 .. size - 1 */
WEFT_API int    weft_comm_size(const weft_comm *comm);     /**< 1 or more */
WEFT_API double weft_comm_deadline(const weft_comm *comm); /**< seconds */

/** Let one wait take @p seconds from now on, on this rank. A number that is not finite
 * or not above 0 changes nothing. */
WEFT_API void weft_comm_deadline_set(weft_comm *comm, double seconds);

/** What has gone through it since it was made, on this rank. */
typedef struct weft_traffic {
    int64_t operations;    /**< sends, receives and collectives: the last sequence number */
    int64_t messages_sent; /**< point to point; one however many tensors it carries */
    int64_t bytes_sent;    /**< elements in them, headers not counted */
    int64_t messages_received;
    int64_t bytes_received;
    int64_t collectives;
    int64_t collective_bytes; /**< this rank's contributions to them */
    double  seconds_waited;
} weft_traffic;

/** The counts at this moment: take the difference of two to count a step. */
WEFT_API weft_traffic weft_comm_traffic(const weft_comm *comm);

/* ---- point to point ------------------------------------------------------- */

/** The most tensors in one message. */
enum { WEFT_MAX_PARTS = 16 };

/** Where a message goes or comes from, and which it is. A message is matched by
 * (peer, edge, backward), never by arrival among edges; micro_batch and mode are
 * checked. */
typedef struct weft_route {
    int         peer;        /**< a rank of the communicator, not one's own */
    int         edge;        /**< 0 .. WEFT_MAX_EDGE */
    int         micro_batch; /**< 0 .. */
    bool        backward;    /**< a gradient's way back over the edge */
    int         mode;        /**< a weft_mode: both ends must be in the same */
    const char *label;       /**< "loss to l3": what failures call it; borrowed for good */
} weft_route;

enum { WEFT_MAX_EDGE = 16000 };

/** A send in flight. */
typedef struct weft_request weft_request;

/** Start sending tensors as one message; never waits, whatever their size. They
 * are borrowed until weft_comm_wait() on the request. Any dtypes and shapes.
 * Up to a MiB travels as one MPI message, more as a header and its pieces.
 * The request is owned: waiting for it ends it. Allocates nothing in a steady
 * step.
 * @return NULL: WEFT_E_ARG for a peer that is no other rank, an edge or number of
 *         tensors out of range. */
WEFT_API weft_request *weft_comm_send_start(weft_comm *comm, const weft_route *route, int n,
                                            const weft_tensor *const *x);

/** Wait until the sent tensors may be changed; ends the request.
 * @return WEFT_E_TIMEOUT or WEFT_E_COMM: MPI may still read the tensors then;
 *         WEFT_E_STATE for a request that was waited for before. */
WEFT_API weft_status weft_comm_wait(weft_comm *comm, weft_request *request);

/** Start and wait. @return as those two. */
WEFT_API weft_status weft_comm_send(weft_comm *comm, const weft_route *route, int n,
                                    const weft_tensor *const *x);

/** Receive into tensors of the number, shapes and dtypes that the peer sends.
 * @return WEFT_E_SHAPE, WEFT_E_DTYPE, WEFT_E_STATE (another mode or micro-batch),
 *         naming both sides; the message is then consumed, and what the tensors
 *         hold is of no use. */
WEFT_API weft_status weft_comm_recv(weft_comm *comm, const weft_route *route, int n,
                                    weft_tensor *const *x);

/** Receive what comes: 1 .. WEFT_MAX_PARTS tensors over one block of memory from
 * @p take(context, bytes), whose owner keeps it. @p n and @p x (WEFT_MAX_PARTS of
 * them) are filled.
 * @return as weft_comm_recv(); what @p take failed with, if it gave NULL. */
WEFT_API weft_status weft_comm_recv_any(weft_comm *comm, const weft_route                 *route,
                                        void *(*take)(void *context, int64_t bytes), void *context,
                                        int *n, weft_tensor *x);

/* ---- collectives ------------------------------------------------------------
 *
 * **Collective**, all: every rank calls the same one, with equal shapes and
 * dtypes where nothing else is said, in the same order and under the same label:
 * else WEFT_E_STATE, naming both. @p label is borrowed for good: a literal. Any dtype
 * but where said.
 *
 * All return WEFT_E_ARG or WEFT_E_DTYPE for an argument that is wrong here: this rank
 * then takes no part, and the others wait for it until their deadline. WEFT_E_SHAPE,
 * WEFT_E_DTYPE or WEFT_E_STATE, naming both sides, where a neighbour's call is another.
 * WEFT_E_STATE on a broken communicator; WEFT_E_TIMEOUT, WEFT_E_COMM, WEFT_E_NOMEM.
 * A failure under way breaks the communicator, but where said.
 */

typedef enum weft_reduction { WEFT_REDUCE_SUM, WEFT_REDUCE_MEAN, WEFT_REDUCE_MAX } weft_reduction;

/** x <- the sum, mean (f32 and f64 only; sum, then one division) or maximum over
 * ranks; the same bits on every rank. A maximum of which one side is not a number may
 * be either. @return as above. */
WEFT_API weft_status weft_comm_allreduce(weft_comm *comm, weft_tensor *x, weft_reduction how,
                                         const char *label);

/** x on every rank <- x of rank @p root. @return as above; WEFT_E_ARG for a root that
 * is no rank. */
WEFT_API weft_status weft_comm_bcast(weft_comm *comm, weft_tensor *x, int root, const char *label);

/** all[k] on @p root <- x of rank k; elsewhere @p all is NULL. Shapes may differ
 * between ranks, as long as root's all[k] fits.
 * @return on the root WEFT_E_SHAPE or WEFT_E_DTYPE, naming both sides, for an all[k]
 *         that does not: the others are received, and the communicator stays whole.
 *         WEFT_E_ARG for a root that is no rank. Else as above. */
WEFT_API weft_status weft_comm_gather(weft_comm *comm, const weft_tensor *x,
                                      weft_tensor *const *all, int root, const char *label);

/** x on rank k <- all[k] of @p root; elsewhere @p all is NULL. Shapes and what is
 * returned as in weft_comm_gather(), on the rank whose x does not fit. */
WEFT_API weft_status weft_comm_scatter(weft_comm *comm, const weft_tensor *const *all,
                                       weft_tensor *x, int root, const char *label);

/** all[k] on every rank <- x of rank k. Shapes and what is returned as in
 * weft_comm_gather(), on each rank for its own all[k]. */
WEFT_API weft_status weft_comm_allgather(weft_comm *comm, const weft_tensor *x,
                                         weft_tensor *const *all, const char *label);

/** to[k] here <- from[r] of rank k, r being the rank here. Shapes may differ, as
 * long as both ends agree. @return as weft_comm_gather(), on each rank for its own
 * to[k]. */
WEFT_API weft_status weft_comm_alltoall(weft_comm *comm, const weft_tensor *const *from,
                                        weft_tensor *const *to, const char *label);

/** Wait until every rank has come here. @return as above. */
WEFT_API weft_status weft_comm_barrier(weft_comm *comm, const char *label);

/** Make ranks agree that a step succeeded everywhere: call it after a step that
 * one rank alone can fail, such as opening a file, before the next message.
 * @return WEFT_OK if every rank passed WEFT_OK; @p mine where that is a failure;
 *         WEFT_E_PEER elsewhere, with the number and message of the lowest rank
 *         that failed. */
WEFT_API weft_status weft_comm_agree(weft_comm *comm, weft_status mine, const char *label);

/** "Open MPI v4.1.4": MPI's own words, one line; borrowed until this thread's next
 * call. */
WEFT_API const char *weft_mpi_version(void);

WEFT_END

#endif
