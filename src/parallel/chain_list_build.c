/* chain_list_build.c -- from a plan that all ranks agree on to parameters in memory. */
#include "parallel/chain_list.h"

#include <string.h>

/* ---- what this rank owns ------------------------------------------------------------- */

static weft_status hang_owned(weft_chain_list *model)
{
    const weft__plan *plan = &model->plan;

    WEFT_TRY_NEW(model->owned = weft_chain_create());
    while (model->hung < plan->n_components) {
        const weft__component *c = &plan->component[model->hung++];
        if (c->owner == model->rank)
            WEFT_TRY(weft_chain_add(model->owned, c->name, c->layer));
    }
    return WEFT_OK;
}

/* ---- where every parameter is -------------------------------------------------------- */

/* The number of the next parameter of this owner among its own. */
static int next_index(const weft_chain_list *model, int owner)
{
    for (int i = model->n_placed - 1; i >= 0; i--)
        if (model->placed[i].owner == owner)
            return model->placed[i].index + 1;
    return 0;
}

static weft_status count_param(void *context, int component, const char *name,
                               const weft_var *param)
{
    int *n = context;
    (void)component, (void)name, (void)param;
    ++*n;
    return WEFT_OK;
}

static weft_status place_param(void *context, int component, const char *name,
                               const weft_var *param)
{
    weft_chain_list   *model = context;
    const int          owner = model->plan.component[component].owner;
    const weft_tensor *x = &param->value;
    weft_placed       *p = &model->placed[model->n_placed];
    char              *copy;

    WEFT_TRY_NEW(copy = weft_arena_take(model->arena, (int64_t)strlen(name) + 1));
    strcpy(copy, name);
    *p = (weft_placed){ .name = copy,
                        .owner = owner,
                        .dtype = model->dtype,
                        .ndim = x->ndim,
                        .index = next_index(model, owner) };
    memcpy(p->shape, x->shape, sizeof p->shape);
    if (owner == model->rank)
        p->here = weft_params_var(model->params, p->index);
    model->n_placed++;
    return WEFT_OK;
}

static weft_status place_params(weft_chain_list *model)
{
    const weft__plan *plan = &model->plan;
    int               n = 0;

    for (int i = 0; i < plan->n_components; i++)
        WEFT_TRY(weft__plan_each_param(plan, i, count_param, &n));
    WEFT_TRY_NEW(model->placed = weft_arena_take(model->arena, n * (int64_t)sizeof(weft_placed)));
    for (int i = 0; i < plan->n_components; i++)
        WEFT_TRY(weft__plan_each_param(plan, i, place_param, model));
    return WEFT_OK;
}

/* ---- edges ------------------------------------------------------------------------------ */

static char *join(weft_arena *arena, const char *before, const char *from, const char *to)
{
    static const char format[] = "%s%s to %s";
    const int         length = snprintf(NULL, 0, format, before, from, to);
    char             *text = weft_arena_take(arena, length + 1);
    if (text != NULL)
        snprintf(text, (size_t)length + 1, format, before, from, to);
    return text;
}

static weft_status prepare_edges(weft_chain_list *model)
{
    const weft__plan *plan = &model->plan;
    const int64_t     n = plan->n_edges;

    WEFT_TRY_NEW(model->held = weft_arena_take(model->arena, n * (int64_t)sizeof *model->held));
    WEFT_TRY_NEW(model->there = weft_arena_take(model->arena, n * (int64_t)sizeof *model->there));
    WEFT_TRY_NEW(model->back = weft_arena_take(model->arena, n * (int64_t)sizeof *model->back));
    for (int64_t i = 0; i < n; i++) {
        const char *from = plan->component[plan->edge[i].from].name;
        const char *to = plan->component[plan->edge[i].to].name;
        WEFT_TRY_NEW(model->there[i] = join(model->arena, "", from, to));
        WEFT_TRY_NEW(model->back[i] = join(model->arena, "gradient of ", from, to));
    }
    return WEFT_OK;
}

/* ---- all of it ---------------------------------------------------------------------------- */

static weft_status check_shapes(weft_chain_list *model)
{
    const weft__plan_shapes *shapes;
    weft__chain_list_forget_shapes(model);
    return weft__chain_list_shapes(model, WEFT__TRIAL_ROWS, &shapes);
}

static weft_status check(weft_chain_list *model)
{
    const int64_t n = model->plan.n_components;

    WEFT_TRY_NEW(model->order = weft_arena_take(model->arena, n * (int64_t)sizeof *model->order));
    WEFT_TRY(weft__plan_check(&model->plan, weft_comm_size(model->comm), model->order));
    return check_shapes(model);
}

/* What this rank alone can fail. */
static weft_status build_here(weft_chain_list *model, const weft_params_options *options)
{
    model->dtype = options->dtype;
    WEFT_TRY_NEW(model->arena = weft_arena_create(4096, NULL));
    WEFT_TRY(check(model));
    WEFT_TRY(hang_owned(model));
    WEFT_TRY_NEW(model->params = weft_params_create(model->owned, options));
    WEFT_TRY(place_params(model));
    WEFT_TRY(prepare_edges(model));
    return check_shapes(model); /* parameters now have the dtype asked for */
}

weft_status weft_chain_list_build(weft_chain_list *model, const weft_params_options *options)
{
    const weft_params_options defaults = { 0 };

    if (options == NULL)
        options = &defaults;
    if (model->comm == NULL)
        return WEFT_FAIL(WEFT_E_STATE, "build of a plan without a communicator");
    if (model->is_begun)
        return WEFT_FAIL(WEFT_E_STATE, "weft_chain_list_build() for the second time");
    model->is_begun = true;
    WEFT_TRY(weft__chain_list_compare(model, options));
    WEFT_TRY(weft_comm_agree(model->comm, build_here(model, options), "build of a chain list"));
    model->is_built = true;
    return WEFT_OK;
}

void weft__chain_list_unbuild(weft_chain_list *model)
{
    weft_params_destroy(model->params);
    weft_layer_destroy(model->owned);
    weft_arena_destroy(model->arena);
}
