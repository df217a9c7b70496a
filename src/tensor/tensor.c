/* tensor.c -- dense arrays: made, sliced, reshaped, copied, ended. */
#include "tensor/buffer.h"
#include "tensor/shape.h"

#include <inttypes.h>
#include <string.h>

/* NULL was handed on: with the failure that made it. */
static weft_tensor *pass_on(const char *call)
{
    weft_error_trail(weft_error_status(), WEFT_HERE, call);
    return NULL;
}

int64_t weft_tensor_bytes(const weft_tensor *x)
{
    return x->count * weft_dtype_bytes(x->dtype);
}

weft_tensor weft_tensor_wrap(weft_dtype dtype, int ndim, const int64_t *shape, void *data)
{
    weft_tensor x = { .dtype = dtype, .ndim = ndim, .count = 1, .data = data };
    for (int i = 0; i < ndim && i < WEFT_MAX_AXES; i++) { /* who checks it, refuses more */
        x.shape[i] = shape[i];
        x.count = (int64_t)((uint64_t)x.count * (uint64_t)shape[i]); /* a later 0 mends it */
    }
    return x;
}

void weft_tensor_destroy(weft_tensor *x)
{
    if (x == NULL)
        return;
    weft__buffer_release(x->buffer);
    weft_free(x);
}

/* ---- with memory of their own -------------------------------------------------- */

weft_tensor *weft_tensor_create(weft_dtype dtype, int ndim, const int64_t *shape)
{
    int64_t count;
    if (weft__shape_count(dtype, ndim, shape, &count) != WEFT_OK)
        return NULL;

    weft_tensor *x = weft_alloc(sizeof *x);
    if (x == NULL)
        return NULL;
    *x = weft_tensor_wrap(dtype, ndim, shape, NULL);
    x->buffer = weft__buffer_create(weft_tensor_bytes(x));
    if (x->buffer == NULL) {
        weft_tensor_destroy(x);
        return NULL;
    }
    x->data = weft__buffer_data(x->buffer);
    return x;
}

weft_tensor *weft_tensor_zeros(weft_dtype dtype, int ndim, const int64_t *shape)
{
    weft_tensor *x = weft_tensor_create(dtype, ndim, shape);
    if (x != NULL)
        memset(x->data, 0, (size_t)weft_tensor_bytes(x));
    return x;
}

weft_tensor *weft_tensor_copy(const weft_tensor *x)
{
    return x != NULL ? weft_tensor_convert(x, x->dtype) : pass_on("weft_tensor_copy");
}

/* ---- views ---------------------------------------------------------------------- */

/* A tensor in the memory of x, which is NULL in a dry run. */
static weft_tensor *view(const weft_tensor *x, int ndim, const int64_t *shape, int64_t offset)
{
    weft_tensor *y = weft_alloc(sizeof *y);
    if (y == NULL)
        return NULL;
    *y = weft_tensor_wrap(x->dtype, ndim, shape, x->data == NULL ? NULL : (char *)x->data + offset);
    y->buffer = weft__buffer_share(x->buffer);
    return y;
}

weft_tensor *weft_tensor_slice(const weft_tensor *x, int64_t begin, int64_t end)
{
    if (x == NULL)
        return pass_on("weft_tensor_slice");
    if (x->ndim == 0)
        return WEFT_FAIL_NULL(WEFT_E_SHAPE, "rows of a scalar, %s", weft_shape_text(x));
    if (begin < 0 || begin > end || end > x->shape[0])
        return WEFT_FAIL_NULL(WEFT_E_SHAPE, "rows %" PRId64 " to %" PRId64 " of %s", begin, end,
                              weft_shape_text(x));

    const int64_t row = x->shape[0] > 0 ? weft_tensor_bytes(x) / x->shape[0] : 0;
    int64_t       shape[WEFT_MAX_AXES];
    memcpy(shape, x->shape, sizeof shape);
    shape[0] = end - begin;
    return view(x, x->ndim, shape, begin * row);
}

/* Put what is left of `count` in place of the extent that is -1. */
static weft_status infer(int64_t count, int ndim, int64_t *shape)
{
    int     at = -1;
    int64_t others = 1;

    for (int i = 0; i < ndim; i++)
        if (shape[i] == -1 && at >= 0)
            return WEFT_FAIL(WEFT_E_SHAPE, "two extents of -1 in %s",
                             weft__extents_text(ndim, shape));
        else if (shape[i] == -1)
            at = i;
        else if (shape[i] > 0 && others > count / shape[i])
            others = 0; /* more than there is, so nothing divides */
        else
            others *= shape[i];
    if (at >= 0 && others > 0 && count % others == 0)
        shape[at] = count / others;
    return WEFT_OK;
}

static weft_status fit(const weft_tensor *x, int ndim, const int64_t *wanted, int64_t *shape)
{
    int64_t count;

    if (ndim < 0 || ndim > WEFT_MAX_AXES)
        return WEFT_FAIL(WEFT_E_SHAPE, "%s as a tensor of %d axes; 0 to %d are possible",
                         weft_shape_text(x), ndim, WEFT_MAX_AXES);
    for (int i = 0; i < ndim; i++)
        shape[i] = wanted[i];
    WEFT_TRY(infer(x->count, ndim, shape));
    if (weft__shape_count(x->dtype, ndim, shape, &count) != WEFT_OK || count != x->count)
        return WEFT_FAIL(WEFT_E_SHAPE, "%s as %s", weft_shape_text(x),
                         weft__extents_text(ndim, wanted));
    return WEFT_OK;
}

weft_tensor *weft_tensor_reshape(const weft_tensor *x, int ndim, const int64_t *shape)
{
    int64_t fitted[WEFT_MAX_AXES] = { 0 };

    if (x == NULL)
        return pass_on("weft_tensor_reshape");
    return fit(x, ndim, shape, fitted) == WEFT_OK ? view(x, ndim, fitted, 0) : NULL;
}
