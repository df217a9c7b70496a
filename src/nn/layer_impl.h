/* layer_impl.h -- what a layer is made of: a tree of layers with parameters. */
#ifndef WEFT__LAYER_IMPL_H
#define WEFT__LAYER_IMPL_H

#include "weft/nn.h"

typedef struct weft__param {
    char        *name;
    weft_var     var;
    weft_initial initial;
} weft__param;

typedef struct weft__child {
    char       *name;
    weft_layer *layer;
} weft__child;

struct weft_layer {
    const weft_layer_kind *kind;
    const char            *kind_name; /* kind->name, unless its maker knows a better one */
    void                  *state;
    const char            *name;   /* full; "" without params; belongs to them */
    weft_layer            *parent; /* NULL: this is a root, and its user's */
    weft_params           *params; /* NULL: described only, without memory */

    int         n_params;
    weft__param param[WEFT_MAX_PARAMS]; /* not moved: variables are borrowed */

    int          n_children, room;
    weft__child *child;
};

/* Whether @p in is @p n variables; else a failure that names the layer. */
bool weft__layer_takes(const weft_layer *layer, weft_vars in, int n);

/* Set each element of x from the stream of (seed, name). */
void weft__initial_fill(weft_initial initial, uint64_t seed, const char *name, weft_tensor *x);

/* WEFT_E_ARG for a kind of initial values that does not exist. */
weft_status weft__initial_check(weft_initial initial);

#endif
