/** @file autograd.h -- variables and tapes; how to write an operator.
 *
 * Operators write themselves on a **tape** as they run. weft_backward() seeds the
 * loss with 1 and plays the tape from its end, strictly in reverse: each node
 * turns the gradient of its outputs into gradients of its inputs. Nothing else
 * decides the order, so messages between ranks, which are nodes too, go back in
 * exactly the reverse of the order in which they came.
 *
 * Operators are makers that pass NULL on, so a formula is written as a formula
 * and checked once, at weft_backward():
 *
 *     weft_var *L = weft_softmax_cross_entropy(weft_affine(weft_relu(x), W, b), t);
 *     WEFT_MUST(weft_backward(L));
 *
 * Not thread-safe: one thread at a time per tape.
 */
#ifndef WEFT_AUTOGRAD_H
#define WEFT_AUTOGRAD_H

#include "weft/tensor.h"

WEFT_BEGIN

typedef struct weft_tape weft_tape;
typedef struct weft_node weft_node;
typedef struct weft_var  weft_var;

/** A value and its gradient. What a step makes belongs to its tape and ends when
 * the tape is cleared; a parameter belongs to its layer. Look into it freely. */
struct weft_var {
    weft_tensor value;
    weft_tensor grad;       /**< same shape; data is NULL until there is memory for it */
    weft_tape  *tape;       /**< that it was made on; NULL for a parameter */
    bool        needs_grad; /**< whether backward computes grad */
    bool        has_grad;   /**< whether grad holds something: the first contribution
                                 writes, later ones add */
    int         uses;       /**< nodes that take it and that the tape now playing has
                                 still to play; counted when backward begins */
    int         index;      /**< of a parameter: its place among the model's; else -1 */
};

/** Several variables in order: what a layer takes and gives, or what one edge
 * between ranks carries. Passed by value. A failure is a NULL among them. */
enum { WEFT_MAX_VARS = 16 };
typedef struct weft_vars {
    int       n;
    weft_var *at[WEFT_MAX_VARS];
} weft_vars;

/** One variable as weft_vars. */
WEFT_API weft_vars weft_one(weft_var *x);

/** Two. */
WEFT_API weft_vars weft_two(weft_var *x, weft_var *y);

/* ---- tapes --------------------------------------------------------------- */

/** An empty tape; owned. It reuses its memory: once two equal steps have run, a
 * third allocates nothing. */
WEFT_API weft_tape *weft_tape_create(void);

/** End every variable made on the tape, after the messages in flight from its
 * memory are done. @return what waiting for those gave (WEFT_E_TIMEOUT,
 * WEFT_E_COMM): then the memory is kept until the tape ends. */
WEFT_API weft_status weft_tape_clear(weft_tape *tape);

/** Clear and end it. NULL is allowed. */
WEFT_API void weft_tape_destroy(weft_tape *tape);

typedef enum weft_mode {
    WEFT_TRAIN, /**< record, and compute as in training; the default */
    WEFT_INFER, /**< record nothing, need no gradients; dropout is the identity */
    WEFT_DRY,   /**< compute nothing, only shapes, dtypes and whether a gradient is
                     needed: values have no data */
} weft_mode;

/** Set the mode of an empty tape. @return WEFT_E_STATE if it is not empty. */
WEFT_API weft_status weft_tape_mode_set(weft_tape *tape, weft_mode mode);

/** The mode that was set; WEFT_TRAIN before. */
WEFT_API weft_mode weft_tape_mode(const weft_tape *tape);

/** Which samples the rows of this step are, the same on every rank, whether it
 * has their data or not: operators that draw (dropout) key their draws by it. */
typedef struct weft_step {
    uint64_t       seed;
    int64_t        step;   /**< since training began, counted from 0 */
    int64_t        rows;   /**< samples in the batch */
    const int64_t *sample; /**< their numbers in the whole data set; NULL: 0 .. rows - 1.
                                Borrowed until the next weft_tape_step_set() */
} weft_step;

/** Say so: @p step is copied, what it points to borrowed. Stays until the next call,
 * also when the tape is cleared. */
WEFT_API void weft_tape_step_set(weft_tape *tape, const weft_step *step);

/** What was said last, all 0 before; borrowed until the next weft_tape_step_set(). */
WEFT_API const weft_step *weft_tape_step(const weft_tape *tape);

/** A variable over @p value's memory, which is borrowed until the tape is
 * cleared: no copy. Needs no gradient. @return NULL: WEFT_E_ARG if it has elements
 * but no data, and the mode is not WEFT_DRY. */
WEFT_API weft_var *weft_input(weft_tape *tape, const weft_tensor *value);

/** A new variable, not cleared, with a gradient if @p needs_grad. */
WEFT_API weft_var *weft_variable(weft_tape *tape, weft_dtype dtype, int ndim, const int64_t *shape,
                                 bool needs_grad);

/** A parameter as a variable of this tape, for formulas in which no other
 * variable has one: the penalty weft_sum(weft_multiply(weft_on(tape, W), W)). No
 * copy. */
WEFT_API weft_var *weft_on(weft_tape *tape, weft_var *parameter);

/** The value of a variable with one element. Not a number for NULL or for a
 * variable without data or with another count. */
WEFT_API double weft_item(const weft_var *x);

/* ---- backward ------------------------------------------------------------ */

