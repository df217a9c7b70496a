/** @file optim.h -- update rules and hooks; how to write a rule.
 *
 * theta is a parameter, g its gradient, t the number of this step, from 1.
 */
#ifndef WEFT_OPTIM_H
#define WEFT_OPTIM_H

#include "weft/nn.h"

WEFT_BEGIN

/** A rule with its state ("slots", one arena) for a set of parameters, which is
 * borrowed and must outlive it. Makers pass a NULL for params on; they return NULL
 * with WEFT_E_ARG for a number that is not finite, or with WEFT_E_NOMEM. */
typedef struct weft_optim weft_optim;

typedef struct weft_sgd_options {
    double rate; /**< default 0.01 */
} weft_sgd_options;

/** The defaults above, to be changed and passed on. */
WEFT_API weft_sgd_options weft_sgd_defaults(void);

/** theta <- theta - rate g      (no slots). NULL: defaults. Owned. */
WEFT_API weft_optim *weft_sgd_create(weft_params *params, const weft_sgd_options *options);

typedef struct weft_momentum_options {
    double rate;     /**< default 0.01 */
    double momentum; /**< default 0.9 */
} weft_momentum_options;

/** The defaults above, to be changed and passed on. */
WEFT_API weft_momentum_options weft_momentum_defaults(void);

/** v <- momentum v - rate g;  theta <- theta + v      (slot "v")
 * B. T. Polyak, USSR Comput. Math. Math. Phys. 4 (1964) 1. NULL: defaults. Owned. */
WEFT_API weft_optim *weft_momentum_create(weft_params                 *params,
                                          const weft_momentum_options *options);

/** v <- momentum v - rate g;  theta <- theta + momentum v - rate g      (slot "v")
 * Y. Nesterov, Soviet Math. Doklady 27 (1983) 372, in the form of I. Sutskever et
 * al., ICML 2013, as a step from theta itself. NULL: defaults. Owned. */
WEFT_API weft_optim *weft_nesterov_create(weft_params                 *params,
                                          const weft_momentum_options *options);

typedef struct weft_adam_options {
    double rate;  /**< default 0.001 */
    double beta1; /**< default 0.9 */
    double beta2; /**< default 0.999 */
    double eps;   /**< default 1e-8 */
    double decay; /**< AdamW's lambda, default 0.01; Adam has none */
} weft_adam_options;

/** The defaults above, to be changed and passed on. */
WEFT_API weft_adam_options weft_adam_defaults(void);

/** m <- beta1 m + (1 - beta1) g;  v <- beta2 v + (1 - beta2) g^2;
 * theta <- theta - rate sqrt(1 - beta2^t) / (1 - beta1^t) m / (sqrt(v) + eps)
 * (slots "m", "v").   D. P. Kingma and J. Ba, ICLR 2015, arXiv:1412.6980, in the
 * order of its section 2, which puts eps outside the correction. NULL: defaults.
 * Owned.
 * @return NULL: WEFT_E_ARG for a beta outside [0, 1) or an eps below FLT_MIN, 1.2e-38,
 *         the least that f32 holds in full. */
WEFT_API weft_optim *weft_adam_create(weft_params *params, const weft_adam_options *options);

/** m and v as in Adam;  mh = m / (1 - beta1^t);  vh = v / (1 - beta2^t);
 * theta <- theta - rate (mh / (sqrt(vh) + eps) + decay theta)      (slots "m", "v")
 * I. Loshchilov and F. Hutter, ICLR 2019, arXiv:1711.05101, algorithm 2, with its
 * schedule multiplier inside the rate. NULL: defaults. Owned. @return NULL: as
 * weft_adam_create(). */
WEFT_API weft_optim *weft_adamw_create(weft_params *params, const weft_adam_options *options);

/** End it. NULL is allowed; before its parameters end. */
WEFT_API void weft_optim_destroy(weft_optim *optim);

/** One step from the gradients that are there: hooks in the order added, then the
 * rule over the whole arena in one pass; then the gradients are cleared. A
 * parameter without a gradient counts as one whose gradient is zero.
 * @return a hook's failure: then nothing has moved. */
WEFT_API weft_status weft_optim_step(weft_optim *optim);

