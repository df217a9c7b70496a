/** @file ops.h -- every operator with its formula.
 *
 * All take variables of one tape and pass NULL on. All but the ones that say
 * otherwise want f32 or f64, one dtype for all real inputs, and fail with
 * WEFT_E_DTYPE or WEFT_E_SHAPE, naming what they got, before touching data.
 * g is dL/dy. "Rows" are the first axis; "the last axis" is the innermost.
 */
#ifndef WEFT_OPS_H
#define WEFT_OPS_H

#include "weft/autograd.h"

WEFT_BEGIN

/* ---- products ------------------------------------------------------------ */

/** C = A B.   A (n, k), B (k, m), C (n, m);   gA = g B^T, gB = A^T g */
WEFT_API weft_var *weft_matmul(weft_var *A, weft_var *B);

/** y = x W^T + b.   x (n, k), W (m, k), b (m) or NULL for none, y (n, m);
 * gx = g W, gW = g^T x, gb = sum of g over rows.
 * An x with more axes (n, ...) is taken as (n, k), k the product of the rest. */
WEFT_API weft_var *weft_affine(weft_var *x, weft_var *W, weft_var *b);

/** y = max(0, x W^T + b), in one pass over y: the same bits as
 * weft_relu(weft_affine(x, W, b)). Backward masks dL/dy in place: after it y->grad
 * holds the gradient of x W^T + b. */
WEFT_API weft_var *weft_affine_relu(weft_var *x, weft_var *W, weft_var *b);

/* ---- element by element -------------------------------------------------- */

/** y = a + b; shapes equal, or b (m) for a (..., m): a bias over rows. */
WEFT_API weft_var *weft_add(weft_var *a, weft_var *b);

/** y = a - b; shapes as in weft_add(). */
WEFT_API weft_var *weft_subtract(weft_var *a, weft_var *b);

/** y = a b, element by element; shapes equal. */
WEFT_API weft_var *weft_multiply(weft_var *a, weft_var *b);

/** y = factor x */
WEFT_API weft_var *weft_scale(weft_var *x, double factor);

/** y = max(0, x); gradient 0 at 0; NaN stays NaN. */
WEFT_API weft_var *weft_relu(weft_var *x);

/** y = x where x > 0, else slope x. */
WEFT_API weft_var *weft_leaky_relu(weft_var *x, double slope);

/** y = 1 / (1 + exp(-x)), without overflow for any x. */
WEFT_API weft_var *weft_sigmoid(weft_var *x);

/** y = tanh(x) */
WEFT_API weft_var *weft_tanh(weft_var *x);

/** Set each element to 0 with probability @p rate in [0, 1), scale the rest by
 * 1 / (1 - rate), in WEFT_TRAIN mode; the identity in WEFT_INFER mode (N.
 * Srivastava et al., J. Mach. Learn. Res. 15 (2014) 1929). The draw for an
 * element depends on (seed, name, step, sample, place in the sample), see
 * ::weft_step: so it is the same on any number of ranks. @p name is unique in
 * the model, borrowed for the call. The first axis of x is the step's rows. */
WEFT_API weft_var *weft_dropout(weft_var *x, double rate, const char *name);

/* ---- sums and shapes ----------------------------------------------------- */

/** y = sum of all elements, a scalar. Like all sums here over many elements it is
 * taken in double, in an order that does not depend on the number of threads. */
WEFT_API weft_var *weft_sum(weft_var *x);

/** y = mean of all elements, a scalar; of none: WEFT_E_SHAPE. */
WEFT_API weft_var *weft_mean(weft_var *x);

/** The same elements in another shape; no copy. At most one extent may be -1:
 * what is left. Any dtype. */
WEFT_API weft_var *weft_reshape(weft_var *x, int ndim, const int64_t *shape);

/** Rows begin .. end - 1; no copy. Any dtype. */
WEFT_API weft_var *weft_slice(weft_var *x, int64_t begin, int64_t end);

/** x.at[0], x.at[1], ... one after the other along @p axis; other extents equal.
 * Any dtype, one for all. */
WEFT_API weft_var *weft_concat(weft_vars x, int axis);

/* ---- classes and losses -------------------------------------------------- */

/** y = exp(x - max) / sum exp(x - max), over the last axis. An x of -inf gives 0; a
 * row with a NaN or +inf in it, or of -inf alone, gives NaN. */
WEFT_API weft_var *weft_softmax(weft_var *x);

/** y = x - max - log sum exp(x - max), over the last axis: log(weft_softmax(x)). */
WEFT_API weft_var *weft_log_softmax(weft_var *x);

/** A label that is left out of losses and accuracies. */
enum { WEFT_IGNORE = -1 };

/** L = -(1/n) sum_i log_softmax(x_i)[t_i], over the n rows whose label is not
 * WEFT_IGNORE; 0 if there are none.   x (rows, classes); t (rows) i32 or i64.
 * @return NULL with WEFT_E_VALUE, naming row and label, for a label outside
 *         0 .. classes - 1. */
WEFT_API weft_var *weft_softmax_cross_entropy(weft_var *x, weft_var *t);

/** The share of rows whose largest x is at t, ties to the first; a row with a NaN in
 * it is wrong; rows with WEFT_IGNORE left out; 0 if none are left. Arguments as
 * above; no gradient. */
WEFT_API weft_var *weft_accuracy(weft_var *x, weft_var *t);

/** L = (1/N) sum (a - b)^2 over all N elements; 0 if there are none; shapes equal. */
WEFT_API weft_var *weft_mean_squared_error(weft_var *a, weft_var *b);

WEFT_END

#endif
