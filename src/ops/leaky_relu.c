/* leaky_relu.c -- y = x where x > 0, else slope x;   gx = g, else slope g. */
#include "ops/ops_impl.h"

#ifdef REAL /* ---- kernels: compiled once per real type, see each_real.h ---- */

static void K(forward)(int64_t n, double slope, const REAL *x, REAL *y)
{
    const REAL s = (REAL)slope;
    EACH_CHUNK (n, begin, end)
        for (int64_t i = begin; i < end; i++) {
            const REAL above = x[i] <= 0 ? 0 : x[i], below = x[i] > 0 ? 0 : x[i];
            y[i] = above + s * below; /* one of them is 0, and nothing a branch */
        }
}

/* With a negative slope y does not say where x was positive: x is needed. */
static void K(backward)(int64_t n, double slope, const REAL *x, const REAL *g, REAL *gx)
{
    const REAL s = (REAL)slope;
    EACH_CHUNK (n, begin, end)
        for (int64_t i = begin; i < end; i++)
            gx[i] = (x[i] > 0 ? 1 : s) * g[i];
}

#else /* ---- the operator ---- */

#define SELF "ops/leaky_relu.c"
#include "tensor/each_real.h"

static weft_status backward(const weft_node *node)
{
    const double      *slope = node->state;
    const weft_tensor *x = &node->in[0]->value, *g = &node->out[0]->grad;
    if (node->gin[0] != NULL)
        BY_REAL(x->dtype, backward, x->count, *slope, x->data, g->data, node->gin[0]->data);
    return WEFT_OK;
}

static const weft_op leaky_relu = { .name = "leaky_relu", .backward = backward };

weft_var *weft_leaky_relu(weft_var *x, double slope)
{
    if (!weft__all_real("leaky_relu", weft_one(x)))
        return NULL;

    weft_node *node;
    weft_var  *y = weft_apply_like(&leaky_relu, weft_one(x), &x->value, sizeof slope, &node);
    if (y == NULL)
        return NULL;
    *(double *)node->state = slope;
    if (weft_has_data(y))
        BY_REAL(y->value.dtype, forward, y->value.count, slope, x->value.data, y->value.data);
    return y;
}

#endif
