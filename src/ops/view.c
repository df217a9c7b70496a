/* view.c -- operators whose output is memory of their input. */
#include "ops/ops_impl.h"

static weft_tensor view_of(const weft_tensor *x, int64_t first, int ndim, const int64_t *shape)
{
    char *data = x->data;
    if (data != NULL)
        data += first * weft_dtype_bytes(x->dtype);
    return weft_tensor_wrap(x->dtype, ndim, shape, data);
}

weft_var *weft__apply_view(const weft_op *op, weft_var *x, int64_t first, int ndim,
                           const int64_t *shape, size_t state_bytes, weft_node **node)
{
    weft_tape *tape = weft_common_tape(weft_one(x));
    if (tape == NULL)
        return NULL;

    const weft_tensor view = view_of(&x->value, first, ndim, shape);
    weft_var         *y = weft_input(tape, &view);
    if (y == NULL)
        return NULL;
    weft_node *made = weft_record(tape, op, weft_one(x), weft_one(y), state_bytes);
    if (node != NULL)
        *node = made;
    return made != NULL ? y : NULL;
}
