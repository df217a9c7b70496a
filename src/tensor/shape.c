/* shape.c -- extents: checked, counted, said. */
#include "tensor/shape.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    TEXTS = 8,        /* alive at a time */
    TEXT_BYTES = 208, /* 8 extents of 20 digits and their commas, and a type's name */
};

static _Thread_local char texts[TEXTS][TEXT_BYTES];

static char *next_text(void)
{
    static _Thread_local unsigned next;
    return texts[next++ % TEXTS];
}

/* @return where to go on */
static char *put_extents(char *at, int ndim, const int64_t *shape)
{
    *at++ = '(';
    for (int i = 0; i < ndim && i < WEFT_MAX_AXES; i++)
        at += snprintf(at, 24, "%s%" PRId64, i > 0 ? ", " : "", shape[i]);
    *at++ = ')';
    *at = '\0';
    return at;
}

const char *weft__extents_text(int ndim, const int64_t *shape)
{
    char *text = next_text();
    put_extents(text, ndim, shape);
    return text;
}

const char *weft_shape_text(const weft_tensor *x)
{
    if (x == NULL)
        return "no tensor";

    char *text = next_text();
    char *end = put_extents(text, x->ndim, x->shape);
    snprintf(end, (size_t)(text + TEXT_BYTES - end), " %s", weft_dtype_text(x->dtype));
    return text;
}

bool weft_tensor_same_shape(const weft_tensor *a, const weft_tensor *b)
{
    bool same = a->ndim == b->ndim;
    for (int i = 0; i < a->ndim && i < WEFT_MAX_AXES && same; i++)
        same = a->shape[i] == b->shape[i];
    return same;
}

/* With an extent of 0 there is nothing, however long the others are. */
static bool is_empty(int ndim, const int64_t *shape)
{
    for (int i = 0; i < ndim; i++)
        if (shape[i] == 0)
            return true;
    return false;
}

weft_status weft__shape_count(weft_dtype dtype, int ndim, const int64_t *shape, int64_t *count)
{
    if (!weft__dtype_known(dtype))
        return WEFT_FAIL(WEFT_E_ARG, "a tensor of element type %d", (int)dtype);
    if (ndim < 0 || ndim > WEFT_MAX_AXES)
        return WEFT_FAIL(WEFT_E_ARG, "a tensor of %d axes; 0 to %d are possible", ndim,
                         WEFT_MAX_AXES);

    int64_t n = 1, most = INT64_MAX / weft_dtype_bytes(dtype);
    for (int i = 0; i < ndim; i++) {
        if (shape[i] < 0)
            return WEFT_FAIL(WEFT_E_ARG, "a tensor of shape %s: axis %d is negative",
                             weft__extents_text(ndim, shape), i);
        if (is_empty(ndim, shape))
            n = 0;
        else if (n > most / shape[i])
            return WEFT_FAIL(WEFT_E_ARG, "a tensor of shape %s %s: more bytes than 63 bits count",
                             weft__extents_text(ndim, shape), weft_dtype_text(dtype));
        else
            n *= shape[i];
    }
    *count = n;
    return WEFT_OK;
}
