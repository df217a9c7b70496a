/* plan_params.c -- the parameters of every component, in memory or not, by full name. */
#include "parallel/plan.h"
#include "base/text.h"
#include "nn/layer_impl.h"

/* A walk over one component. */
typedef struct walk {
    int                component;
    weft__param_visit *visit;
    void              *context;
} walk;

static weft_status walk_layer(const walk *w, const weft_layer *layer, const char *path);

static weft_status visit_under(const walk *w, const weft_layer *layer, const char *path,
                               const char *name, int index, weft__text *full)
{
    weft__text_clear(full);
    WEFT_TRY(weft__text_add(full, "%s/%s", path, name));
    if (index < layer->n_params)
        return w->visit(w->context, w->component, full->bytes, &layer->param[index].var);
    return walk_layer(w, layer->child[index - layer->n_params].layer, full->bytes);
}

/* A layer's own, then those of the layers in it. */
static weft_status walk_layer(const walk *w, const weft_layer *layer, const char *path)
{
    weft__text  full = { 0 };
    weft_status done = WEFT_OK;

    for (int i = 0; i < layer->n_params + layer->n_children && done == WEFT_OK; i++) {
        const char *name =
            i < layer->n_params ? layer->param[i].name : layer->child[i - layer->n_params].name;
        done = visit_under(w, layer, path, name, i, &full);
    }
    weft__text_end(&full);
    return done;
}

weft_status weft__plan_each_param(const weft__plan *plan, int component, weft__param_visit *visit,
                                  void *context)
{
    const weft__component *c = &plan->component[component];
    const walk             w = { component, visit, context };
    return walk_layer(&w, c->layer, c->name);
}
