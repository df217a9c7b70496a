/* scalar.c -- operators whose output is one number. */
#include "ops/ops_impl.h"

weft_var *weft__apply_scalar(const weft_op *op, weft_vars in, size_t state_bytes, weft_node **node)
{
    const weft_tensor like = { .dtype = in.at[0]->value.dtype, .count = 1 };
    return weft_apply_like(op, in, &like, state_bytes, node);
}

double weft__scalar_grad(const weft_node *node)
{
    return weft_tensor_get(&node->out[0]->grad, 0);
}
