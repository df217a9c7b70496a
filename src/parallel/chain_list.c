/* chain_list.c -- a model as a list of components, each owned by a rank: made,
 * checked, asked. */
#include "parallel/chain_list.h"
#include "nn/layer_impl.h"

/* ---- life -------------------------------------------------------------------------- */

weft_chain_list *weft_chain_list_create(weft_comm *comm)
{
    weft_chain_list *model = weft_alloc_zeroed(sizeof *model);
    if (model == NULL)
        return NULL;
    model->rank = -1;
    if (comm == NULL)
        return model;

    model->rank = weft_comm_rank(comm);
    model->comm = weft_comm_split(comm, 0, model->rank);
    if (model->comm == NULL) {
        weft_free(model);
        return NULL;
    }
    return model;
}

void weft__chain_list_forget_shapes(weft_chain_list *model)
{
    for (int i = 0; i < WEFT__KNOWN_ROWS; i++)
        weft__plan_shapes_clear(&model->known[i]);
}

static void destroy_layers(weft_chain_list *model)
{
    for (int i = 0; i < model->plan.n_components; i++)
        if (i >= model->hung || model->plan.component[i].owner != model->rank)
            weft_layer_destroy(model->plan.component[i].layer);
}

void weft_chain_list_destroy(weft_chain_list *model)
{
    if (model == NULL)
        return;
    weft_comm_destroy(model->comm); /* before the labels of what is in flight */
    weft__chain_list_unbuild(model);
    destroy_layers(model);
    weft__plan_clear(&model->plan);
    weft__chain_list_forget_shapes(model);
    weft_free(model);
}

/* ---- description --------------------------------------------------------------------- */

static weft_status check_open(const weft_chain_list *model, const char *what, const char *name)
{
    if (model->is_begun)
        return WEFT_FAIL(WEFT_E_STATE, "%s '%s' comes after weft_chain_list_build()", what,
                         name != NULL ? name : "");
    return WEFT_OK;
}

weft_status weft_chain_list_input(weft_chain_list *model, const char *name, weft_dtype dtype,
                                  int ndim, const int64_t *shape)
{
    WEFT_TRY(check_open(model, "input", name));
    weft__chain_list_forget_shapes(model);
    return weft__plan_input_add(&model->plan, name, dtype, ndim, shape);
}

static weft_status add(weft_chain_list *model, const char *name, int owner, weft_layer *layer,
                       weft_ports from, weft_ports to)
{
    WEFT_TRY(check_open(model, "component", name));
    weft__chain_list_forget_shapes(model);
    return weft__plan_component_add(&model->plan, name, owner, layer, from, to);
}

static bool has_place(const weft_chain_list *model, const weft_layer *layer)
{
    for (int i = 0; i < model->plan.n_components; i++)
        if (model->plan.component[i].layer == layer)
            return true;
    return layer->parent != NULL;
}

weft_status weft_chain_list_add(weft_chain_list *model, const char *name, int owner,
                                weft_layer *layer, weft_ports from, weft_ports to)
{
    if (layer == NULL && weft_error_status() == WEFT_OK)
        return WEFT_FAIL(WEFT_E_ARG, "component '%s' has no layer", name != NULL ? name : "");
    if (layer == NULL)
        return weft_error_trail(weft_error_status(), WEFT_HERE, "weft_chain_list_add");
    if (has_place(model, layer)) /* not ours to end, then */
        return WEFT_FAIL(WEFT_E_ARG, "component '%s': a layer can be in one place only",
                         name != NULL ? name : layer->kind_name);

    const int         before = model->plan.n_components;
    const weft_status done = add(model, name, owner, layer, from, to);
    if (model->plan.n_components == before)
        weft_layer_destroy(layer);
    return done;
}

/* ---- checks ------------------------------------------------------------------------- */

/* The plan's order and shapes, for a number of ranks and rows. */
static weft_status find_shapes(const weft_chain_list *model, int ranks, int64_t rows,
                               weft__plan_shapes *shapes)
{
    int *order = weft_alloc(model->plan.n_components * (int64_t)sizeof *order);
    if (order == NULL)
        return weft_error_status();

    weft_status done = weft__plan_check(&model->plan, ranks, order);
    if (done == WEFT_OK)
        done = weft__plan_shapes_find(shapes, &model->plan, order, rows);
    weft_free(order);
    return done;
}

weft_status weft_chain_list_check(weft_chain_list *model, int ranks, int64_t rows)
{
    weft__plan_shapes shapes;
    WEFT_TRY(find_shapes(model, ranks, rows, &shapes));
    weft__plan_shapes_clear(&shapes);
    return WEFT_OK;
}

weft_status weft_chain_list_print(weft_chain_list *model, int ranks, int64_t rows, FILE *to)
{
    weft__plan_shapes shapes;
    WEFT_TRY(find_shapes(model, ranks, rows, &shapes));
    const weft_status done = weft__plan_print(&model->plan, &shapes, ranks, to);
    weft__plan_shapes_clear(&shapes);
    return done;
}

weft_status weft__chain_list_shapes(weft_chain_list *model, int64_t rows,
                                    const weft__plan_shapes **shapes)
{
    rows = weft__plan_rows(&model->plan, rows);
    for (int i = 0; i < WEFT__KNOWN_ROWS; i++) {
        *shapes = &model->known[i];
        if (model->known[i].rows == rows && rows > 0)
            return WEFT_OK;
    }

    weft__plan_shapes  found;
    weft__plan_shapes *place = &model->known[model->oldest];
    WEFT_TRY(weft__plan_shapes_find(&found, &model->plan, model->order, rows));
    model->oldest = (model->oldest + 1) % WEFT__KNOWN_ROWS;
    weft__plan_shapes_clear(place);
    *place = found;
    *shapes = place;
    return WEFT_OK;
}

/* ---- asking -------------------------------------------------------------------------- */

char *weft_chain_list_text(const weft_chain_list *model)
{
    return weft__plan_text(&model->plan);
}

int weft_chain_list_n(const weft_chain_list *model)
{
    return model->plan.n_components;
}

const char *weft_chain_list_name(const weft_chain_list *model, int index)
{
    return model->plan.component[index].name;
}

int weft_chain_list_owner(const weft_chain_list *model, int index)
{
    return model->plan.component[index].owner;
}

int weft_chain_list_output_owner(const weft_chain_list *model)
{
    const int giver = weft__plan_giver(&model->plan, 0);
    return giver >= 0 ? model->plan.component[giver].owner : -1;
}

weft_params *weft_chain_list_params(const weft_chain_list *model)
{
    return model->params;
}

int weft_chain_list_placed(const weft_chain_list *model, const weft_placed **placed)
{
    *placed = model->placed;
    return model->n_placed;
}