/** Compute the gradient of @p loss with respect to all that needs one.
 *
 * @param loss  one real element, or a delegate (a variable with no element, as
 *              weft_send() returns), from which nothing is seeded but the whole
 *              tape is played all the same. NULL is the failure of the formula
 *              before, and is returned.
 * @return the first failure of the formula or of a node; WEFT_E_SHAPE for a
 *         loss with more than one element; WEFT_E_STATE in WEFT_INFER or
 *         WEFT_DRY mode, or if the tape was played before. */
WEFT_API weft_status weft_backward(weft_var *loss);

/** The same from several losses, each seeded with 1, or none (n is 0): for ranks
 * on which several or none of the losses lie. */
WEFT_API weft_status weft_tape_backward(weft_tape *tape, int n, weft_var *const *loss);

/** Called during backward as soon as a parameter's gradient has all its
 * contributions and its value is not needed any more on this tape: once for each
 * parameter that a node takes, also if nothing contributed (has_grad is false). */
typedef weft_status weft_grad_ready(void *context, weft_var *parameter);

/** Have it called in weft_backward() on this tape; NULL ends that. */
WEFT_API void weft_tape_on_grad(weft_tape *tape, weft_grad_ready *ready, void *context);

/** Whether one is called: weft_optim_minimize() then moves nothing inside backward. */
WEFT_API bool weft_tape_has_on_grad(const weft_tape *tape);

/** Compare the gradients of a formula with central differences, in double.
 *
 * @param formula  computes a loss of one element from @p n variables of the tape
 * @param x        @p n tensors of f64: where to look; restored after
 * @param worst    the largest |numerical - analytical| / max(1, |numerical|)
 * @return the formula's failure; WEFT_E_DTYPE if x is not f64.
 * Cost: two evaluations an element. */
WEFT_API weft_status weft_gradcheck(weft_var *(*formula)(weft_vars x, void *context), void *context,
                                    int n, weft_tensor *const *x, double step, double *worst);

/* ---- how to write an operator --------------------------------------------
 *
 *     weft_var *y = weft_apply(&op, weft_one(x), ndim, shape);    // record, get memory
 *     if (weft_has_data(y))                                       // not in a dry run
 *         forward(...);                                           // compute
 *     return y;
 *
 * and in backward write, never add, dL/dx to node->gin[i]->data for each input i
 * for which node->gin[i] is not NULL. The tape adds where there was something
 * before, element by element, in the order in which it plays. An operator that
 * has nothing to give to input i sets node->gin[i] to NULL: no contribution.
 * A node none of whose outputs got a gradient is not played; of several outputs
 * those without one have has_grad false, and count as zero.
 * src/ops/relu.c shows it whole.
 */

/** A kind of operator. */
typedef struct weft_op {
    const char *name;

    /** Turn the outputs' gradients into the inputs'. NULL: no gradient passes. */
    weft_status (*backward)(const weft_node *node);

    /** Wait for what is still in flight from the node's memory, when the tape is
     * cleared; state may still be 0, if forward failed. NULL: nothing is. Kept for
     * this in WEFT_INFER mode too. After a failure it is called again. */
    weft_status (*finish)(const weft_node *node);

    /** Play backward even if no output has a gradient and no input needs one: a
     * peer is waiting. Outputs without a gradient then have out[j]->has_grad false. */
    bool remote;
} weft_op;

/** What an operator wrote on the tape. */
struct weft_node {
    const weft_op *op;
    weft_tape     *tape;
    int            n_in, n_out;
    weft_var     **in;
    weft_var     **out;
    weft_tensor  **gin;   /**< in backward: where to write dL/d in[i]; NULL: not wanted */
    void          *state; /**< the operator's own bytes; 0 at first */
};

/** Record a node with one output of this shape and the first input's dtype.
 * @return the output, not computed; NULL if an input is NULL, if no input is on a
 *         tape or they are on two, or out of memory. */
WEFT_API weft_var *weft_apply(const weft_op *op, weft_vars in, int ndim, const int64_t *shape);

/** Record a node with one output of the shape and dtype of @p like; with
 * @p state_bytes of its own, reached through @p node, which may be NULL. */
WEFT_API weft_var *weft_apply_like(const weft_op *op, weft_vars in, const weft_tensor *like,
                                   size_t state_bytes, weft_node **node);

/** Record a node whose outputs exist already: several, none, or views, which are
 * made with weft_input() on the shared memory. Outputs need a gradient if an input
 * does. Recorded also where nothing needs a gradient if op->remote.
 * @return the node, or one that is not kept where the tape's mode records
 *         nothing; NULL out of memory. */
WEFT_API weft_node *weft_record(weft_tape *tape, const weft_op *op, weft_vars in, weft_vars out,
                                size_t state_bytes);

/** The tape that variables are on. @return NULL: E_STATE, if none or two; or a
 * variable is NULL (its failure stays). */
WEFT_API weft_tape *weft_common_tape(weft_vars x);

/** Whether x can be computed into: not NULL, and not in a dry run. */
WEFT_API bool weft_has_data(const weft_var *x);

/** A piece of the tape's memory, not cleared, until it is cleared: for what an
 * operator keeps for backward, or scratch. NULL: out of memory. */
WEFT_API void *weft_tape_take(weft_tape *tape, int64_t bytes);

WEFT_END

#endif
