/** @file nn.h -- layers, chains, names, initial values; how to write a layer.
 *
 * A layer owns parameters and other layers, under names. It is first described
 * (weft_linear_create(), weft_chain_add()), which allocates nothing, and then
 * given memory and initial values by weft_params_create(). A parameter's full
 * name is the path to it, "l1/W"; its initial value depends on (seed, full name,
 * index) and on nothing else, so a model cut over ranks starts like the whole.
 */
#ifndef WEFT_NN_H
#define WEFT_NN_H

#include "weft/ops.h"

WEFT_BEGIN

typedef struct weft_layer weft_layer;

/* ---- initial values ------------------------------------------------------ */

typedef enum weft_initial_kind {
    WEFT_CONSTANT,       /**< scale */
    WEFT_LECUN_NORMAL,   /**< N(0, s^2), s = scale sqrt(1 / fan_in): Y. LeCun et al.,
                              Efficient BackProp, 1998 */
    WEFT_LECUN_UNIFORM,  /**< U(-s, s), s = scale sqrt(3 / fan_in) */
    WEFT_GLOROT_NORMAL,  /**< s = scale sqrt(2 / (fan_in + fan_out)): X. Glorot and Y.
                              Bengio, AISTATS 2010 */
    WEFT_GLOROT_UNIFORM, /**< s = scale sqrt(6 / (fan_in + fan_out)) */
    WEFT_HE_NORMAL,      /**< s = scale sqrt(2 / fan_in): K. He et al., ICCV 2015 */
    WEFT_HE_UNIFORM,     /**< s = scale sqrt(6 / fan_in) */
} weft_initial_kind;

/** How a parameter starts. For W (out, in, ...) fan_in is the product of all
 * extents but the first, fan_out that of all but the second. */
typedef struct weft_initial {
    weft_initial_kind kind;
    double            scale; /**< of WEFT_CONSTANT the value; of others a factor, usually 1 */
} weft_initial;

/* ---- layers -------------------------------------------------------------- */

typedef struct weft_linear_options {
    bool         relu;    /**< y = max(0, x W^T + b), fused */
    bool         no_bias; /**< no b */
    weft_initial W;       /**< default: LeCun normal, scale 1 */
    weft_initial b;       /**< default: 0 */
} weft_linear_options;

/** With a bias, without ReLU, W LeCun normal, b 0: to be changed and passed on. */
WEFT_API weft_linear_options weft_linear_defaults(void);

/** y = x W^T + b.   x (n, in), W (out, in), b (out), y (n, out); parameters "W",
 * "b". @p options NULL: weft_linear_defaults(). Owned. */
WEFT_API weft_layer *weft_linear_create(int64_t in, int64_t out,
                                        const weft_linear_options *options);

/** A layer without parameters from a formula of one variable:
 * weft_function_create("relu", weft_relu). The name is copied. Owned. */
WEFT_API weft_layer *weft_function_create(const char *name, weft_var *(*formula)(weft_var *));

/** Dropout as a layer: its draws are keyed by its full name. Owned. */
WEFT_API weft_layer *weft_dropout_create(double rate);

/** An empty chain: layers in sequence, each fed with what the one before gives;
 * no layers: the identity. Owned. */
WEFT_API weft_layer *weft_chain_create(void);

/** Put @p layer, taken, at the end under @p name (copied; not empty, no '/',
 * not used yet in this chain; NULL: its place, "0", "1", ...).
 * @return the failure of its maker if @p layer is NULL; WEFT_E_ARG for the name;
 *         WEFT_E_STATE once the chain has memory. */
WEFT_API weft_status weft_chain_add(weft_layer *chain, const char *name, weft_layer *layer);

/** (x, t) -> (loss, accuracy): weft_softmax_cross_entropy() and weft_accuracy() as a
 * layer without parameters, the end of a classifier. Owned. */
WEFT_API weft_layer *weft_classifier_create(void);

/** End a layer and those in it. NULL is allowed. Its weft_params, if any, must
 * have ended before. */
WEFT_API void weft_layer_destroy(weft_layer *layer);

/** Run it. @return a NULL among the variables after a failure: WEFT_E_STATE if
 * its parameters have no memory yet, or dropout in training no name to draw by,
 * and the tape's mode is not WEFT_DRY. In a dry run parameters without memory
 * are of the dtype of the layer's first real input. */
WEFT_API weft_vars weft_layer_forward(weft_layer *layer, weft_vars in);

/** The same for a layer of one variable that gives one. */
WEFT_API weft_var *weft_forward(weft_layer *layer, weft_var *x);

/** Full name, "" before weft_params_create(); borrowed until the params end. */
WEFT_API const char *weft_layer_name(const weft_layer *layer);

/** The name of its kind, "linear"; borrowed until the layer ends. */
WEFT_API const char *weft_layer_kind_name(const weft_layer *layer);

