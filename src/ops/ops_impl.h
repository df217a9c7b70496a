/* ops_impl.h -- what operators share: refusals, and how they see a tensor. */
#ifndef WEFT__OPS_IMPL_H
#define WEFT__OPS_IMPL_H

#include "weft/ops.h"

/* ---- refusals ------------------------------------------------------------------ */

/* Record "matmul of (32, 784) f32 and (100, 10) f32: <format>". @return NULL. */
#define REFUSE(kind, op, in, ...) weft__refuse((kind), WEFT_HERE, (op), (in), __VA_ARGS__)

/* The same in a check. @return false. */
#define REFUSED(kind, op, in, ...) (REFUSE((kind), (op), (in), __VA_ARGS__) != NULL)

weft_var *weft__refuse(weft_status kind, const char *where, const char *op, weft_vars in,
                       const char *format, ...) WEFT_PRINTF(5, 6);

/* Whether all inputs are there, real and of one dtype; if not, a failure is recorded. */
bool weft__all_real(const char *op, weft_vars in);

/* Whether also all shapes are equal. */
bool weft__all_alike(const char *op, weft_vars in);

/* Whether the second of two inputs is shaped like the first, or like a row of it. */
bool weft__alike_or_row(const char *op, weft_vars in);

/* ---- a tensor as a matrix ------------------------------------------------------ */

typedef struct weft__matrix {
    int64_t rows, cols;
} weft__matrix;

/* Product of the extents from @p axis on; 1 for none; INT64_MAX if it does not fit. */
int64_t weft__count_from(const weft_tensor *x, int axis);

/* The last axis is the columns; a scalar is one by one. */
weft__matrix weft__by_last_axis(const weft_tensor *x);

/* The first axis is the rows. */
weft__matrix weft__by_first_axis(const weft_tensor *x);

/* ---- views ---------------------------------------------------------------------- */

/* A variable of this shape over the memory of x from element @p first on, recorded
 * with @p state_bytes. Its gradient has memory of its own. */
weft_var *weft__apply_view(const weft_op *op, weft_var *x, int64_t first, int ndim,
                           const int64_t *shape, size_t state_bytes, weft_node **node);

/* ---- one number ---------------------------------------------------------------- */

/* A variable with one element and x's dtype, recorded on x's tape. */
weft_var *weft__apply_scalar(const weft_op *op, weft_vars in, size_t state_bytes, weft_node **node);

/* dL/dy of a node whose output is one number. */
double weft__scalar_grad(const weft_node *node);

/* ---- sums, in an order that does not depend on threads -------------------------- */

/* The sum of all elements; @p tape lends scratch. @return false: out of memory. */
bool weft__sum_all(const weft_var *x, weft_tape *tape, double *sum);

/* sum[0] + sum[1] + ... */
double weft__sum_in_order(int64_t n, const double *sum);

/* Room for partial sums, on the tape. @return NULL: out of memory. */
double *weft__take_sums(weft_tape *tape, int64_t n);

/* to[c] = sum of g[r, c] over rows r. */
void weft__sum_rows(weft_dtype dtype, weft__matrix size, const void *g, void *to);

/* ---- labels -------------------------------------------------------------------- */

/* Check scores x (rows, classes) and labels t (rows); count those that are not
 * WEFT_IGNORE, where t has data. @return false: a failure is recorded. */
bool weft__labels_check(const char *op, weft_var *x, weft_var *t, int64_t *counted);

static inline int64_t weft__label(const weft_tensor *t, int64_t row)
{
    return t->dtype == WEFT_I32 ? ((const int32_t *)t->data)[row] : ((const int64_t *)t->data)[row];
}

#endif
