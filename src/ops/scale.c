/* scale.c -- y = factor x, element by element;   gx = factor g. */
#include "ops/ops_impl.h"

#ifdef REAL /* ---- kernels: compiled once per real type, see each_real.h ---- */

static void K(scale)(int64_t n, double factor, const REAL *x, REAL *y)
{
    const REAL f = (REAL)factor;
    EACH_CHUNK (n, begin, end)
        for (int64_t i = begin; i < end; i++)
            y[i] = f * x[i];
}

#else /* ---- the operator ---- */

#define SELF "ops/scale.c"
#include "tensor/each_real.h"

static weft_status backward(const weft_node *node)
{
    const double      *factor = node->state;
    const weft_tensor *g = &node->out[0]->grad;
    if (node->gin[0] != NULL)
        BY_REAL(g->dtype, scale, g->count, *factor, g->data, node->gin[0]->data);
    return WEFT_OK;
}

static const weft_op scale = { .name = "scale", .backward = backward };

weft_var *weft_scale(weft_var *x, double factor)
{
    if (!weft__all_real("scale", weft_one(x)))
        return NULL;

    weft_node *node;
    weft_var  *y = weft_apply_like(&scale, weft_one(x), &x->value, sizeof factor, &node);
    if (y == NULL)
        return NULL;
    *(double *)node->state = factor;
    if (weft_has_data(y))
        BY_REAL(y->value.dtype, scale, y->value.count, factor, x->value.data, y->value.data);
    return y;
}

#endif
