/* tape.c -- what operators write down as they run. */
#include "autograd/tape_impl.h"

#include <string.h>

enum { FIRST_BYTES = 1 << 16, FIRST_SCRATCH_BYTES = 1 << 12 };

/* ---- life ---------------------------------------------------------------- */

static weft_status open_arenas(weft_tape *tape)
{
    WEFT_TRY_NEW(tape->arena = weft_arena_create(FIRST_BYTES, NULL));
    WEFT_TRY_NEW(tape->scratch = weft_arena_create(FIRST_SCRATCH_BYTES, NULL));
    return WEFT_OK;
}

weft_tape *weft_tape_create(void)
{
    weft_tape *tape = weft_alloc_zeroed(sizeof *tape);
    if (tape == NULL)
        return NULL;
    if (open_arenas(tape) != WEFT_OK) {
        weft_tape_destroy(tape);
        return NULL;
    }
    return tape;
}

/* In the order in which they were recorded. A failure leaves the rest, and all
 * memory, as it is: a message may still be on its way into it. */
static weft_status finish_all(weft_tape *tape)
{
    for (; tape->first != NULL; tape->first = tape->first->after) {
        const weft_node *node = &tape->first->node;
        if (node->op->finish != NULL)
            WEFT_TRY(node->op->finish(node));
    }
    return WEFT_OK;
}

weft_status weft_tape_clear(weft_tape *tape)
{
    if (tape == NULL)
        return WEFT_OK;
    WEFT_TRY(finish_all(tape));
    tape->last = NULL;
    tape->played = false;
    weft_arena_clear(tape->arena);
    return WEFT_OK;
}

void weft_tape_destroy(weft_tape *tape)
{
    if (tape == NULL)
        return;
    (void)finish_all(tape);
    weft_arena_destroy(tape->scratch);
    weft_arena_destroy(tape->arena);
    weft_free(tape);
}

/* ---- how it is used ------------------------------------------------------ */

weft_status weft_tape_mode_set(weft_tape *tape, weft_mode mode)
{
    const int64_t used = weft_arena_used(tape->arena);

    if (used > 0)
        return WEFT_FAIL(WEFT_E_STATE, "the mode of a tape that holds %lld bytes: clear it first",
                         (long long)used);
    if (mode != WEFT_TRAIN && mode != WEFT_INFER && mode != WEFT_DRY)
        return WEFT_FAIL(WEFT_E_ARG, "a tape has no mode %d", (int)mode);
    tape->mode = mode;
    return WEFT_OK;
}

weft_mode weft_tape_mode(const weft_tape *tape)
{
    return tape->mode;
}

void weft_tape_step_set(weft_tape *tape, const weft_step *step)
{
    tape->step = *step;
}

const weft_step *weft_tape_step(const weft_tape *tape)
{
    return &tape->step;
}

void weft_tape_on_grad(weft_tape *tape, weft_grad_ready *ready, void *context)
{
    tape->ready = ready;
    tape->ready_context = context;
}

bool weft_tape_has_on_grad(const weft_tape *tape)
{
    return tape->ready != NULL;
}

void *weft_tape_take(weft_tape *tape, int64_t bytes)
{
    return weft_arena_take(tape->arena, bytes);
}

/* ---- recording ----------------------------------------------------------- */

static bool any_needs_grad(weft_vars x)
{
    for (int i = 0; i < x.n; i++)
        if (x.at[i]->needs_grad)
            return true;
    return false;
}

/* Whether gradients pass through it, which a dry run tells too. */
static bool passes_grad(const weft_tape *tape, const weft_op *op, weft_vars in)
{
    return tape->mode != WEFT_INFER && op->backward != NULL && any_needs_grad(in);
}

/* Whether the node has a part in backward, ... */
static bool is_played(const weft_tape *tape, const weft_op *op, weft_vars in)
{
    return tape->mode == WEFT_TRAIN && op->backward != NULL && (op->remote || any_needs_grad(in));
}

