/* step.c -- how parameters move: all at the end, or each as soon as it can. */
#include "optim/optim_impl.h"

#include <string.h>

/* Step number @p t over @p count elements of the flat vectors, from @p begin on. */
static void update(weft_optim *optim, int64_t t, int64_t begin, int64_t count)
{
    const weft_tensor *g = weft_params_flat_grads(optim->params);
    const weft_tensor *theta = weft_params_flat_values(optim->params);
    const int64_t      bytes = begin * weft_dtype_bytes(theta->dtype);
    void              *slot[WEFT_MAX_SLOTS] = { NULL };

    for (int k = 0; k < optim->n_slots; k++)
        slot[k] = (char *)optim->flat[k] + bytes;
    optim->rule->update(optim->value, t, theta->dtype, count, (char *)g->data + bytes, slot,
                        (char *)theta->data + bytes);
}

weft_status weft_optim_step(weft_optim *optim)
{
    weft_params_complete_grads(optim->params);
    WEFT_TRY(weft__hooks_run(optim->hooks, optim->params));
    update(optim, optim->t + 1, 0, weft_params_flat_values(optim->params)->count);
    optim->t++;
    weft_params_clear_grads(optim->params);
    return WEFT_OK;
}

/* ---- inside backward ----------------------------------------------------- */

static void move_one(weft_optim *optim, weft_var *x)
{
    update(optim, optim->t + 1, weft_params_offset(optim->params, x->index), x->value.count);
    optim->moved[x->index] = true;
    x->has_grad = false;
}

static bool is_ours(const weft_optim *optim, const weft_var *x)
{
    return x->index >= 0 && x->index < weft_params_n(optim->params) &&
           weft_params_var(optim->params, x->index) == x;
}

/* A parameter without a gradient waits for the end, where it counts as zero. */
static weft_status ready(void *context, weft_var *x)
{
    weft_optim *optim = context;

    if (x->has_grad && is_ours(optim, x))
        move_one(optim, x);
    return WEFT_OK;
}

static weft_status play_and_move(weft_optim *optim, weft_var *loss)
{
    const int n = weft_params_n(optim->params);

    memset(optim->moved, 0, (size_t)n * sizeof *optim->moved);
    WEFT_TRY(weft_backward(loss));
    for (int i = 0; i < n; i++) {
        weft_var *x = weft_params_var(optim->params, i);
        if (optim->moved[i])
            continue;
        if (!x->has_grad)
            weft_tensor_fill(&x->grad, 0);
        move_one(optim, x);
    }
    optim->t++;
    return WEFT_OK;
}

/* Hooks want all gradients together; and somebody who waits for gradients on this
 * tape would find them gone. */
static bool can_move_inside(const weft_optim *optim, const weft_var *loss)
{
    return optim->hooks == NULL && loss != NULL && loss->tape != NULL &&
           !weft_tape_has_on_grad(loss->tape);
}

weft_status weft_optim_minimize(weft_optim *optim, weft_var *loss)
{
    if (!can_move_inside(optim, loss)) {
        WEFT_TRY(weft_backward(loss));
        return weft_optim_step(optim);
    }

    weft_tape *tape = loss->tape;
    weft_tape_on_grad(tape, ready, optim);
    const weft_status done = play_and_move(optim, loss);
    weft_tape_on_grad(tape, NULL, NULL);
    return done;
}