/** weft_backward(loss), then weft_optim_step(): same bits, but where there are no
 * hooks each parameter moves as soon as its gradient is complete, while it is in
 * cache; not if the tape has a weft_tape_on_grad() of its own.
 * @return the failure of either. After one inside backward some parameters may have
 *         moved already, and training should end or go back to a snapshot. */
WEFT_API weft_status weft_optim_minimize(weft_optim *optim, weft_var *loss);

WEFT_API int64_t weft_optim_steps(const weft_optim *optim); /**< t so far */

/** Go on as after @p t steps, 0 or more: it stands in the formulas of rules. */
WEFT_API void weft_optim_steps_set(weft_optim *optim, int64_t t);

/** The rate of the next step, which is the first hyper-parameter of every rule. */
WEFT_API double weft_optim_rate(const weft_optim *optim);

/** Set it for the steps that follow: a schedule is a line in the loop. Not checked;
 * the same on every rank. */
WEFT_API void weft_optim_rate_set(weft_optim *optim, double rate);

/** "adam"; borrowed until the optimizer ends. */
WEFT_API const char *weft_optim_name(const weft_optim *optim);

/** Its rule, also where it moves nothing; borrowed until the optimizer ends. */
WEFT_API const struct weft_rule *weft_optim_rule(const weft_optim *optim);

/** Its slots by name "l1/W/m", parameter by parameter, each with all of its slots in
 * the rule's order; borrowed until the optimizer ends. */
WEFT_API weft_bundle weft_optim_slots(const weft_optim *optim);

/** A number of the rule: "rate", "beta1", ... */
typedef struct weft_hyper {
    const char *name;
    double      value;
} weft_hyper;

/** All of them in the rule's order; borrowed until the optimizer ends.
 * @return how many. */
WEFT_API int weft_optim_hypers(const weft_optim *optim, const weft_hyper **hyper);

/** The parameters that it moves; borrowed. */
WEFT_API weft_params *weft_optim_params(const weft_optim *optim);

/* ---- hooks: what happens to gradients before the rule --------------------- */

/** g <- g + rate theta. @return WEFT_E_ARG for a rate that is not finite; WEFT_E_NOMEM. */
WEFT_API weft_status weft_optim_add_decay(weft_optim *optim, double rate);

/** g <- min(max(g, -limit), limit). @return WEFT_E_ARG for a limit that is not finite
 * and above 0; WEFT_E_NOMEM. */
WEFT_API weft_status weft_optim_add_clip_value(weft_optim *optim, double limit);

/** g <- g min(1, limit / |g|), |g| the Euclidean norm of all gradients together,
 * summed in double, always in the same order (R. Pascanu et al., ICML 2013).
 * @return as weft_optim_add_clip_value(). */
WEFT_API weft_status weft_optim_add_clip_norm(weft_optim *optim, double limit);

/** A hook of one's own: may change the gradients of @p params. */
typedef weft_status weft_hook(const void *options, weft_params *params);

/** Add it behind the others; @p options, @p bytes of them, are copied.
 * @return WEFT_E_NOMEM. */
WEFT_API weft_status weft_optim_add_hook(weft_optim *optim, weft_hook *hook, const void *options,
                                         size_t bytes);

/* ---- how to write a rule --------------------------------------------------- */

enum { WEFT_MAX_SLOTS = 4, WEFT_MAX_HYPERS = 8 };

/** A rule is its name, its slots' names, its hyper-parameters' names and its
 * formula over n elements; slots start at zero. hyper[0] is the rate. */
typedef struct weft_rule {
    const char *name;
    const char *slot[WEFT_MAX_SLOTS];
    const char *hyper[WEFT_MAX_HYPERS];

    /** @param n elements of g, slot[k] and theta, all of @p dtype. Element i's
     * result depends on element i alone; where g, slots and theta are 0 they stay
     * 0, as the gaps between parameters are part of the arena. */
    void (*update)(const double *hyper, int64_t t, weft_dtype dtype, int64_t n, const void *g,
                   void *const *slot, void *theta);
} weft_rule;

/** An optimizer of this rule (a static table); @p hyper holds as many numbers as
 * the rule names. Owned. @return NULL: WEFT_E_ARG for a number that is not finite. */
WEFT_API weft_optim *weft_optim_create(weft_params *params, const weft_rule *rule,
                                       const double *hyper);

WEFT_END

#endif
