/** @file parallel.h -- computations that cross ranks: send and receive as operators,
 * pseudo_connect, chain lists.
 *
 * A message is the identity function with its ends on two ranks: where forward
 * sends, backward receives, and the other way round. Tapes play in strict
 * reverse, so when the forward messages of all ranks meet, the backward ones do.
 */
#ifndef WEFT_PARALLEL_H
#define WEFT_PARALLEL_H

#include "weft/comm.h"
#include "weft/optim.h"

#include <stdio.h>
#ifdef __cplusplus
#include <initializer_list>
#endif

WEFT_BEGIN

/* ---- by hand ------------------------------------------------------------------
 *
 * The k-th message that a step sends from rank a to b meets the k-th that b
 * receives from a, on tapes cleared at the same places; a gradient returns to
 * the very message that it belongs to, whatever the depths of the graphs.
 * Shapes and dtypes travel with the data. Gradients come back for all real
 * parts of a message, zeros where nothing used them; for others none does.
 * Tapes are cleared before the communicator ends.
 */

/** Send x.at[0 .. n - 1] to rank @p to as one message; never waits.
 * @return a **delegate**: a variable with no element (f32, shape (0)) that stands
 *         for what the peer does with x: weft_backward() from it plays this tape.
 *         NULL: WEFT_E_ARG for one's own rank or none of the communicator. */
WEFT_API weft_var *weft_send(weft_comm *comm, weft_vars x, int to);

/** Receive what rank @p from sends. @p delegate, which may be NULL, is a variable
 * that this receive comes after, for programs written in that manner: the tape
 * has its order without. @p tape may be NULL if there is a delegate, and is then
 * the delegate's.
 * @return as many variables as were sent; on a failure one that is NULL. */
WEFT_API weft_vars weft_recv(weft_comm *comm, weft_tape *tape, int from, weft_var *delegate);

/** x itself, with an edge from @p delegate (NULL: none): values and dtypes
 * unchanged and not copied, gradients passed through, zeros to the delegate, and
 * everything behind it takes part in backward. */
WEFT_API weft_vars weft_pseudo_connect(weft_var *delegate, weft_vars x);

/* ---- replicas ------------------------------------------------------------------
 *
 * Every rank holds the whole model and learns from its own share of the data.
 */

/** From now on each step of @p optim takes the mean over ranks of the gradients, so
 * that all ranks make the same step: one line makes a program data parallel. A hook,
 * before those added later. **Collective**, and so is every step after it. Refuses
 * parameters that are not equal on all ranks. @p comm is borrowed until the optimizer
 * ends.
 * The mean is over ranks: with equally many samples on each it is that over samples.
 * @return on a rank whose parameters are not those of rank 0: WEFT_E_SHAPE or
 *         WEFT_E_VALUE; on the others WEFT_E_PEER, naming it. WEFT_E_NOMEM and what
 *         messages fail with. Later steps: as weft_comm_allreduce(). */
WEFT_API weft_status weft_replicas_average(weft_comm *comm, weft_optim *optim);

/* ---- chain lists -----------------------------------------------------------------
 *
 * A model as a list of components, each owned by a rank and joined by rank:
 *
 *     model = weft_chain_list_create(comm);
 *     weft_chain_list_input(model, "x", WEFT_F32, 2, (int64_t[]){ WEFT_ROWS, 784 });
 *     weft_chain_list_add(model, "l1", 0, linear, WEFT_FROM(WEFT_INPUT), WEFT_TO(1));
 *
 * Every rank makes the same calls, and so knows the whole plan; only the owner
 * allocates a component's parameters. Each rank runs its components in the order
 * added. The k-th component's output to rank b from a meets the k-th input of b
 * from a; from a rank to itself too, by a queue. A component with several
 * inputs is called with all their variables in that order; one with several
 * outputs sends to each, and gradients add up.
 */

typedef struct weft_chain_list weft_chain_list;

enum {
    WEFT_INPUT = -1,  /**< as an input: all inputs of the model, in order */
    WEFT_OUTPUT = -2, /**< as an output: what the model gives */
    WEFT_ROWS = -1,   /**< as an extent: rows of the batch */
    WEFT_MAX_PORTS = 16
};

/** As an input: the model's input number @p k alone. */
#define WEFT_INPUT_AT(k) (-16 - (k))

/** As an output: the model's output number @p k, for models that give several
 * (more than one loss): each of 0, 1, ... once. WEFT_OUTPUT alone is number 0. */
#define WEFT_OUTPUT_AT(k) (-1024 - (k))

/** Ranks, or the words above, in order. */
typedef struct weft_ports {
    int n;
    int at[WEFT_MAX_PORTS];
} weft_ports;

#ifdef __cplusplus
#define WEFT_PORTS_(...)                                                                           \
    (weft_ports{ (int)std::initializer_list<int>{ __VA_ARGS__ }.size(), { __VA_ARGS__ } })
#else
#define WEFT_PORTS_(...)                                                                           \
    ((weft_ports){ (int)(sizeof((int[]){ __VA_ARGS__ }) / sizeof(int)), { __VA_ARGS__ } })
