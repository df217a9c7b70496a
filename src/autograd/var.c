/* var.c -- a value and its gradient. */
#include "autograd/tape_impl.h"
#include "tensor/shape.h"

#include <math.h>
#include <string.h>

weft_vars weft_one(weft_var *x)
{
    return (weft_vars){ 1, { x } };
}

weft_vars weft_two(weft_var *x, weft_var *y)
{
    return (weft_vars){ 2, { x, y } };
}

/* ---- making them --------------------------------------------------------- */

/* NULL was handed on: with the failure that made it. */
static weft_var *pass_on(const char *call)
{
    weft_error_trail(weft_error_status(), WEFT_HERE, call);
    return NULL;
}

/* With neither value nor gradient in memory, not needing one. */
static weft_var *describe(weft_tape *tape, weft_dtype dtype, int ndim, const int64_t *shape)
{
    int64_t count;

    if (weft__shape_count(dtype, ndim, shape, &count) != WEFT_OK)
        return NULL;

    weft_var *x = weft_arena_take(tape->arena, sizeof *x);
    if (x == NULL)
        return NULL;
    const weft_tensor none = weft_tensor_wrap(dtype, ndim, shape, NULL);
    *x = (weft_var){ .value = none, .grad = none, .tape = tape, .index = -1 };
    return x;
}

weft_status weft__tensor_take(weft_arena *arena, weft_tensor *x)
{
    WEFT_TRY_NEW(x->data = weft_arena_take(arena, weft_tensor_bytes(x)));
    return WEFT_OK;
}

weft_var *weft_variable(weft_tape *tape, weft_dtype dtype, int ndim, const int64_t *shape,
                        bool needs_grad)
{
    weft_var *x = describe(tape, dtype, ndim, shape);
    if (x == NULL)
        return NULL;
    if (tape->mode != WEFT_DRY && weft__tensor_take(tape->arena, &x->value) != WEFT_OK)
        return NULL;
    x->needs_grad = needs_grad && tape->mode != WEFT_INFER && weft_dtype_is_real(dtype);
    return x;
}

weft_var *weft_input(weft_tape *tape, const weft_tensor *value)
{
    if (tape == NULL || value == NULL)
        return pass_on("weft_input");
    if (value->data == NULL && value->count > 0 && tape->mode != WEFT_DRY)
        return WEFT_FAIL_NULL(WEFT_E_ARG, "an input %s without data", weft_shape_text(value));

    weft_var *x = describe(tape, value->dtype, value->ndim, value->shape);
    if (x != NULL && tape->mode != WEFT_DRY)
        x->value.data = value->data;
    return x;
}

/* ---- asking them --------------------------------------------------------- */

bool weft_has_data(const weft_var *x)
{
    if (x == NULL)
        return false;
    return x->tape != NULL ? x->tape->mode != WEFT_DRY : x->value.data != NULL;
}

double weft_item(const weft_var *x)
{
    if (x == NULL || x->value.count != 1 || x->value.data == NULL)
        return nan("");
    return weft_tensor_get(&x->value, 0);
}

weft_tape *weft_common_tape(weft_vars x)
{
    weft_tape *tape = NULL;

    for (int i = 0; i < x.n; i++) {
        if (x.at[i] == NULL)
            return NULL;
        if (x.at[i]->tape == NULL || x.at[i]->tape == tape)
            continue;
        if (tape != NULL)
            return WEFT_FAIL_NULL(WEFT_E_STATE, "variables of two tapes meet: %s and %s",
                                  weft_shape_text(&x.at[0]->value),
                                  weft_shape_text(&x.at[i]->value));
        tape = x.at[i]->tape;
    }
    if (tape == NULL)
        return WEFT_FAIL_NULL(WEFT_E_STATE, "none of %d variables is on a tape: see weft_on()",
                              x.n);
    return tape;
}

/* ---- a parameter on a tape ----------------------------------------------- */

static weft_status on_backward(const weft_node *node)
{
    const weft_tensor *gy = &node->out[0]->grad;

    memcpy(node->gin[0]->data, gy->data, (size_t)weft_tensor_bytes(gy));
    return WEFT_OK;
}

static const weft_op on = { .name = "on", .backward = on_backward };

weft_var *weft_on(weft_tape *tape, weft_var *parameter)
{
    if (parameter == NULL)
        return NULL;
    weft_var *x = weft_input(tape, &parameter->value);
    if (x == NULL || weft_record(tape, &on, weft_one(parameter), weft_one(x), 0) == NULL)
        return NULL;
    return x;
}
