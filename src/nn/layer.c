/* layer.c -- a tree of layers, with parameters under names. */
#include "nn/layer_impl.h"
#include "tensor/shape.h"

#include <stdio.h>
#include <string.h>

/* ---- life ---------------------------------------------------------------- */

weft_layer *weft_layer_create(const weft_layer_kind *kind)
{
    weft_layer *layer = weft_alloc_zeroed(sizeof *layer);
    if (layer == NULL)
        return NULL;

    layer->kind = kind;
    layer->kind_name = kind->name;
    layer->name = "";
    layer->state = weft_alloc_zeroed((int64_t)kind->state);
    if (layer->state == NULL) {
        weft_free(layer);
        return NULL;
    }
    return layer;
}

void weft_layer_destroy(weft_layer *layer)
{
    if (layer == NULL)
        return;
    for (int i = 0; i < layer->n_children; i++) {
        weft_free(layer->child[i].name);
        weft_layer_destroy(layer->child[i].layer);
    }
    for (int i = 0; i < layer->n_params; i++)
        weft_free(layer->param[i].name);
    if (layer->kind->destroy != NULL)
        layer->kind->destroy(layer->state);
    weft_free(layer->child);
    weft_free(layer->state);
    weft_free(layer);
}

/* ---- description --------------------------------------------------------- */

static bool is_used(const weft_layer *layer, const char *name)
{
    for (int i = 0; i < layer->n_params; i++)
        if (strcmp(layer->param[i].name, name) == 0)
            return true;
    for (int i = 0; i < layer->n_children; i++)
        if (strcmp(layer->child[i].name, name) == 0)
            return true;
    return false;
}

/* Names are parts of paths, also in snapshots, where "." means the group itself. */
static weft_status check_name(const weft_layer *layer, const char *name)
{
    if (layer->params != NULL)
        return WEFT_FAIL(WEFT_E_STATE, "\"%s\" comes too late: the %s layer \"%s\" has memory",
                         name, layer->kind_name, layer->name);
    if (*name == '\0' || strchr(name, '/') != NULL || strcmp(name, ".") == 0 ||
        strcmp(name, "..") == 0)
        return WEFT_FAIL(WEFT_E_ARG, "\"%s\" in a %s layer: names have a letter and no '/'", name,
                         layer->kind_name);
    if (is_used(layer, name))
        return WEFT_FAIL(WEFT_E_ARG, "two things named \"%s\" in a %s layer", name,
                         layer->kind_name);
    return WEFT_OK;
}

static weft_status check_param(const weft_layer *layer, const char *name, int ndim,
                               const int64_t *shape, weft_initial initial)
{
    const int64_t most = INT64_C(1) << 33; /* what a stream of random numbers can index */
    int64_t       count;

    WEFT_TRY_NEW(layer);
    WEFT_TRY(check_name(layer, name));
    WEFT_TRY(weft__initial_check(initial));
    if (layer->n_params == WEFT_MAX_PARAMS)
        return WEFT_FAIL(WEFT_E_ARG, "\"%s\" is parameter %d of a %s layer; %d are possible", name,
                         layer->n_params + 1, layer->kind_name, WEFT_MAX_PARAMS);
    WEFT_TRY(weft__shape_count(WEFT_F64, ndim, shape, &count));
    if (count > most)
        return WEFT_FAIL(WEFT_E_ARG, "parameter \"%s\" of %lld elements; %lld are possible", name,
                         (long long)count, (long long)most);
    return WEFT_OK;
}

weft_var *weft_layer_param(weft_layer *layer, const char *name, int ndim, const int64_t *shape,
                           weft_initial initial)
{
    if (check_param(layer, name, ndim, shape, initial) != WEFT_OK)
        return NULL;

    const weft_tensor none = weft_tensor_wrap(WEFT_F32, ndim, shape, NULL);
    weft__param      *param = &layer->param[layer->n_params];
    *param = (weft__param){
        .name = weft_text_copy(name),
        .var = { .value = none, .grad = none, .needs_grad = true, .index = -1 },
        .initial = initial,
    };
    if (param->name == NULL)
        return NULL;
    layer->n_params++;
    return &param->var;
}

static bool stands_above(const weft_layer *child, const weft_layer *layer)
{
    for (; layer != NULL; layer = layer->parent)
        if (layer == child)
            return true;
    return false;
}

