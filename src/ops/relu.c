/* relu.c -- y = max(0, x), element by element;   gx = g where y > 0. NaN stays NaN. */
#include "ops/ops_impl.h"

#ifdef REAL /* ---- kernels: compiled once per real type, see each_real.h ---- */

static void K(forward)(int64_t n, const REAL *x, REAL *y)
{
    EACH_CHUNK (n, begin, end)
        for (int64_t i = begin; i < end; i++)
            y[i] = x[i] <= 0 ? 0 : x[i];
}

/* The output alone says where x was positive, so x need not be kept. */
static void K(backward)(int64_t n, const REAL *y, const REAL *g, REAL *gx)
{
    EACH_CHUNK (n, begin, end)
        for (int64_t i = begin; i < end; i++)
            gx[i] = y[i] <= 0 ? 0 : g[i];
}

#else /* ---- the operator ---- */

#define SELF "ops/relu.c"
#include "tensor/each_real.h"

static weft_status backward(const weft_node *node)
{
    const weft_var *y = node->out[0];
    if (node->gin[0] != NULL)
        BY_REAL(y->value.dtype, backward, y->value.count, y->value.data, y->grad.data,
                node->gin[0]->data);
    return WEFT_OK;
}

static const weft_op relu = { .name = "relu", .backward = backward };

weft_var *weft_relu(weft_var *x)
{
    if (!weft__all_real("relu", weft_one(x)))
        return NULL;
    weft_var *y = weft_apply(&relu, weft_one(x), x->value.ndim, x->value.shape);
    if (weft_has_data(y))
        BY_REAL(y->value.dtype, forward, y->value.count, x->value.data, y->value.data);
    return y;
}

#endif
