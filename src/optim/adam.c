/* adam.c -- D. P. Kingma and J. Ba, Adam: a method for stochastic optimization, ICLR 2015,
 * arXiv:1412.6980, in the order of its section 2:
 *
 *     m <- beta1 m + (1 - beta1) g
 *     v <- beta2 v + (1 - beta2) g^2
 *     theta <- theta - rate sqrt(1 - beta2^t) / (1 - beta1^t) m / (sqrt(v) + eps)
 */
#include "optim/optim_impl.h"

#ifdef REAL /* ---- kernels: compiled once per real type, see each_real.h ---- */

static void K(update)(const double *hyper, double rate, int64_t n, const REAL *g, REAL *m, REAL *v,
                      REAL *theta)
{
    const REAL r = (REAL)rate, eps = (REAL)hyper[3];
    const REAL b1 = (REAL)hyper[1], c1 = (REAL)(1 - hyper[1]);
    const REAL b2 = (REAL)hyper[2], c2 = (REAL)(1 - hyper[2]);

    EACH_CHUNK (n, begin, end)
        for (int64_t i = begin; i < end; i++) {
            m[i] = b1 * m[i] + c1 * g[i];
            v[i] = b2 * v[i] + c2 * (g[i] * g[i]);
            theta[i] -= r * m[i] / (sqrt(v[i]) + eps);
        }
}

#else /* ---- the rule ---- */

#include <float.h>
#include <tgmath.h>

#define SELF "optim/adam.c"
#include "tensor/each_real.h"

static void update(const double *hyper, int64_t t, weft_dtype dtype, int64_t n, const void *g,
                   void *const *slot, void *theta)
{
    const double rate =
        hyper[0] * sqrt(1 - pow(hyper[2], (double)t)) / (1 - pow(hyper[1], (double)t));

    BY_REAL(dtype, update, hyper, rate, n, g, slot[0], slot[1], theta);
}

static const weft_rule adam = {
    .name = "adam",
    .slot = { "m", "v" },
    .hyper = { "rate", "beta1", "beta2", "eps" },
    .update = update,
};

weft_adam_options weft_adam_defaults(void)
{
    return (weft_adam_options){
        .rate = 0.001,
        .beta1 = 0.9,
        .beta2 = 0.999,
        .eps = 1e-8,
        .decay = 0.01,
    };
}

/* eps keeps 0 / 0 away where a gradient has always been 0. */
weft_status weft__adam_check(const char *name, const weft_adam_options *o)
{
    if (!(o->beta1 >= 0 && o->beta1 < 1 && o->beta2 >= 0 && o->beta2 < 1))
        return WEFT_FAIL(WEFT_E_ARG, "%s with beta1 %g and beta2 %g; 0 to below 1 is possible",
                         name, o->beta1, o->beta2);
    if (!(o->eps >= (double)FLT_MIN))
        return WEFT_FAIL(WEFT_E_ARG, "%s with eps %g; %g or more is possible", name, o->eps,
                         (double)FLT_MIN);
    return WEFT_OK;
}

weft_optim *weft_adam_create(weft_params *params, const weft_adam_options *options)
{
    const weft_adam_options o = options != NULL ? *options : weft_adam_defaults();
    const double            hyper[] = { o.rate, o.beta1, o.beta2, o.eps };

    if (weft__adam_check("adam", &o) != WEFT_OK)
        return NULL;
    return weft_optim_create(params, &adam, hyper);
}

#endif
