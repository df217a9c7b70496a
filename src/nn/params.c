/* params.c -- the parameters of a tree of layers: values in one arena, gradients in
 * another, each parameter at a multiple of WEFT_ALIGNMENT bytes, zeros between. */
#include "nn/layer_impl.h"

#include <string.h>

struct weft_params {
    weft_layer  *layer;
    int          n;
    weft_arena  *texts; /* full names, and the tables below */
    weft_arena  *values, *grads;
    weft_tensor *flat_values, *flat_grads;

    /* By index, in the order of the tree: a layer's own, then its children's. */
    weft__param **param;
    char        **name;
    int64_t      *offset; /* in elements */
    weft_tensor **value, **grad;
};

/* ---- names --------------------------------------------------------------- */

static int count_params(const weft_layer *layer)
{
    int n = layer->n_params;

    for (int i = 0; i < layer->n_children; i++)
        n += count_params(layer->child[i].layer);
    return n;
}

/* "a" and "b" -> "a/b"; nothing and "b" -> "b". */
static char *join(weft_arena *arena, const char *path, const char *name)
{
    const size_t before = strlen(path), slash = before > 0, after = strlen(name) + 1;
    char        *text = weft_arena_take(arena, (int64_t)(before + slash + after));

    if (text == NULL)
        return NULL;
    memcpy(text, path, before);
    memcpy(text + before, "/", slash);
    memcpy(text + before + slash, name, after);
    return text;
}

static weft_status list(weft_params *params, weft_layer *layer, const char *path)
{
    for (int i = 0; i < layer->n_params; i++) {
        weft__param *param = &layer->param[i];
        param->var.index = params->n++;
        params->param[param->var.index] = param;
        params->value[param->var.index] = &param->var.value;
        params->grad[param->var.index] = &param->var.grad;
        WEFT_TRY_NEW(params->name[param->var.index] = join(params->texts, path, param->name));
    }
    for (int i = 0; i < layer->n_children; i++) {
        const char *below;
        WEFT_TRY_NEW(below = join(params->texts, path, layer->child[i].name));
        WEFT_TRY(list(params, layer->child[i].layer, below));
        layer->child[i].layer->name = below;
    }
    return WEFT_OK;
}

static void *table(weft_params *params, int n, size_t each)
{
    return weft_arena_take(params->texts, (int64_t)each * (n > 0 ? n : 1));
}

static weft_status list_all(weft_params *params, weft_layer *layer)
{
    const int n = count_params(layer);

    WEFT_TRY_NEW(params->texts = weft_arena_create(4096, NULL));
    WEFT_TRY_NEW(params->param = table(params, n, sizeof *params->param));
    WEFT_TRY_NEW(params->name = table(params, n, sizeof *params->name));
    WEFT_TRY_NEW(params->offset = table(params, n, sizeof *params->offset));
    WEFT_TRY_NEW(params->value = table(params, n, sizeof *params->value));
    WEFT_TRY_NEW(params->grad = table(params, n, sizeof *params->grad));
    WEFT_TRY_NEW(params->flat_values = table(params, 1, sizeof(weft_tensor)));
    WEFT_TRY_NEW(params->flat_grads = table(params, 1, sizeof(weft_tensor)));
    return list(params, layer, "");
}

/* ---- memory -------------------------------------------------------------- */

/* @return the length of the flat vectors. */
static int64_t place_all(weft_params *params, weft_dtype dtype)
{
    const int64_t line = WEFT_ALIGNMENT / weft_dtype_bytes(dtype);
    int64_t       end = 0;

    for (int i = 0; i < params->n; i++) {
        params->offset[i] = end;
        end += (params->value[i]->count + line - 1) / line * line;
    }
    return end;
}

static weft_status take_flat(weft_arena **arena, const weft_allocator *from, weft_dtype dtype,
                             int64_t count, weft_tensor *flat)
{
    *flat = weft_tensor_wrap(dtype, 1, &count, NULL);
    const int64_t bytes = weft_tensor_bytes(flat) > 0 ? weft_tensor_bytes(flat) : WEFT_ALIGNMENT;

    WEFT_TRY_NEW(*arena = weft_arena_create(bytes, from));
    WEFT_TRY_NEW(flat->data = weft_arena_take(*arena, bytes));
    memset(flat->data, 0, (size_t)bytes);
    return WEFT_OK;
}

static void cut(weft_tensor *piece, const weft_tensor *flat, int64_t offset)
{
    piece->dtype = flat->dtype;
    piece->data = (char *)flat->data + offset * weft_dtype_bytes(flat->dtype);
}

