/* function_layer.c -- y = f(x): a formula of one variable as a layer. */
#include "nn/layer_impl.h"

typedef struct {
    char *name;
    weft_var *(*formula)(weft_var *);
} function;

static weft_vars forward(weft_layer *self, weft_vars in)
{
    const function *f = weft_layer_state(self);

    if (!weft__layer_takes(self, in, 1))
        return weft_one(NULL);
    return weft_one(f->formula(in.at[0]));
}

static void destroy(void *state)
{
    const function *f = state;
    weft_free(f->name);
}

static const weft_layer_kind kind = {
    .name = "function",
    .state = sizeof(function),
    .forward = forward,
    .destroy = destroy,
};

weft_layer *weft_function_create(const char *name, weft_var *(*formula)(weft_var *))
{
    weft_layer *layer = weft_layer_create(&kind);
    if (layer == NULL)
        return NULL;

    function *f = weft_layer_state(layer);
    *f = (function){ weft_text_copy(name), formula };
    if (f->name == NULL) {
        weft_layer_destroy(layer);
        return NULL;
    }
    layer->kind_name = f->name;
    return layer;
}
