/* reshape.c -- the same elements in another shape;   gx = g. */
#include "ops/ops_impl.h"

#include <string.h>

static weft_status backward(const weft_node *node)
{
    const weft_tensor *g = &node->out[0]->grad;
    if (node->gin[0] != NULL)
        memcpy(node->gin[0]->data, g->data, (size_t)weft_tensor_bytes(g));
    return WEFT_OK;
}

static const weft_op reshape = { .name = "reshape", .backward = backward };

/* Put the extent that is left in the place of -1. @return whether all elements
 * have their place then. */
static bool complete(int64_t count, int ndim, int64_t *shape)
{
    int open = -1;
    for (int i = 0; i < ndim; i++) {
        if (shape[i] < -1 || (shape[i] == -1 && open >= 0))
            return false;
        open = shape[i] == -1 ? i : open;
    }
    if (open >= 0)
        shape[open] = 1;
    const weft_tensor to = weft_tensor_wrap(WEFT_F32, ndim, shape, NULL);
    const int64_t     rest = weft__count_from(&to, 0);
    if (open < 0)
        return rest == count;
    if (rest == 0 || count % rest != 0)
        return false; /* 0 elements into (0, -1): any extent would do */
    shape[open] = count / rest;
    return true;
}

weft_var *weft_reshape(weft_var *x, int ndim, const int64_t *shape)
{
    int64_t to[WEFT_MAX_AXES] = { 0 };

    if (x == NULL)
        return NULL;
    if (ndim < 0 || ndim > WEFT_MAX_AXES)
        return REFUSE(WEFT_E_SHAPE, "reshape", weft_one(x), "to %d axes; 0 to %d are possible",
                      ndim, WEFT_MAX_AXES);
    if (ndim > 0)
        memcpy(to, shape, (size_t)ndim * sizeof *to);
    const weft_tensor wanted = weft_tensor_wrap(x->value.dtype, ndim, to, NULL);
    if (!complete(x->value.count, ndim, to))
        return REFUSE(WEFT_E_SHAPE, "reshape", weft_one(x), "does not fit into %s",
                      weft_shape_text(&wanted));
    return weft__apply_view(&reshape, x, 0, ndim, to, 0, NULL);
}