/* ... or something to wait for when the tape is cleared. */
static bool is_awaited(const weft_tape *tape, const weft_op *op)
{
    return tape->mode != WEFT_DRY && op->finish != NULL;
}

static bool any_is_null(weft_vars x)
{
    for (int i = 0; i < x.n; i++)
        if (x.at[i] == NULL)
            return true;
    return false;
}

static weft_status check_memory(const weft_tape *tape, const weft_op *op, weft_vars in)
{
    for (int i = 0; i < in.n; i++)
        if (in.at[i]->value.data == NULL && in.at[i]->value.count > 0 && tape->mode != WEFT_DRY)
            return WEFT_FAIL(WEFT_E_STATE, "%s of a parameter %s that has no memory yet", op->name,
                             weft_shape_text(&in.at[i]->value));
    return WEFT_OK;
}

static weft_var **take_copy(weft_tape *tape, weft_vars x)
{
    weft_var **at = weft_arena_take(tape->arena, (int64_t)sizeof x.at);
    if (at != NULL)
        memcpy(at, x.at, (size_t)x.n * sizeof *at);
    return at;
}

static weft_status fill(weft_tape *tape, weft_node *node, weft_vars in, weft_vars out,
                        size_t state_bytes)
{
    WEFT_TRY_NEW(node->in = take_copy(tape, in));
    WEFT_TRY_NEW(node->out = take_copy(tape, out));
    WEFT_TRY_NEW(node->gin = weft_arena_take(tape->arena, (int64_t)sizeof in.at));
    memset(node->gin, 0, sizeof in.at);
    if (state_bytes == 0)
        return WEFT_OK;
    WEFT_TRY_NEW(node->state = weft_arena_take(tape->arena, (int64_t)state_bytes));
    memset(node->state, 0, state_bytes);
    return WEFT_OK;
}

static void append(weft_tape *tape, weft__entry *entry)
{
    entry->before = tape->last;
    *(tape->last != NULL ? &tape->last->after : &tape->first) = entry;
    tape->last = entry;
}

weft_node *weft_record(weft_tape *tape, const weft_op *op, weft_vars in, weft_vars out,
                       size_t state_bytes)
{
    if (any_is_null(in) || any_is_null(out) || check_memory(tape, op, in) != WEFT_OK)
        return NULL;

    weft__entry *entry = weft_arena_take(tape->arena, sizeof *entry);
    if (entry == NULL)
        return NULL;
    *entry = (weft__entry){ .node = { .op = op, .tape = tape, .n_in = in.n, .n_out = out.n } };
    if (fill(tape, &entry->node, in, out, state_bytes) != WEFT_OK)
        return NULL;

    const bool passes = passes_grad(tape, op, in);
    for (int j = 0; j < out.n; j++)
        out.at[j]->needs_grad |= passes && weft_dtype_is_real(out.at[j]->value.dtype);
    if (is_played(tape, op, in) || is_awaited(tape, op))
        append(tape, entry);
    return &entry->node;
}

weft_var *weft_apply_like(const weft_op *op, weft_vars in, const weft_tensor *like,
                          size_t state_bytes, weft_node **node)
{
    weft_tape *tape = weft_common_tape(in);
    if (tape == NULL)
        return NULL;

    weft_var *y = weft_variable(tape, like->dtype, like->ndim, like->shape, false);
    if (y == NULL)
        return NULL;
    weft_node *made = weft_record(tape, op, in, weft_one(y), state_bytes);
    if (node != NULL)
        *node = made;
    return made != NULL ? y : NULL;
}

weft_var *weft_apply(const weft_op *op, weft_vars in, int ndim, const int64_t *shape)
{
    if (weft_common_tape(in) == NULL)
        return NULL;
    const weft_tensor like = weft_tensor_wrap(in.at[0]->value.dtype, ndim, shape, NULL);
    return weft_apply_like(op, in, &like, 0, NULL);
}
