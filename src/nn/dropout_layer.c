/* dropout_layer.c -- dropout whose draws are keyed by the layer's full name. */
#include "nn/layer_impl.h"

/* Two layers without names would draw the same. */
static weft_status check_name(const weft_layer *self, const weft_var *x)
{
    if (self->params == NULL && weft_tape_mode(x->tape) == WEFT_TRAIN)
        return WEFT_FAIL(WEFT_E_STATE, "a dropout layer without a name to draw by: see "
                                       "weft_params_create()");
    return WEFT_OK;
}

static weft_vars forward(weft_layer *self, weft_vars in)
{
    const double *rate = weft_layer_state(self);

    if (!weft__layer_takes(self, in, 1) || check_name(self, in.at[0]) != WEFT_OK)
        return weft_one(NULL);
    return weft_one(
        weft_dropout(in.at[0], *rate, *self->name != '\0' ? self->name : self->kind_name));
}

static const weft_layer_kind kind = { .name = "dropout",
                                      .state = sizeof(double),
                                      .forward = forward };

weft_layer *weft_dropout_create(double rate)
{
    if (!(rate >= 0 && rate < 1))
        return WEFT_FAIL_NULL(WEFT_E_ARG, "dropout with rate %g; 0 to below 1 is possible", rate);

    weft_layer *layer = weft_layer_create(&kind);
    if (layer != NULL)
        *(double *)weft_layer_state(layer) = rate;
    return layer;
}
