/* plan_shapes.c -- what flows over each edge: every component is run dry, from the
 * declared inputs on, for batches of so many rows. */
#include "parallel/plan.h"

#include <string.h>

/* The variables of the model while a run lasts. */
typedef struct run {
    const weft__plan *plan;
    weft_tape        *tape;
    weft_vars         input;
    weft_vars        *held; /* by edge */
} run;

/* ---- one component ----------------------------------------------------------------- */

/* "(12, 784) f32, (12) i32", for a message. */
static const char *tuple_text(const weft_vars *x, char *text, size_t room)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < x->n && used < room; i++)
        used += (size_t)snprintf(text + used, room - used, "%s%s", i > 0 ? ", " : "",
                                 weft_shape_text(&x->at[i]->value));
    return text;
}

/* The message of the last failure without the sentence of its kind. */
static const char *last_detail(void)
{
    const char  *message = weft_error_message(), *kind = weft_status_text(weft_error_status());
    const size_t length = strlen(kind);
    return strncmp(message, kind, length) == 0 ? message + length + strspn(message + length, ": ")
                                               : message;
}

static weft_status refused(const weft__component *c, const weft_vars *in, weft_status why)
{
    char text[300];
    if (why == WEFT_OK)
        return WEFT_FAIL(WEFT_E_PLAN,
                         "component '%s' (rank %d), given %s, gives a NULL and no "
                         "reason",
                         c->name, c->owner, tuple_text(in, text, sizeof text));
    return WEFT_FAIL(why, "component '%s' (rank %d), given %s: %s", c->name, c->owner,
                     tuple_text(in, text, sizeof text), last_detail());
}

static void keep(weft__plan_parts *parts, const weft_vars *x)
{
    parts->n = x->n;
    for (int i = 0; i < x->n; i++) {
        const weft_tensor *value = &x->at[i]->value;
        weft__plan_part   *part = &parts->at[i];
        part->dtype = value->dtype;
        part->ndim = value->ndim;
        memcpy(part->shape, value->shape, sizeof part->shape);
        part->has_gradient = x->at[i]->needs_grad;
    }
}

static weft_status run_one(const run *r, const weft__component *c, weft__plan_parts *parts)
{
    weft_vars in;

    WEFT_TRY(weft__plan_gather(r->plan, c, &r->input, r->held, &in));
    weft_error_clear();
    const weft_vars out = weft_layer_forward(c->layer, in);
    if (out.n < 1 || out.n > WEFT_MAX_VARS)
        return WEFT_FAIL(WEFT_E_PLAN, "component '%s' (rank %d) gives %d variables: want 1 to %d",
                         c->name, c->owner, out.n, WEFT_MAX_VARS);
    for (int i = 0; i < out.n; i++)
        if (out.at[i] == NULL)
            return refused(c, &in, weft_error_status());
    keep(parts, &out);
    for (int port = 0; port < c->to.n; port++)
        if (c->out_edge[port] >= 0)
            r->held[c->out_edge[port]] = out;
    return WEFT_OK;
}

/* ---- all of them --------------------------------------------------------------------- */

static weft_status describe_inputs(run *r, int64_t rows)
{
    for (int i = 0; i < r->plan->n_inputs; i++) {
        weft__plan_input input = r->plan->input[i];
        if (input.ndim > 0 && input.shape[0] == WEFT_ROWS)
            input.shape[0] = rows;
        WEFT_TRY_NEW(r->input.at[i] =
                         weft_variable(r->tape, input.dtype, input.ndim, input.shape, false));
        r->input.n++;
    }
    return WEFT_OK;
}

static weft_status outputs_fit(const weft__plan *plan, const weft__plan_shapes *shapes)
{
    int n = 0;
    for (int k = 0, giver; (giver = weft__plan_giver(plan, k)) >= 0; k++)
        n += shapes->of[giver].n;
    if (n > WEFT_MAX_VARS)
        return WEFT_FAIL(WEFT_E_PLAN, "the model gives %d variables: want at most %d", n,
                         WEFT_MAX_VARS);
    return WEFT_OK;
}

static weft_status run_all(run *r, const int *order, const weft__plan_shapes *shapes)
{
    WEFT_TRY(weft_tape_mode_set(r->tape, WEFT_DRY));
    weft_tape_step_set(r->tape, &(weft_step){ .rows = shapes->rows });
    WEFT_TRY(describe_inputs(r, shapes->rows));
    for (int i = 0; i < r->plan->n_components; i++)
        WEFT_TRY(run_one(r, &r->plan->component[order[i]], &shapes->of[order[i]]));
    return outputs_fit(r->plan, shapes);
}

weft_status weft__plan_shapes_find(weft__plan_shapes *shapes, const weft__plan *plan,
                                   const int *order, int64_t rows)
{
    rows = weft__plan_rows(plan, rows);
    if (rows < 1)
        return WEFT_FAIL(WEFT_E_ARG, "a batch of %lld rows", (long long)rows);

    run r = { .plan = plan,
              .tape = weft_tape_create(),
              .held = weft_alloc(plan->n_edges * (int64_t)sizeof *r.held) };
    *shapes = (weft__plan_shapes){ rows, weft_alloc_zeroed(plan->n_components *
                                                           (int64_t)sizeof *shapes->of) };

    const weft_status done = r.tape == NULL || r.held == NULL || shapes->of == NULL
                                 ? weft_error_status()
                                 : run_all(&r, order, shapes);
    weft_free(r.held);
    weft_tape_destroy(r.tape);
    if (done != WEFT_OK)
        weft__plan_shapes_clear(shapes);
    return done;
}

void weft__plan_shapes_clear(weft__plan_shapes *shapes)
{
    weft_free(shapes->of);
    *shapes = (weft__plan_shapes){ 0 };
}

weft__part_set weft__plan_gradients(const weft__plan_parts *parts)
{
    weft__part_set set = 0;
    for (int i = 0; i < parts->n; i++)
        set |= parts->at[i].has_gradient ? 1U << i : 0;
    return set;
}

int64_t weft__plan_parts_bytes(const weft__plan_parts *parts, bool gradients)
{
    int64_t bytes = 0;
    for (int i = 0; i < parts->n; i++) {
        const weft__plan_part *p = &parts->at[i];
        int64_t                n = weft_dtype_bytes(p->dtype);
        for (int axis = 0; axis < p->ndim; axis++)
            n *= p->shape[axis];
        bytes += !gradients || p->has_gradient ? n : 0;
    }
    return bytes;
}
