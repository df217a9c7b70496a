/* pseudo_connect.c -- the identity: y = x, gx = gy. With an edge from a delegate, to which
 * it gives 0; or as a branch, whose gradients are complete before they are added. */
#include "parallel/crossing.h"

#include <string.h>

/* Another name for x's memory. */
static weft_var *alias(weft_tape *tape, const weft_var *x)
{
    return weft_input(tape, &x->value);
}

static void pass(const weft_var *y, weft_tensor *gx)
{
    memcpy(gx->data, y->grad.data, (size_t)weft_tensor_bytes(gx));
}

/* ---- pseudo_connect: in is { delegate, x } ------------------------------------------- */

static weft_status connect_backward(const weft_node *node)
{
    const weft_tensor *gd = node->gin[0];

    if (node->gin[1] != NULL)
        pass(node->out[0], node->gin[1]);
    if (gd != NULL)
        memset(gd->data, 0, (size_t)weft_tensor_bytes(gd));
    return WEFT_OK;
}

static const weft_op connect_op = { .name = "pseudo_connect", .backward = connect_backward };

static weft_var *connect(weft_var *delegate, weft_var *x)
{
    const weft_vars in = weft_two(delegate, x);
    weft_tape      *tape = weft_common_tape(in);
    weft_var       *y = tape != NULL ? alias(tape, x) : NULL;

    return y != NULL && weft_record(tape, &connect_op, in, weft_one(y), 0) != NULL ? y : NULL;
}

weft_vars weft_pseudo_connect(weft_var *delegate, weft_vars x)
{
    weft_vars y = { .n = x.n };

    if (delegate == NULL)
        return x;
    for (int i = 0; i < x.n; i++) {
        y.at[i] = connect(delegate, x.at[i]);
        if (y.at[i] == NULL)
            return weft_one(NULL);
    }
    return y;
}

/* ---- branch: one node, as a send is, so that the order of sums is a send's ------------ */

static weft_status branch_backward(const weft_node *node)
{
    for (int i = 0; i < node->n_in; i++) {
        if (!node->out[i]->has_grad)
            node->gin[i] = NULL;
        else if (node->gin[i] != NULL)
            pass(node->out[i], node->gin[i]);
    }
    return WEFT_OK;
}

static const weft_op branch_op = { .name = "branch", .backward = branch_backward };

weft_vars weft__branch(weft_tape *tape, weft_vars x)
{
    weft_vars y = { .n = x.n };

    for (int i = 0; i < x.n; i++) {
        y.at[i] = alias(tape, x.at[i]);
        if (y.at[i] == NULL)
            return weft_one(NULL);
    }
    return weft_record(tape, &branch_op, x, y, 0) != NULL ? y : weft_one(NULL);
}