static weft_status take_memory(weft_params *params, const weft_params_options *o)
{
    const int64_t count = place_all(params, o->dtype);

    WEFT_TRY(take_flat(&params->values, o->allocator, o->dtype, count, params->flat_values));
    WEFT_TRY(take_flat(&params->grads, o->allocator, o->dtype, count, params->flat_grads));
    for (int i = 0; i < params->n; i++) {
        cut(params->value[i], params->flat_values, params->offset[i]);
        cut(params->grad[i], params->flat_grads, params->offset[i]);
        weft__initial_fill(params->param[i]->initial, o->seed, params->name[i], params->value[i]);
    }
    return WEFT_OK;
}

/* ---- life ---------------------------------------------------------------- */

static bool any_has_memory(const weft_layer *layer)
{
    if (layer->params != NULL)
        return true;
    for (int i = 0; i < layer->n_children; i++)
        if (any_has_memory(layer->child[i].layer))
            return true;
    return false;
}

static weft_status check(const weft_layer *layer, const weft_params_options *o)
{
    WEFT_TRY_NEW(layer);
    if (any_has_memory(layer))
        return WEFT_FAIL(WEFT_E_STATE, "the %s layer, or one in it, has parameters already",
                         layer->kind_name);
    if (!weft_dtype_is_real(o->dtype))
        return WEFT_FAIL(WEFT_E_DTYPE, "parameters of %s; f32 and f64 are possible",
                         weft_dtype_text(o->dtype));
    return WEFT_OK;
}

static void attach(weft_layer *layer, weft_params *params)
{
    layer->params = params;
    for (int i = 0; i < layer->n_children; i++)
        attach(layer->child[i].layer, params);
}

static void detach(weft_layer *layer)
{
    layer->params = NULL;
    layer->name = "";
    for (int i = 0; i < layer->n_params; i++) {
        weft_var *x = &layer->param[i].var;
        x->value.data = x->grad.data = NULL;
        x->has_grad = false;
        x->index = -1;
    }
    for (int i = 0; i < layer->n_children; i++)
        detach(layer->child[i].layer);
}

static weft_status build(weft_params *params, const weft_params_options *o)
{
    WEFT_TRY(list_all(params, params->layer));
    WEFT_TRY(take_memory(params, o));
    attach(params->layer, params);
    return WEFT_OK;
}

weft_params *weft_params_create(weft_layer *layer, const weft_params_options *options)
{
    const weft_params_options o = options != NULL ? *options : (weft_params_options){ 0 };
    if (check(layer, &o) != WEFT_OK)
        return NULL;

    weft_params *params = weft_alloc_zeroed(sizeof *params);
    if (params == NULL)
        return NULL;
    params->layer = layer;
    if (build(params, &o) != WEFT_OK) {
        weft_params_destroy(params);
        return NULL;
    }
    return params;
}

void weft_params_destroy(weft_params *params)
{
    if (params == NULL)
        return;
    detach(params->layer);
    weft_arena_destroy(params->grads);
    weft_arena_destroy(params->values);
    weft_arena_destroy(params->texts);
    weft_free(params);
}

/* ---- asking -------------------------------------------------------------- */

int weft_params_n(const weft_params *params)
{
    return params->n;
}

weft_var *weft_params_var(const weft_params *params, int index)
{
    return index >= 0 && index < params->n ? &params->param[index]->var : NULL;
}

const char *weft_params_name(const weft_params *params, int index)
{
    return index >= 0 && index < params->n ? params->name[index] : NULL;
}

weft_var *weft_params_find(const weft_params *params, const char *name)
{
    for (int i = 0; i < params->n; i++)
        if (strcmp(params->name[i], name) == 0)
            return &params->param[i]->var;
    return NULL;
}

static weft_bundle bundle(const weft_params *params, weft_tensor *const *at)
{
    return (weft_bundle){ params->n, (const char *const *)params->name, at };
}

weft_bundle weft_params_values(const weft_params *params)
{
    return bundle(params, params->value);
}

weft_bundle weft_params_grads(const weft_params *params)
{
    return bundle(params, params->grad);
}

weft_tensor *weft_params_flat_values(const weft_params *params)
{
    return params->flat_values;
}

weft_tensor *weft_params_flat_grads(const weft_params *params)
{
    return params->flat_grads;
}

int64_t weft_params_offset(const weft_params *params, int index)
{
    return params->offset[index];
}

/* ---- gradients ----------------------------------------------------------- */

void weft_params_clear_grads(weft_params *params)
{
    for (int i = 0; i < params->n; i++)
        params->param[i]->var.has_grad = false;
}

void weft_params_complete_grads(weft_params *params)
{
    for (int i = 0; i < params->n; i++) {
        weft_var *x = &params->param[i]->var;
        if (!x->has_grad)
            weft_tensor_fill(&x->grad, 0);
        x->has_grad = true;
    }
}
