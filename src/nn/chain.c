/* chain.c -- layers in sequence. */
#include "nn/layer_impl.h"

static weft_vars forward(weft_layer *self, weft_vars in)
{
    for (int i = 0; i < weft_layer_children(self); i++)
        in = weft_layer_forward(weft_layer_child_at(self, i), in);
    return in;
}

static const weft_layer_kind kind = { .name = "chain", .state = 0, .forward = forward };

weft_layer *weft_chain_create(void)
{
    return weft_layer_create(&kind);
}

weft_status weft_chain_add(weft_layer *chain, const char *name, weft_layer *layer)
{
    return weft_layer_child(chain, name, layer);
}
