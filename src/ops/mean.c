/* mean.c -- y = (1/N) sum of all N elements;   gx = g / N everywhere. */
#include "ops/ops_impl.h"

static weft_status backward(const weft_node *node)
{
    weft_tensor *gx = node->gin[0];
    if (gx != NULL)
        weft_tensor_fill(gx, weft__scalar_grad(node) / (double)gx->count);
    return WEFT_OK;
}

static const weft_op mean = { .name = "mean", .backward = backward };

weft_var *weft_mean(weft_var *x)
{
    if (!weft__all_real("mean", weft_one(x)))
        return NULL;
    if (x->value.count == 0)
        return REFUSE(WEFT_E_SHAPE, "mean", weft_one(x), "nothing has no mean");

    weft_var *y = weft__apply_scalar(&mean, weft_one(x), 0, NULL);
    double    total;
    if (!weft_has_data(y))
        return y;
    if (!weft__sum_all(x, y->tape, &total))
        return NULL;
    weft_tensor_set(&y->value, 0, total / (double)x->value.count);
    return y;
}
