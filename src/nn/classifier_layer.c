/* classifier_layer.c -- (x, t) -> (loss, accuracy): the end of a classifier. */
#include "nn/layer_impl.h"

static weft_vars forward(weft_layer *self, weft_vars in)
{
    if (!weft__layer_takes(self, in, 2))
        return weft_one(NULL);
    return weft_two(weft_softmax_cross_entropy(in.at[0], in.at[1]),
                    weft_accuracy(in.at[0], in.at[1]));
}

static const weft_layer_kind kind = { .name = "classifier", .state = 0, .forward = forward };

weft_layer *weft_classifier_create(void)
{
    return weft_layer_create(&kind);
}
