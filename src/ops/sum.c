/* sum.c -- y = sum of all elements;   gx = g everywhere. */
#include "ops/ops_impl.h"

static weft_status backward(const weft_node *node)
{
    if (node->gin[0] != NULL)
        weft_tensor_fill(node->gin[0], weft__scalar_grad(node));
    return WEFT_OK;
}

static const weft_op sum = { .name = "sum", .backward = backward };

weft_var *weft_sum(weft_var *x)
{
    if (!weft__all_real("sum", weft_one(x)))
        return NULL;

    weft_var *y = weft__apply_scalar(&sum, weft_one(x), 0, NULL);
    double    total;
    if (!weft_has_data(y))
        return y;
    if (!weft__sum_all(x, y->tape, &total))
        return NULL;
    weft_tensor_set(&y->value, 0, total);
    return y;
}
