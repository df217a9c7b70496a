/* plan_text.c -- the plan in words, a line a component: for snapshots and for comparison. */
#include "parallel/plan_text.h"

#include <string.h>

/* ---- pieces --------------------------------------------------------------------- */

/* "(100, 784) f32" with "rows" where the first extent is open. */
static weft_status add_input_shape(weft__text *text, const weft__plan_input *input)
{
    WEFT_TRY(weft__text_add(text, "("));
    for (int i = 0; i < input->ndim; i++) {
        WEFT_TRY(weft__text_add(text, i > 0 ? ", " : ""));
        if (input->shape[i] == WEFT_ROWS)
            WEFT_TRY(weft__text_add(text, "rows"));
        else
            WEFT_TRY(weft__text_add(text, "%lld", (long long)input->shape[i]));
    }
    return weft__text_add(text, ") %s", weft_dtype_text(input->dtype));
}

/* "l1 @0"; "? @0" as long as nobody there has sent. */
static weft_status add_end(weft__text *text, const weft__plan *plan, int component, int rank)
{
    return weft__text_add(text, "%s @%d", component >= 0 ? plan->component[component].name : "?",
                          rank);
}

static weft_status add_from_port(weft__text *text, const weft__plan *plan, const weft__component *c,
                                 int port)
{
    const weft__span span = weft__plan_port_inputs(plan, c->from.at[port]);
    const int        edge = c->in_edge[port];

    if (edge >= 0)
        return add_end(text, plan, plan->edge[edge].from, plan->edge[edge].from_rank);
    if (span.begin == span.end)
        return weft__text_add(text, "?");
    for (int i = span.begin; i < span.end; i++)
        WEFT_TRY(weft__text_add(text, "%s%s", i > span.begin ? ", " : "", plan->input[i].name));
    return WEFT_OK;
}

static weft_status add_to_port(weft__text *text, const weft__plan *plan, const weft__component *c,
                               int port)
{
    const int edge = c->out_edge[port], output = weft__plan_port_output(c->to.at[port]);

    if (edge >= 0)
        return add_end(text, plan, plan->edge[edge].to, plan->edge[edge].to_rank);
    return output >= 0 ? weft__text_add(text, "output %d", output) : weft__text_add(text, "?");
}

weft_status weft__plan_add_from(weft__text *text, const weft__plan *plan, const weft__component *c)
{
    for (int port = 0; port < c->from.n; port++) {
        WEFT_TRY(weft__text_add(text, port > 0 ? ", " : ""));
        WEFT_TRY(add_from_port(text, plan, c, port));
    }
    return WEFT_OK;
}

weft_status weft__plan_add_to(weft__text *text, const weft__plan *plan, const weft__component *c)
{
    for (int port = 0; port < c->to.n; port++) {
        WEFT_TRY(weft__text_add(text, port > 0 ? ", " : ""));
        WEFT_TRY(add_to_port(text, plan, c, port));
    }
    return WEFT_OK;
}

/* ---- a line each ------------------------------------------------------------------ */

static weft_status add_param(void *context, int component, const char *name, const weft_var *param)
{
    weft__text *text = context;
    const char *shape = weft_shape_text(&param->value);

    (void)component; /* the dtype is the model's, not the plan's */
    return weft__text_add(text, "; %s %.*s", strchr(name, '/') + 1,
                          (int)(strrchr(shape, ')') + 1 - shape), shape);
}

static weft_status add_component_line(weft__text *text, const weft__plan *plan, int index)
{
    const weft__component *c = &plan->component[index];

    WEFT_TRY(weft__text_add(text, "%s @%d: %s from ", c->name, c->owner,
                            weft_layer_kind_name(c->layer)));
    WEFT_TRY(weft__plan_add_from(text, plan, c));
    WEFT_TRY(weft__text_add(text, " to "));
    WEFT_TRY(weft__plan_add_to(text, plan, c));
    WEFT_TRY(weft__plan_each_param(plan, index, add_param, text));
    return weft__text_add(text, "\n");
}

static weft_status add_lines(weft__text *text, const weft__plan *plan)
{
    WEFT_TRY(weft__text_add(text, "%s", ""));
    for (int i = 0; i < plan->n_inputs; i++) {
        WEFT_TRY(weft__text_add(text, "input %s: ", plan->input[i].name));
        WEFT_TRY(add_input_shape(text, &plan->input[i]));
        WEFT_TRY(weft__text_add(text, "\n"));
    }
    for (int i = 0; i < plan->n_components; i++)
        WEFT_TRY(add_component_line(text, plan, i));
    return WEFT_OK;
}

char *weft__plan_text(const weft__plan *plan)
{
    weft__text text = { 0 };

    if (add_lines(&text, plan) == WEFT_OK)
        return weft__text_take(&text);
    weft__text_end(&text);
    return NULL;
}
