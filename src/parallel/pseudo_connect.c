/* pseudo_connect.c -- the identity on x, with an edge from a delegate: y = x, gx = gy,
 * and 0 to the delegate. */
#include "parallel/crossing.h"

#include <string.h>

/* The last input is x, one before it the delegate. */
static weft_status backward(const weft_node *node)
{
    const weft_tensor *gy = &node->out[0]->grad;
    const weft_tensor *gx = node->gin[node->n_in - 1];
    const weft_tensor *gd = node->n_in == 2 ? node->gin[0] : NULL;

    if (gx != NULL)
        memcpy(gx->data, gy->data, (size_t)weft_tensor_bytes(gy));
    if (gd != NULL)
        memset(gd->data, 0, (size_t)weft_tensor_bytes(gd));
    return WEFT_OK;
}

static const weft_op pseudo_connect = { .name = "pseudo_connect", .backward = backward };

static weft_var *identity(weft_tape *tape, weft_vars in)
{
    const weft_var *x = in.at[in.n - 1];
    weft_var       *y = weft_input(tape, &x->value);

    if (y == NULL || weft_record(tape, &pseudo_connect, in, weft_one(y), 0) == NULL)
        return NULL;
    return y;
}

weft_vars weft_pseudo_connect(weft_var *delegate, weft_vars x)
{
    weft_vars y = { .n = x.n };

    if (delegate == NULL)
        return x;
    for (int i = 0; i < x.n; i++) {
        const weft_vars in = weft_two(delegate, x.at[i]);
        weft_tape      *tape = weft_common_tape(in);
        y.at[i] = tape != NULL ? identity(tape, in) : NULL;
        if (y.at[i] == NULL)
            return weft_one(NULL);
    }
    return y;
}

weft_vars weft__branch(weft_tape *tape, weft_vars x)
{
    weft_vars y = { .n = x.n };

    for (int i = 0; i < x.n; i++) {
        y.at[i] = identity(tape, weft_one(x.at[i]));
        if (y.at[i] == NULL)
            return weft_one(NULL);
    }
    return y;
}