static weft_status make_room(weft_layer *layer)
{
    const int    room = layer->room == 0 ? 4 : 2 * layer->room;
    weft__child *child;

    if (layer->n_children < layer->room)
        return WEFT_OK;
    WEFT_TRY_NEW(child = weft_alloc((int64_t)sizeof *child * room));
    if (layer->child != NULL)
        memcpy(child, layer->child, sizeof *child * (size_t)layer->n_children);
    weft_free(layer->child);
    layer->child = child;
    layer->room = room;
    return WEFT_OK;
}

static weft_status add_child(weft_layer *layer, const char *name, weft_layer *child)
{
    char  place[16];
    char *copy;

    WEFT_TRY_NEW(layer);
    snprintf(place, sizeof place, "%d", layer->n_children);
    if (name == NULL)
        name = place;
    WEFT_TRY(check_name(layer, name));
    if (child->params != NULL)
        return WEFT_FAIL(WEFT_E_STATE, "\"%s\" has memory already: add first, then make params",
                         name);
    WEFT_TRY(make_room(layer));
    WEFT_TRY_NEW(copy = weft_text_copy(name));
    layer->child[layer->n_children++] = (weft__child){ copy, child };
    child->parent = layer;
    return WEFT_OK;
}

weft_status weft_layer_child(weft_layer *layer, const char *name, weft_layer *child)
{
    WEFT_TRY_NEW(child);
    if (child->parent != NULL || stands_above(child, layer)) /* not ours to end, then */
        return WEFT_FAIL(WEFT_E_ARG, "\"%s\": a layer can be in one place only",
                         name != NULL ? name : child->kind_name);

    const weft_status done = add_child(layer, name, child);
    if (done != WEFT_OK)
        weft_layer_destroy(child);
    return done;
}

/* ---- running ------------------------------------------------------------- */

bool weft__layer_takes(const weft_layer *layer, weft_vars in, int n)
{
    if (in.n == n)
        return true;
    WEFT_FAIL(WEFT_E_ARG, "%s layer \"%s\" takes %d variables, not %d", layer->kind_name,
              layer->name, n, in.n);
    return false;
}

/* Parameters without memory have no dtype yet: in a dry run they are what the first
 * real input is. */
static void adopt_dtype(weft_layer *layer, weft_vars in)
{
    for (int i = 0; i < in.n; i++) {
        const weft_dtype dtype = in.at[i]->value.dtype;
        if (!weft_dtype_is_real(dtype))
            continue;
        for (int k = 0; k < layer->n_params; k++)
            layer->param[k].var.value.dtype = layer->param[k].var.grad.dtype = dtype;
        return;
    }
}

static weft_status prepare(weft_layer *layer, weft_vars in)
{
    const weft_tape *tape;

    WEFT_TRY_NEW(layer);
    WEFT_TRY_NEW(tape = weft_common_tape(in));
    if (layer->params != NULL || layer->n_params == 0)
        return WEFT_OK;
    if (weft_tape_mode(tape) != WEFT_DRY)
        return WEFT_FAIL(WEFT_E_STATE, "a %s layer without memory: see weft_params_create()",
                         layer->kind_name);
    adopt_dtype(layer, in);
    return WEFT_OK;
}

weft_vars weft_layer_forward(weft_layer *layer, weft_vars in)
{
    if (prepare(layer, in) != WEFT_OK)
        return weft_one(NULL);
    return layer->kind->forward(layer, in);
}

weft_var *weft_forward(weft_layer *layer, weft_var *x)
{
    const weft_vars y = weft_layer_forward(layer, weft_one(x));

    if (y.n != 1)
        return WEFT_FAIL_NULL(WEFT_E_ARG, "%s layer \"%s\" gives %d variables, not one",
                              layer->kind_name, layer->name, y.n);
    return y.at[0];
}

/* ---- asking -------------------------------------------------------------- */

void *weft_layer_state(weft_layer *layer)
{
    return layer->state;
}

const char *weft_layer_name(const weft_layer *layer)
{
    return layer->name;
}

const char *weft_layer_kind_name(const weft_layer *layer)
{
    return layer->kind_name;
}

int weft_layer_children(const weft_layer *layer)
{
    return layer->n_children;
}

weft_layer *weft_layer_child_at(const weft_layer *layer, int index)
{
    return layer->child[index].layer;
}

int64_t weft_layer_param_count(const weft_layer *layer)
{
    int64_t count = 0;

    for (int i = 0; i < layer->n_params; i++)
        count += layer->param[i].var.value.count;
    for (int i = 0; i < layer->n_children; i++)
        count += weft_layer_param_count(layer->child[i].layer);
    return count;
}
