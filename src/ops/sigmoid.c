/* sigmoid.c -- y = 1 / (1 + exp(-x)), element by element;   gx = g y (1 - y). */
#include "ops/ops_impl.h"

#ifdef REAL /* ---- kernels: compiled once per real type, see each_real.h ---- */

static void K(forward)(int64_t n, const REAL *x, REAL *y)
{
    EACH_CHUNK (n, begin, end)
        for (int64_t i = begin; i < end; i++) {
            const REAL e = exp(-fabs(x[i])); /* at most 1: no overflow */
            y[i] = (x[i] < 0 ? e : 1) / (1 + e);
        }
}

static void K(backward)(int64_t n, const REAL *y, const REAL *g, REAL *gx)
{
    EACH_CHUNK (n, begin, end)
        for (int64_t i = begin; i < end; i++)
            gx[i] = g[i] * y[i] * (1 - y[i]);
}

#else /* ---- the operator ---- */

#include <tgmath.h>

#define SELF "ops/sigmoid.c"
#include "tensor/each_real.h"

static weft_status backward(const weft_node *node)
{
    const weft_var *y = node->out[0];
    if (node->gin[0] != NULL)
        BY_REAL(y->value.dtype, backward, y->value.count, y->value.data, y->grad.data,
                node->gin[0]->data);
    return WEFT_OK;
}

static const weft_op sigmoid = { .name = "sigmoid", .backward = backward };

weft_var *weft_sigmoid(weft_var *x)
{
    if (!weft__all_real("sigmoid", weft_one(x)))
        return NULL;
    weft_var *y = weft_apply(&sigmoid, weft_one(x), x->value.ndim, x->value.shape);
    if (weft_has_data(y))
        BY_REAL(y->value.dtype, forward, y->value.count, x->value.data, y->value.data);
    return y;
}

#endif
