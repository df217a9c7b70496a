/* concat.c -- tensors one after the other along an axis;   each gets its part of g. */
#include "ops/ops_impl.h"

#include <string.h>

/* Copy between y, made of `blocks` long blocks, and one input's short ones, which
 * stand `at` bytes after the beginning of each long one. */
typedef struct {
    int64_t blocks, long_bytes, short_bytes, at;
} part;

static void gather(part p, const char *x, char *y)
{
    for (int64_t i = 0; i < p.blocks; i++)
        memcpy(y + i * p.long_bytes + p.at, x + i * p.short_bytes, (size_t)p.short_bytes);
}

static void scatter(part p, const char *y, char *x)
{
    for (int64_t i = 0; i < p.blocks; i++)
        memcpy(x + i * p.short_bytes, y + i * p.long_bytes + p.at, (size_t)p.short_bytes);
}

static part first_part(const weft_tensor *y, int axis)
{
    const int64_t inner = weft__count_from(y, axis) * weft_dtype_bytes(y->dtype);
    return (part){ .blocks = inner > 0 ? weft_tensor_bytes(y) / inner : 0, .long_bytes = inner };
}

static void next_part(part *p, const weft_tensor *x, int axis)
{
    p->at += p->short_bytes;
    p->short_bytes = weft__count_from(x, axis) * weft_dtype_bytes(x->dtype);
}

static weft_status backward(const weft_node *node)
{
    const int         *axis = node->state;
    const weft_tensor *g = &node->out[0]->grad;
    part               p = first_part(g, *axis);

    for (int i = 0; i < node->n_in; i++) {
        next_part(&p, &node->in[i]->value, *axis);
        if (node->gin[i] != NULL)
            scatter(p, g->data, node->gin[i]->data);
    }
    return WEFT_OK;
}

static void forward(weft_vars x, int axis, weft_tensor *y)
{
    part p = first_part(y, axis);

    for (int i = 0; i < x.n; i++) {
        next_part(&p, &x.at[i]->value, axis);
        gather(p, x.at[i]->value.data, y->data);
    }
}

static const weft_op concat = { .name = "concat", .backward = backward };

static bool fit(const weft_tensor *a, const weft_tensor *b, int axis)
{
    bool fits = a->ndim == b->ndim;
    for (int i = 0; fits && i < a->ndim; i++)
        fits = i == axis || a->shape[i] == b->shape[i];
    return fits;
}

static bool check(weft_vars x, int axis)
{
    if (x.n < 1 || x.n > WEFT_MAX_VARS)
        return WEFT_FAIL(WEFT_E_ARG, "concat of %s: %d variables, want 1 to %d",
                         x.n < 1 ? "nothing" : "too many", x.n, WEFT_MAX_VARS) == WEFT_OK;
    for (int i = 0; i < x.n; i++)
        if (x.at[i] == NULL)
            return false;
    if (axis < 0 || axis >= x.at[0]->value.ndim)
        return REFUSED(WEFT_E_SHAPE, "concat", x, "no axis %d", axis);
    for (int i = 1; i < x.n; i++) {
        if (x.at[i]->value.dtype != x.at[0]->value.dtype)
            return REFUSED(WEFT_E_DTYPE, "concat", x, "wants one element type");
        if (!fit(&x.at[0]->value, &x.at[i]->value, axis))
            return REFUSED(WEFT_E_SHAPE, "concat", x, "wants equal extents but along axis %d",
                           axis);
    }
    return true;
}

weft_var *weft_concat(weft_vars x, int axis)
{
    if (!check(x, axis))
        return NULL;

    weft_tensor like = x.at[0]->value;
    for (int i = 1; i < x.n; i++)
        like.shape[axis] += x.at[i]->value.shape[axis];

    weft_node *node;
    weft_var  *y = weft_apply_like(&concat, x, &like, sizeof axis, &node);
    if (y == NULL)
        return NULL;
    *(int *)node->state = axis;
    if (weft_has_data(y))
        forward(x, axis, &y->value);
    return y;
}
