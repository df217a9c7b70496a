/* multiply.c -- y = a b, element by element;   ga = g b, gb = g a. */
#include "ops/ops_impl.h"

#ifdef REAL /* ---- kernels: compiled once per real type, see each_real.h ---- */

static void K(product)(int64_t n, const REAL *a, const REAL *b, REAL *y)
{
    EACH_CHUNK (n, begin, end)
        for (int64_t i = begin; i < end; i++)
            y[i] = a[i] * b[i];
}

#else /* ---- the operator ---- */

#define SELF "ops/multiply.c"
#include "tensor/each_real.h"

static weft_status backward(const weft_node *node)
{
    const weft_tensor *a = &node->in[0]->value, *b = &node->in[1]->value;
    const weft_tensor *g = &node->out[0]->grad;

    if (node->gin[0] != NULL)
        BY_REAL(g->dtype, product, g->count, g->data, b->data, node->gin[0]->data);
    if (node->gin[1] != NULL)
        BY_REAL(g->dtype, product, g->count, g->data, a->data, node->gin[1]->data);
    return WEFT_OK;
}

static const weft_op multiply = { .name = "multiply", .backward = backward };

weft_var *weft_multiply(weft_var *a, weft_var *b)
{
    const weft_vars in = weft_two(a, b);
    if (!weft__all_alike("multiply", in))
        return NULL;
    weft_var *y = weft_apply(&multiply, in, a->value.ndim, a->value.shape);
    if (weft_has_data(y))
        BY_REAL(y->value.dtype, product, y->value.count, a->value.data, b->value.data,
                y->value.data);
    return y;
}

#endif
