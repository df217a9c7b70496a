/* subtract.c -- y = a - b, element by element, or with b for every row;
 * ga = g, gb = -g or minus its sum over rows. */
#include "ops/ops_impl.h"
#include "ops/rows.h"

#ifdef REAL /* ---- kernels: compiled once per real type, see each_real.h ---- */

static void K(forward)(int64_t n, const REAL *a, const REAL *b, REAL *y)
{
    EACH_CHUNK (n, begin, end)
        for (int64_t i = begin; i < end; i++)
            y[i] = a[i] - b[i];
}

static void K(forward_rows)(weft__matrix size, const REAL *a, const REAL *b, REAL *y)
{
    EACH_ROW (size.rows, size.cols, r)
        for (int64_t c = 0; c < size.cols; c++)
            y[r * size.cols + c] = a[r * size.cols + c] - b[c];
}

static void K(negate)(int64_t n, const REAL *g, REAL *gb)
{
    EACH_CHUNK (n, begin, end)
        for (int64_t i = begin; i < end; i++)
            gb[i] = -g[i];
}

#else /* ---- the operator ---- */

#include <string.h>

#define SELF "ops/subtract.c"
#include "tensor/each_real.h"

static void backward_b(const weft_tensor *g, weft_tensor *gb)
{
    if (gb->count == g->count) {
        BY_REAL(g->dtype, negate, g->count, g->data, gb->data);
        return;
    }
    weft__sum_rows(g->dtype, weft__by_last_axis(g), g->data, gb->data);
    BY_REAL(g->dtype, negate, gb->count, gb->data, gb->data);
}

static weft_status backward(const weft_node *node)
{
    const weft_tensor *g = &node->out[0]->grad;

    if (node->gin[0] != NULL)
        memcpy(node->gin[0]->data, g->data, (size_t)weft_tensor_bytes(g));
    if (node->gin[1] != NULL)
        backward_b(g, node->gin[1]);
    return WEFT_OK;
}

static const weft_op subtract = { .name = "subtract", .backward = backward };

weft_var *weft_subtract(weft_var *a, weft_var *b)
{
    const weft_vars in = weft_two(a, b);
    if (!weft__all_real("subtract", in) || !weft__alike_or_row("subtract", in))
        return NULL;

    weft_var *y = weft_apply(&subtract, in, a->value.ndim, a->value.shape);
    if (!weft_has_data(y))
        return y;
    if (b->value.count == a->value.count)
        BY_REAL(y->value.dtype, forward, y->value.count, a->value.data, b->value.data,
                y->value.data);
    else
        BY_REAL(y->value.dtype, forward_rows, weft__by_last_axis(&a->value), a->value.data,
                b->value.data, y->value.data);
    return y;
}

#endif
