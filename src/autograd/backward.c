/* backward.c -- play a tape from its end, strictly in reverse. */
#include "autograd/tape_impl.h"

#include <string.h>

/* ---- the beginning ------------------------------------------------------- */

static weft_status check_loss(const weft_tape *tape, const weft_var *loss)
{
    if (loss->tape != tape)
        return WEFT_FAIL(WEFT_E_STATE, "a loss that is not on the tape that is played");
    if (loss->value.count > 1)
        return WEFT_FAIL(WEFT_E_SHAPE, "backward from %s: a loss has one element",
                         weft_shape_text(&loss->value));
    return WEFT_OK;
}

/* With 1, a delegate with nothing. */
static weft_status seed(weft_tape *tape, weft_var *loss)
{
    if (loss->value.count == 0 || !loss->needs_grad)
        return WEFT_OK;
    if (!loss->has_grad)
        WEFT_TRY(weft__tensor_take(tape->arena, &loss->grad));
    weft_tensor_set(&loss->grad, 0, loss->has_grad ? weft_tensor_get(&loss->grad, 0) + 1 : 1);
    loss->has_grad = true;
    return WEFT_OK;
}

/* Counted anew for each tape, so that parameters may be on several at once. */
static void count_uses(const weft_tape *tape)
{
    for (const weft__entry *e = tape->first; e != NULL; e = e->after)
        for (int i = 0; i < e->node.n_in; i++)
            e->node.in[i]->uses = 0;
    for (const weft__entry *e = tape->first; e != NULL; e = e->after)
        for (int i = 0; i < e->node.n_in; i++)
            e->node.in[i]->uses++;
}

/* ---- one node ------------------------------------------------------------ */

static bool has_part(const weft_node *node)
{
    if (node->op->backward == NULL)
        return false;
    for (int j = 0; j < node->n_out; j++)
        if (node->out[j]->has_grad)
            return true;
    return node->op->remote;
}

static bool is_wanted_before(const weft_node *node, int index)
{
    for (int i = 0; i < index; i++)
        if (node->in[i] == node->in[index])
            return true;
    return false;
}

static weft_tensor *scratch_like(weft_tape *tape, const weft_tensor *x)
{
    weft_tensor *scratch = weft_arena_take(tape->scratch, sizeof *scratch);
    if (scratch == NULL)
        return NULL;
    *scratch = *x;
    return weft__tensor_take(tape->scratch, scratch) == WEFT_OK ? scratch : NULL;
}

/* The first contribution goes to its place, a later one aside. */
static weft_status offer(const weft_node *node, int index)
{
    weft_var *x = node->in[index];

    if (!x->needs_grad)
        return WEFT_OK;
    if (x->has_grad || is_wanted_before(node, index)) {
        WEFT_TRY_NEW(node->gin[index] = scratch_like(node->tape, &x->grad));
        return WEFT_OK;
    }
    if (x->grad.data == NULL)
        WEFT_TRY(weft__tensor_take(node->tape->arena, &x->grad));
    node->gin[index] = &x->grad;
    return WEFT_OK;
}

static void collect(const weft_node *node, int index)
{
    weft_var          *x = node->in[index];
    const weft_tensor *gx = node->gin[index];

    if (gx == NULL)
        return;
    if (x->has_grad)
        weft__accumulate(&x->grad, gx);
    else if (gx != &x->grad)
        memcpy(x->grad.data, gx->data, (size_t)weft_tensor_bytes(gx));
    x->has_grad = true;
}

static weft_status play(const weft_node *node)
{
    for (int i = 0; i < node->n_in; i++)
        WEFT_TRY(offer(node, i));

    const weft_status done = node->op->backward(node);
    if (done != WEFT_OK)
        return weft_error_trail(done, WEFT_HERE, node->op->name);

    for (int i = 0; i < node->n_in; i++)
        collect(node, i);
    weft_arena_clear(node->tape->scratch);
    return WEFT_OK;
}

static weft_status release_parameters(const weft_node *node)
{
    const weft_tape *tape = node->tape;

    for (int i = 0; i < node->n_in; i++) {
        weft_var *x = node->in[i];
        if (--x->uses == 0 && x->tape == NULL && x->needs_grad && tape->ready != NULL)
            WEFT_TRY(tape->ready(tape->ready_context, x));
    }
    return WEFT_OK;
}

/* ---- all of them --------------------------------------------------------- */

static weft_status check_playable(const weft_tape *tape)
{
    if (tape->mode != WEFT_TRAIN)
        return WEFT_FAIL(WEFT_E_STATE, "backward on a tape in %s mode, which records nothing",
                         tape->mode == WEFT_INFER ? "inference" : "dry");
    if (tape->played)
        return WEFT_FAIL(WEFT_E_STATE, "backward on a tape that was played before: clear it");
    return WEFT_OK;
}

/* NULL carries the failure that made it; a NULL from nowhere is one itself. */
static weft_status failure_before(void)
{
    const weft_status before = weft_error_status();
    return before != WEFT_OK ? before : WEFT_FAIL(WEFT_E_ARG, "backward from no variable (NULL)");
}

weft_status weft_tape_backward(weft_tape *tape, int n, weft_var *const *loss)
{
    if (tape == NULL || (n > 0 && loss == NULL))
        return weft_error_trail(failure_before(), WEFT_HERE, "weft_tape_backward");
    for (int i = 0; i < n; i++)
        if (loss[i] == NULL)
            return weft_error_trail(failure_before(), WEFT_HERE, "weft_tape_backward");
    WEFT_TRY(check_playable(tape));
    for (int i = 0; i < n; i++)
        WEFT_TRY(check_loss(tape, loss[i]));

    tape->played = true;
    for (int i = 0; i < n; i++)
        WEFT_TRY(seed(tape, loss[i]));
    count_uses(tape);
    for (const weft__entry *e = tape->last; e != NULL; e = e->before) {
        if (has_part(&e->node))
            WEFT_TRY(play(&e->node));
        WEFT_TRY(release_parameters(&e->node));
    }
    return WEFT_OK;
}

weft_status weft_backward(weft_var *loss)
{
    if (loss == NULL)
        return weft_error_trail(failure_before(), WEFT_HERE, "weft_backward");
    if (loss->tape == NULL)
        return WEFT_FAIL(WEFT_E_STATE, "backward from a parameter %s, which is on no tape",
                         weft_shape_text(&loss->value));
    return weft_tape_backward(loss->tape, 1, &loss);
}
