/* adamw.c -- I. Loshchilov and F. Hutter, Decoupled weight decay regularization, ICLR 2019,
 * arXiv:1711.05101, algorithm 2, its schedule multiplier being part of the rate:
 *
 *     m <- beta1 m + (1 - beta1) g;   mh = m / (1 - beta1^t)
 *     v <- beta2 v + (1 - beta2) g^2; vh = v / (1 - beta2^t)
 *     theta <- theta - rate (mh / (sqrt(vh) + eps) + decay theta)
 */
#include "optim/optim_impl.h"

#ifdef REAL /* ---- kernels: compiled once per real type, see each_real.h ---- */

static void K(update)(const double *hyper, double correct1, double correct2, int64_t n,
                      const REAL *g, REAL *m, REAL *v, REAL *theta)
{
    const REAL rate = (REAL)hyper[0], eps = (REAL)hyper[3], decay = (REAL)hyper[4];
    const REAL b1 = (REAL)hyper[1], c1 = (REAL)(1 - hyper[1]), h1 = (REAL)correct1;
    const REAL b2 = (REAL)hyper[2], c2 = (REAL)(1 - hyper[2]), h2 = (REAL)correct2;

    EACH_CHUNK (n, begin, end)
        for (int64_t i = begin; i < end; i++) {
            m[i] = b1 * m[i] + c1 * g[i];
            v[i] = b2 * v[i] + c2 * (g[i] * g[i]);
            theta[i] -= rate * (h1 * m[i] / (sqrt(h2 * v[i]) + eps) + decay * theta[i]);
        }
}

#else /* ---- the rule ---- */

#include <tgmath.h>

#define SELF "optim/adamw.c"
#include "tensor/each_real.h"

static void update(const double *hyper, int64_t t, weft_dtype dtype, int64_t n, const void *g,
                   void *const *slot, void *theta)
{
    const double correct1 = 1 / (1 - pow(hyper[1], (double)t));
    const double correct2 = 1 / (1 - pow(hyper[2], (double)t));

    BY_REAL(dtype, update, hyper, correct1, correct2, n, g, slot[0], slot[1], theta);
}

static const weft_rule adamw = {
    .name = "adamw",
    .slot = { "m", "v" },
    .hyper = { "rate", "beta1", "beta2", "eps", "decay" },
    .update = update,
};

weft_optim *weft_adamw_create(weft_params *params, const weft_adam_options *options)
{
    const weft_adam_options o = options != NULL ? *options : weft_adam_defaults();
    const double            hyper[] = { o.rate, o.beta1, o.beta2, o.eps, o.decay };

    if (weft__adam_check("adamw", &o) != WEFT_OK)
        return NULL;
    return weft_optim_create(params, &adamw, hyper);
}

#endif
