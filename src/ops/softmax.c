/* softmax.c -- y = exp(x - max) / sum exp(x - max), over the last axis;
 *
 *     gx = y (g - sum g y).
 *
 * An x of -inf gives 0; a row with a NaN or +inf in it, or of -inf alone, NaN.
 */
#include "ops/ops_impl.h"
#include "ops/rows.h"

#ifdef REAL /* ---- kernels: compiled once per real type, see each_real.h ---- */

static void K(forward_row)(int64_t cols, const REAL *x, REAL *y)
{
    double sum = 0;
    REAL   max = -(REAL)INFINITY;

    for (int64_t c = 0; c < cols; c++)
        max = x[c] > max ? x[c] : max;
    for (int64_t c = 0; c < cols; c++) {
        y[c] = exp(x[c] - max);
        sum += (double)y[c];
    }
    const REAL share = (REAL)(1 / sum);
    for (int64_t c = 0; c < cols; c++)
        y[c] *= share;
}

static void K(forward)(weft__matrix size, const REAL *x, REAL *y)
{
    EACH_ROW (size.rows, size.cols, r)
        K(forward_row)(size.cols, x + r * size.cols, y + r * size.cols);
}

static void K(backward_row)(int64_t cols, const REAL *y, const REAL *g, REAL *gx)
{
    double sum = 0;

    for (int64_t c = 0; c < cols; c++)
        sum += (double)g[c] * (double)y[c];
    for (int64_t c = 0; c < cols; c++)
        gx[c] = y[c] * (g[c] - (REAL)sum);
}

static void K(backward)(weft__matrix size, const REAL *y, const REAL *g, REAL *gx)
{
    EACH_ROW (size.rows, size.cols, r)
        K(backward_row)(size.cols, y + r * size.cols, g + r * size.cols, gx + r * size.cols);
}

#else /* ---- the operator ---- */

#include <tgmath.h>

#define SELF "ops/softmax.c"
#include "tensor/each_real.h"

static weft_status backward(const weft_node *node)
{
    const weft_var *y = node->out[0];
    if (node->gin[0] != NULL)
        BY_REAL(y->value.dtype, backward, weft__by_last_axis(&y->value), y->value.data,
                y->grad.data, node->gin[0]->data);
    return WEFT_OK;
}

static const weft_op softmax = { .name = "softmax", .backward = backward };

weft_var *weft_softmax(weft_var *x)
{
    if (!weft__all_real("softmax", weft_one(x)))
        return NULL;
    weft_var *y = weft_apply(&softmax, weft_one(x), x->value.ndim, x->value.shape);
    if (weft_has_data(y))
        BY_REAL(y->value.dtype, forward, weft__by_last_axis(&y->value), x->value.data,
                y->value.data);
    return y;
}

#endif