/** Elements in its parameters and those of the layers in it. */
WEFT_API int64_t weft_layer_param_count(const weft_layer *layer);

/* ---- parameters ---------------------------------------------------------- */

/** The parameters of a layer and of those in it, in order: values in one arena,
 * gradients in another, both flat and aligned. */
typedef struct weft_params weft_params;

typedef struct weft_params_options {
    uint64_t              seed;
    weft_dtype            dtype;     /**< WEFT_F32 (the default, 0) or WEFT_F64 */
    const weft_allocator *allocator; /**< of values and gradients; NULL: weft_alloc() */
} weft_params_options;

/** Name, allocate and initialise all parameters of @p layer, which is borrowed
 * and must outlive them. The layer's own name is empty: its children's names
 * begin the paths. @p options NULL: seed 0, f32. Owned.
 * @return NULL: WEFT_E_STATE if the layer has parameters already; WEFT_E_DTYPE for a
 *         dtype that is not real; WEFT_E_NOMEM.
 * Cost: one pass over the values. */
WEFT_API weft_params *weft_params_create(weft_layer *layer, const weft_params_options *options);

/** End them; the layer is then without memory again. NULL is allowed. */
WEFT_API void weft_params_destroy(weft_params *params);

/** How many there are: an index below is 0 .. n - 1, which is not checked. What is
 * borrowed here is so until the params end. */
WEFT_API int         weft_params_n(const weft_params *params);
WEFT_API weft_var   *weft_params_var(const weft_params *params, int index);  /**< borrowed */
WEFT_API const char *weft_params_name(const weft_params *params, int index); /**< borrowed */

/** The parameter of this full name; borrowed. @return NULL if there is none: not a
 * failure. */
WEFT_API weft_var *weft_params_find(const weft_params *params, const char *name);

/** All values by full name; borrowed. */
WEFT_API weft_bundle weft_params_values(const weft_params *params);

/** All gradients by the same names; borrowed. One to which nothing contributed
 * (has_grad is false) holds what it held before: see weft_params_complete_grads(). */
WEFT_API weft_bundle weft_params_grads(const weft_params *params);

/** The arena of values as one vector, every parameter at a multiple of WEFT_ALIGNMENT
 * bytes, zeros between; borrowed. */
WEFT_API weft_tensor *weft_params_flat_values(const weft_params *params);

/** That of the gradients, with the same places; borrowed. */
WEFT_API weft_tensor *weft_params_flat_grads(const weft_params *params);

/** The place of parameter @p index in the flat vectors, in elements. */
WEFT_API int64_t weft_params_offset(const weft_params *params, int index);

/** Forget gradients: the next contribution writes. Cost: a flag a parameter. */
WEFT_API void weft_params_clear_grads(weft_params *params);

/** Fill with zeros the gradients to which nothing contributed. */
WEFT_API void weft_params_complete_grads(weft_params *params);

/* ---- how to write a layer ------------------------------------------------
 *
 * A kind is a table; a layer is made with weft_layer_create() and described with
 * weft_layer_param() and weft_layer_child(). Its forward is written with
 * operators, and so needs no backward, and no shape rules: a dry run tells them.
 */

typedef struct weft_layer_kind {
    const char *name;  /**< "linear" */
    size_t      state; /**< bytes of its own, 0 at first: weft_layer_state() */
    weft_vars (*forward)(weft_layer *self, weft_vars in);
    void (*destroy)(void *state); /**< what state holds, not state itself; or NULL */
} weft_layer_kind;

enum { WEFT_MAX_PARAMS = 16 }; /**< of one layer itself, children not counted */

/** A new layer of this kind (a static table); owned. */
WEFT_API weft_layer *weft_layer_create(const weft_layer_kind *kind);

/** The bytes of its own that its kind asked for, 0 at first; borrowed until the layer
 * ends. */
WEFT_API void *weft_layer_state(weft_layer *layer);

/** Declare a parameter; name copied. @return the variable, borrowed until the
 * layer ends: it has a shape now, a dtype and memory after weft_params_create(). */
WEFT_API weft_var *weft_layer_param(weft_layer *layer, const char *name, int ndim,
                                    const int64_t *shape, weft_initial initial);

/** Put @p child, taken, into the layer under @p name (as in weft_chain_add()). */
WEFT_API weft_status weft_layer_child(weft_layer *layer, const char *name, weft_layer *child);

/** How many layers were put into it itself, not into those in it. */
WEFT_API int weft_layer_children(const weft_layer *layer);

/** Number @p index of them, below weft_layer_children(), in the order of adding;
 * borrowed until the layer ends. */
WEFT_API weft_layer *weft_layer_child_at(const weft_layer *layer, int index);

WEFT_END

#endif
