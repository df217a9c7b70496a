/* plan.c -- the global plan of a chain list, and its edges matched as they come. */
#include "parallel/plan.h"

#include <string.h>

/* Room for one more item behind n of them. */
static weft_status grow(void **items, int n, int *room, size_t item)
{
    if (n < *room)
        return WEFT_OK;
    const int wanted = *room == 0 ? 16 : 2 * *room;
    void     *larger = weft_alloc((int64_t)wanted * (int64_t)item);
    if (larger == NULL)
        return weft_error_status();
    if (n > 0)
        memcpy(larger, *items, (size_t)n * item);
    weft_free(*items);
    *items = larger;
    *room = wanted;
    return WEFT_OK;
}

/* ---- inputs ---------------------------------------------------------------- */

static weft_status input_fits(const weft__plan *plan, const char *name, weft_dtype dtype, int ndim,
                              const int64_t *shape)
{
    if (plan->n_inputs == WEFT_MAX_VARS)
        return WEFT_FAIL(WEFT_E_ARG, "input '%s': a model has at most %d", name, WEFT_MAX_VARS);
    for (int i = 0; i < plan->n_inputs; i++)
        if (strcmp(plan->input[i].name, name) == 0)
            return WEFT_FAIL(WEFT_E_ARG, "two inputs are called '%s'", name);
    if ((int)dtype < WEFT_F32 || dtype > WEFT_U8)
        return WEFT_FAIL(WEFT_E_ARG, "input '%s' of dtype %d", name, (int)dtype);
    if (ndim < 0 || ndim > WEFT_MAX_AXES)
        return WEFT_FAIL(WEFT_E_ARG, "input '%s' of %d axes", name, ndim);
    for (int i = 0; i < ndim; i++)
        if (shape[i] < 0 && !(i == 0 && shape[i] == WEFT_ROWS))
            return WEFT_FAIL(WEFT_E_ARG, "input '%s': extent %d is %lld", name, i,
                             (long long)shape[i]);
    return WEFT_OK;
}

weft_status weft__plan_input_add(weft__plan *plan, const char *name, weft_dtype dtype, int ndim,
                                 const int64_t *shape)
{
    if (name == NULL || *name == '\0')
        return WEFT_FAIL(WEFT_E_ARG, "input %d has no name", plan->n_inputs);
    WEFT_TRY(input_fits(plan, name, dtype, ndim, shape));

    weft__plan_input *input = &plan->input[plan->n_inputs];
    WEFT_TRY_NEW(input->name = weft_text_copy(name));
    input->dtype = dtype;
    input->ndim = ndim;
    for (int i = 0; i < ndim; i++)
        input->shape[i] = shape[i];
    plan->n_inputs++;
    return WEFT_OK;
}

weft__span weft__plan_port_inputs(const weft__plan *plan, int port)
{
    const int k = WEFT_INPUT_AT(0) - port;
    if (port == WEFT_INPUT)
        return (weft__span){ 0, plan->n_inputs };
    return k >= 0 && k < plan->n_inputs ? (weft__span){ k, k + 1 } : (weft__span){ 0, 0 };
}

int weft__plan_port_output(int port)
{
    const int k = WEFT_OUTPUT_AT(0) - port;
    if (port == WEFT_OUTPUT)
        return 0;
    return k >= 0 && k < WEFT_MAX_VARS ? k : -1;
}

int64_t weft__plan_rows(const weft__plan *plan, int64_t rows)
{
    int64_t fixed = 1;
    for (int i = plan->n_inputs - 1; i >= 0; i--) {
        if (plan->input[i].ndim > 0)
            fixed = plan->input[i].shape[0];
        if (fixed == WEFT_ROWS)
            return rows;
    }
    return fixed;
}

int weft__plan_giver(const weft__plan *plan, int output)
{
    for (int i = 0; i < plan->n_components; i++)
        for (int port = 0; port < plan->component[i].to.n; port++)
            if (weft__plan_port_output(plan->component[i].to.at[port]) == output)
                return i;
    return -1;
}

/* ---- components and edges ----------------------------------------------------- */

/* The first edge of this pair of ranks with an open end, or a new one. */
static weft_status open_edge(weft__plan *plan, int from_rank, int to_rank, bool open_from,
                             int *found)
{
    for (*found = 0; *found < plan->n_edges; ++*found) {
        const weft__edge *e = &plan->edge[*found];
        if (e->from_rank == from_rank && e->to_rank == to_rank && (open_from ? e->from : e->to) < 0)
            return WEFT_OK;
    }
    void *edges = plan->edge;
    WEFT_TRY(grow(&edges, plan->n_edges, &plan->edge_room, sizeof *plan->edge));
    plan->edge = edges;
    plan->edge[plan->n_edges++] =
        (weft__edge){ .from_rank = from_rank, .to_rank = to_rank, .from = -1, .to = -1 };
    return WEFT_OK;
}

