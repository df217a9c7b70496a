/* chain_list_run.c -- one step forward: this rank's components in the order of the
 * list, what they need received before, what they give sent after.
 *
 * The order of sums is that of the plan, whoever owns what: where a value goes to
 * several places, each has a node of its own on the tape, in declared order, a send
 * or an identity; so the gradients that come back from each are complete before
 * they are added, last place first.
 */
#include "parallel/chain_list.h"
#include "parallel/crossing.h"

/* One step. */
typedef struct step {
    weft_chain_list         *model;
    weft_tape               *tape;
    const weft__plan_shapes *shapes;
    weft_vars                input;
    weft_vars                output[WEFT_MAX_VARS]; /* those given here; n is 0 for others */
} step;

/* ---- inputs ----------------------------------------------------------------------------- */

static bool input_fits(const weft_tensor *x, const weft__plan_input *input, int64_t rows)
{
    if (x->dtype != input->dtype || x->ndim != input->ndim)
        return false;
    for (int i = 0; i < x->ndim; i++)
        if (x->shape[i] != (input->shape[i] == WEFT_ROWS ? rows : input->shape[i]))
            return false;
    return true;
}

static weft_status check_input(const step *s, int index)
{
    const weft__plan_input *input = &s->model->plan.input[index];
    const weft_var         *x = index < s->input.n ? s->input.at[index] : NULL;
    const int64_t           rows = s->shapes->rows;

    if (x == NULL)
        return WEFT_FAIL(WEFT_E_ARG, "rank %d has no data for the model's input '%s'",
                         s->model->rank, input->name);
    if (x->tape != s->tape)
        return WEFT_FAIL(WEFT_E_STATE, "the model's input '%s' is on another tape", input->name);
    if (!input_fits(&x->value, input, rows)) {
        const weft_tensor like = weft_tensor_wrap(input->dtype, input->ndim, input->shape, NULL);
        return WEFT_FAIL(x->value.dtype != input->dtype ? WEFT_E_DTYPE : WEFT_E_SHAPE,
                         "the model's input '%s' is %s in a step of %lld rows, declared as %s",
                         input->name, weft_shape_text(&x->value), (long long)rows,
                         weft_shape_text(&like));
    }
    return WEFT_OK;
}

/* Only those that a component here takes. */
static weft_status check_inputs_of(const step *s, const weft__component *c)
{
    for (int port = 0; port < c->from.n; port++) {
        const weft__span span = weft__plan_port_inputs(&s->model->plan, c->from.at[port]);
        for (int i = span.begin; i < span.end; i++)
            WEFT_TRY(check_input(s, i));
    }
    return WEFT_OK;
}

/* ---- edges ------------------------------------------------------------------------------- */

static weft__ways ways_of(const step *s, int edge, int peer)
{
    return weft__ways_of(s->tape, peer, edge, s->model->there[edge], s->model->back[edge]);
}

static weft_status check_made(weft_vars x)
{
    for (int i = 0; i < x.n; i++)
        if (x.at[i] == NULL)
            return weft_error_status() != WEFT_OK
                       ? weft_error_status()
                       : WEFT_FAIL(WEFT_E_STATE, "a NULL without a reason");
    return WEFT_OK;
}

static weft_status receive(const step *s, const weft__component *c)
{
    weft_chain_list *model = s->model;

    for (int port = 0; port < c->from.n; port++) {
        const int edge = c->in_edge[port];
        if (edge < 0 || c->from.at[port] == model->rank)
            continue;
        const weft__ways ways = ways_of(s, edge, c->from.at[port]);
        model->held[edge] =
            weft__cross_recv(model->comm, s->tape, &ways,
                             &s->shapes->of[model->plan.edge[edge].from], (weft_vars){ 0 });
        WEFT_TRY(check_made(model->held[edge]));
    }
    return WEFT_OK;
}

static bool has_twins(weft_vars x)
{
    for (int i = 0; i < x.n; i++)
        for (int j = 0; j < i; j++)
            if (x.at[i] == x.at[j])
                return true;
    return false;
}

