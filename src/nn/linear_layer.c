/* linear_layer.c -- y = x W^T + b, or max(0, x W^T + b).   x (n, in), W (out, in), b (out) */
#include "nn/layer_impl.h"

typedef struct {
    weft_var *W, *b; /* b NULL: none */
    bool      relu;
} linear;

static weft_vars forward(weft_layer *self, weft_vars in)
{
    const linear *l = weft_layer_state(self);

    if (!weft__layer_takes(self, in, 1))
        return weft_one(NULL);
    return weft_one((l->relu ? weft_affine_relu : weft_affine)(in.at[0], l->W, l->b));
}

static const weft_layer_kind kind = { .name = "linear",
                                      .state = sizeof(linear),
                                      .forward = forward };

weft_linear_options weft_linear_defaults(void)
{
    return (weft_linear_options){ .W = { WEFT_LECUN_NORMAL, 1 }, .b = { WEFT_CONSTANT, 0 } };
}

static weft_status describe(weft_layer *layer, int64_t in, int64_t out, weft_linear_options o)
{
    linear *l = weft_layer_state(layer);

    if (in < 1 || out < 1)
        return WEFT_FAIL(WEFT_E_ARG, "a linear layer from %lld to %lld", (long long)in,
                         (long long)out);
    l->relu = o.relu;
    WEFT_TRY_NEW(l->W = weft_layer_param(layer, "W", 2, (int64_t[]){ out, in }, o.W));
    if (!o.no_bias)
        WEFT_TRY_NEW(l->b = weft_layer_param(layer, "b", 1, &out, o.b));
    return WEFT_OK;
}

weft_layer *weft_linear_create(int64_t in, int64_t out, const weft_linear_options *options)
{
    weft_layer *layer = weft_layer_create(&kind);

    if (layer == NULL)
        return NULL;
    if (describe(layer, in, out, options != NULL ? *options : weft_linear_defaults()) != WEFT_OK) {
        weft_layer_destroy(layer);
        return NULL;
    }
    return layer;
}