static weft_status connect_in(weft__plan *plan, int index)
{
    weft__component *c = &plan->component[index];
    for (int port = 0; port < c->from.n; port++) {
        c->in_edge[port] = -1;
        if (c->from.at[port] < 0)
            continue;
        int e;
        WEFT_TRY(open_edge(plan, c->from.at[port], c->owner, false, &e));
        plan->edge[e].to = index;
        plan->edge[e].to_port = port;
        c->in_edge[port] = e;
    }
    return WEFT_OK;
}

static weft_status connect_out(weft__plan *plan, int index)
{
    weft__component *c = &plan->component[index];
    for (int port = 0; port < c->to.n; port++) {
        c->out_edge[port] = -1;
        if (c->to.at[port] < 0)
            continue;
        int e;
        WEFT_TRY(open_edge(plan, c->owner, c->to.at[port], true, &e));
        plan->edge[e].from = index;
        plan->edge[e].from_port = port;
        c->out_edge[port] = e;
    }
    return WEFT_OK;
}

static weft_status name_fits(const weft__plan *plan, const char *name)
{
    if (*name == '\0' || strpbrk(name, "/\t\n\r") != NULL || strcmp(name, ".") == 0 ||
        strcmp(name, "..") == 0)
        return WEFT_FAIL(WEFT_E_ARG, "component %d is called '%s': names have a letter and no '/'",
                         plan->n_components, name);
    for (int i = 0; i < plan->n_components; i++)
        if (strcmp(plan->component[i].name, name) == 0)
            return WEFT_FAIL(WEFT_E_ARG, "components %d and %d are both called '%s'", i,
                             plan->n_components, name);
    return WEFT_OK;
}

weft_status weft__plan_component_add(weft__plan *plan, const char *name, int owner,
                                     weft_layer *layer, weft_ports from, weft_ports to)
{
    char place[16];
    snprintf(place, sizeof place, "%d", plan->n_components);
    WEFT_TRY(name_fits(plan, name = name != NULL ? name : place));
    if (from.n < 0 || from.n > WEFT_MAX_PORTS || to.n < 0 || to.n > WEFT_MAX_PORTS)
        return WEFT_FAIL(WEFT_E_ARG, "component '%s' with %d inputs and %d outputs: want 0 to %d",
                         name, from.n, to.n, WEFT_MAX_PORTS);

    void *components = plan->component;
    WEFT_TRY(grow(&components, plan->n_components, &plan->component_room, sizeof *plan->component));
    plan->component = components;
    char *copy;
    WEFT_TRY_NEW(copy = weft_text_copy(name));
    const int index = plan->n_components++;
    plan->component[index] =
        (weft__component){ .name = copy, .owner = owner, .layer = layer, .from = from, .to = to };
    WEFT_TRY(connect_in(plan, index));
    return connect_out(plan, index);
}

/* ---- what a component is called with ------------------------------------------ */

static weft_status append(const weft__component *c, const weft_vars *x, weft__span span,
                          weft_vars *in)
{
    if (in->n + span.end - span.begin > WEFT_MAX_VARS)
        return WEFT_FAIL(WEFT_E_PLAN, "component '%s' (rank %d) would take more than %d variables",
                         c->name, c->owner, WEFT_MAX_VARS);
    for (int i = span.begin; i < span.end; i++)
        in->at[in->n++] = x->at[i];
    return WEFT_OK;
}

weft_status weft__plan_gather(const weft__plan *plan, const weft__component *c,
                              const weft_vars *input, const weft_vars *held, weft_vars *in)
{
    in->n = 0;
    for (int port = 0; port < c->from.n; port++) {
        const int edge = c->in_edge[port];
        if (edge >= 0)
            WEFT_TRY(append(c, &held[edge], (weft__span){ 0, held[edge].n }, in));
        else
            WEFT_TRY(append(c, input, weft__plan_port_inputs(plan, c->from.at[port]), in));
    }
    return WEFT_OK;
}

/* ---- the end ------------------------------------------------------------------- */

void weft__plan_clear(weft__plan *plan)
{
    for (int i = 0; i < plan->n_inputs; i++)
        weft_free(plan->input[i].name);
    for (int i = 0; i < plan->n_components; i++)
        weft_free(plan->component[i].name);
    weft_free(plan->component);
    weft_free(plan->edge);
    *plan = (weft__plan){ 0 };
}