/* To one place: another rank, this one, or the model's output. */
static weft_status deliver_to(step *s, const weft__component *c, int port, weft_vars y)
{
    weft_chain_list        *model = s->model;
    const int               edge = c->out_edge[port], peer = c->to.at[port];
    const weft__plan_parts *parts = &s->shapes->of[c - model->plan.component];

    if (edge >= 0 && peer != model->rank) {
        const weft__ways ways = ways_of(s, edge, peer);
        WEFT_TRY_NEW(weft__cross_send(model->comm, s->tape, y, &ways, weft__plan_gradients(parts)));
        return WEFT_OK;
    }
    if (c->to.n > 1 || has_twins(y))
        y = weft__branch(s->tape, y);
    if (edge >= 0)
        model->held[edge] = y;
    else
        s->output[weft__plan_port_output(peer)] = y;
    return check_made(y);
}

/* ---- components --------------------------------------------------------------------------- */

static weft_status run_component(step *s, const weft__component *c)
{
    weft_vars x;

    WEFT_TRY(check_inputs_of(s, c));
    WEFT_TRY(receive(s, c));
    WEFT_TRY(weft__plan_gather(&s->model->plan, c, &s->input, s->model->held, &x));
    const weft_vars y = weft_layer_forward(c->layer, x);
    const int       n = s->shapes->of[c - s->model->plan.component].n;
    WEFT_TRY(check_made(y));
    if (y.n != n)
        return WEFT_FAIL(WEFT_E_STATE, "component '%s' gives %d variables, and %d in a dry run",
                         c->name, y.n, n);
    for (int port = 0; port < c->to.n; port++)
        WEFT_TRY(deliver_to(s, c, port, y));
    return WEFT_OK;
}

static weft_status check_step(const step *s, int64_t rows)
{
    const int n = s->model->plan.n_inputs;

    if (!s->model->is_built)
        return WEFT_FAIL(WEFT_E_STATE, "weft_chain_list_forward() before weft_chain_list_build()");
    if (weft_tape_mode(s->tape) == WEFT_DRY)
        return WEFT_FAIL(WEFT_E_STATE, "weft_chain_list_forward() on a tape in dry mode");
    if (rows < 1)
        return WEFT_FAIL(WEFT_E_STATE, "a step of %lld rows: see weft_tape_step_set()",
                         (long long)rows);
    if (s->input.n != n && s->input.n != 0)
        return WEFT_FAIL(WEFT_E_ARG, "%d inputs for a model of %d", s->input.n, n);
    return WEFT_OK;
}

/* ---- what the model gives ------------------------------------------------------------------- */

/* Output k, or as many delegates where another rank gives it. */
static weft_status collect(const step *s, int k, int n, weft_vars *all)
{
    for (int i = 0; i < n; i++) {
        weft_var *y = s->output[k].n > 0 ? s->output[k].at[i] : weft__delegate(s->tape);
        WEFT_TRY_NEW(y);
        all->at[all->n++] = y;
    }
    return WEFT_OK;
}

static weft_status run(step *s, weft_vars *all)
{
    const weft__plan *plan = &s->model->plan;
    const int64_t     rows = weft__plan_rows(plan, weft_tape_step(s->tape)->rows);

    WEFT_TRY(check_step(s, rows));
    WEFT_TRY(weft__chain_list_shapes(s->model, rows, &s->shapes));
    for (int i = 0; i < plan->n_components; i++)
        if (plan->component[i].owner == s->model->rank)
            WEFT_TRY(run_component(s, &plan->component[i]));
    for (int k = 0, giver; (giver = weft__plan_giver(plan, k)) >= 0; k++)
        WEFT_TRY(collect(s, k, s->shapes->of[giver].n, all));
    return WEFT_OK;
}

weft_vars weft_chain_list_forward(weft_chain_list *model, weft_tape *tape, weft_vars input)
{
    step      s = { .model = model, .tape = tape, .input = input };
    weft_vars all = { 0 };
    return run(&s, &all) == WEFT_OK ? all : weft_one(NULL);
}