#endif
#define WEFT_FROM(...) WEFT_PORTS_(__VA_ARGS__)
#define WEFT_TO(...) WEFT_PORTS_(__VA_ARGS__)

/** An empty list over the ranks of @p comm, of which it makes a duplicate.
 * **Collective.** NULL for @p comm: a plan for
 * weft_chain_list_check() and print only, on one process, of any number of
 * ranks, without MPI. Owned. */
WEFT_API weft_chain_list *weft_chain_list_create(weft_comm *comm);

/** Declare the model's next input: one extent, the first, may be WEFT_ROWS. Name
 * copied. Only ranks that own a component which takes it need its data. */
WEFT_API weft_status weft_chain_list_input(weft_chain_list *model, const char *name,
                                           weft_dtype dtype, int ndim, const int64_t *shape);

/** Add a component. @p layer is taken, on every rank; only the owner allocates.
 * Its parameters' full names begin with @p name, the same for every number of
 * ranks; NULL: its place in the list, "0", "1", ...
 * @return WEFT_E_ARG for the name, too many ports, or a layer that has a place
 *         already, which keeps it; WEFT_E_STATE after
 *         weft_chain_list_build(). What is wrong with the plan is told by check. */
WEFT_API weft_status weft_chain_list_add(weft_chain_list *model, const char *name, int owner,
                                         weft_layer *layer, weft_ports from, weft_ports to);

/** Prove that the plan can run over @p ranks ranks with batches of @p rows: owners
 * and ports in range; every send meets a receive; no rank waits for itself through
 * others; a queue is not read before it is filled, nor left full; every declared
 * input is taken and every output given once; shapes and dtypes fit, edge by edge
 * (a dry run of every component). A layer without memory counts as of the dtype
 * of its first real input. Not collective: runs on one process.
 * @return WEFT_E_PLAN, naming components and edges, or the layer's own failure. */
WEFT_API weft_status weft_chain_list_check(weft_chain_list *model, int ranks, int64_t rows);

/** Make sure that all ranks hold the same list and seed, check it, and allocate and
 * initialise what this rank owns. **Collective.** @p options as in
 * weft_params_create(); NULL: its defaults. Once: WEFT_E_STATE after that, also if
 * it failed. @return on every rank the failure of any: WEFT_E_PLAN names the first
 * component that differs and the two ranks. */
WEFT_API weft_status weft_chain_list_build(weft_chain_list           *model,
                                           const weft_params_options *options);

/** What this rank owns, as one set; borrowed. NULL before build. */
WEFT_API weft_params *weft_chain_list_params(const weft_chain_list *model);

/** Run one step forward. **Collective.** @p tape has its step set
 * (weft_tape_step_set()), with the same rows on every rank. @p input: as many
 * variables as inputs declared, NULL for those that this rank does not have
 * (n may be 0 then).
 * @return what the model gives, of several outputs one after the other: on the
 *         rank that owns an output, what that component gives; on the others as
 *         many delegates (see weft_send()), from which weft_backward() does this
 *         rank's share. With several, weft_tape_backward() takes all of them. A
 *         NULL among them after a failure. */
WEFT_API weft_vars weft_chain_list_forward(weft_chain_list *model, weft_tape *tape,
                                           weft_vars input);

/** Print the plan: components, owners, parameters, edges with shape, dtype and
 * bytes for batches of @p rows. Not collective.
 * @return what weft_chain_list_check() does; then nothing is printed. */
WEFT_API weft_status weft_chain_list_print(weft_chain_list *model, int ranks, int64_t rows,
                                           FILE *to);

/** The plan as text, one input or component a line, the same on every rank and, but
 * for the owners ("@1"), for every placement: what snapshots keep. Owned
 * (weft_free). */
WEFT_API char *weft_chain_list_text(const weft_chain_list *model);

/** How many components the whole model has, on all ranks together: an index below is
 * 0 .. n - 1, in the order of adding, which is not checked. */
WEFT_API int weft_chain_list_n(const weft_chain_list *model);

/** A component's name; borrowed until the list ends. */
WEFT_API const char *weft_chain_list_name(const weft_chain_list *model, int index);

/** The rank that owns it. */
WEFT_API int weft_chain_list_owner(const weft_chain_list *model, int index);

/** The rank that gives output number 0; -1 if none does. */
WEFT_API int weft_chain_list_output_owner(const weft_chain_list *model);

/** A parameter of the model and where it lives. */
typedef struct weft_placed {
    const char *name;  /**< full: "l1/W"; borrowed until the list ends */
    int         owner; /**< a rank */
    weft_dtype  dtype;
    int         ndim;
    int64_t     shape[WEFT_MAX_AXES];
    weft_var   *here;  /**< the variable on its owner; NULL elsewhere */
    int         index; /**< among its owner's weft_params */
} weft_placed;

/** All parameters of the whole model, in the order of the list, the same on every
 * rank but for here: what a snapshot is gathered by. After build; borrowed. */
WEFT_API int weft_chain_list_placed(const weft_chain_list *model, const weft_placed **placed);

/** End it; the tapes that it ran on are cleared before. **Collective.** NULL is
 * allowed. */
WEFT_API void weft_chain_list_destroy(weft_chain_list *model);

WEFT_END

#endif
