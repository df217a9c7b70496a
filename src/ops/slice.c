/* slice.c -- some of the rows;   gx = g there, 0 elsewhere. */
#include "ops/ops_impl.h"

#include <inttypes.h>
#include <string.h>

static weft_status backward(const weft_node *node)
{
    const int64_t     *begin = node->state; /* byte at which the rows begin */
    const weft_tensor *g = &node->out[0]->grad, *gx = node->gin[0];
    if (gx == NULL)
        return WEFT_OK;

    const int64_t all = weft_tensor_bytes(gx), some = weft_tensor_bytes(g);
    char *const   to = gx->data;
    memset(to, 0, (size_t)*begin);
    memcpy(to + *begin, g->data, (size_t)some);
    memset(to + *begin + some, 0, (size_t)(all - *begin - some));
    return WEFT_OK;
}

static const weft_op slice = { .name = "slice", .backward = backward };

weft_var *weft_slice(weft_var *x, int64_t begin, int64_t end)
{
    if (x == NULL)
        return NULL;
    if (x->value.ndim < 1 || begin < 0 || end < begin || end > x->value.shape[0])
        return REFUSE(WEFT_E_SHAPE, "slice", weft_one(x), "no rows %" PRId64 " .. %" PRId64 " - 1",
                      begin, end);

    int64_t shape[WEFT_MAX_AXES];
    memcpy(shape, x->value.shape, sizeof shape);
    shape[0] = end - begin;
    const int64_t first = begin * weft__count_from(&x->value, 1);

    weft_node *node;
    weft_var  *y = weft__apply_view(&slice, x, first, x->value.ndim, shape, sizeof first, &node);
    if (y != NULL)
        *(int64_t *)node->state = first * weft_dtype_bytes(x->value.dtype);
    return y;
}
