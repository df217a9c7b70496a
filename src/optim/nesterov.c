/* nesterov.c -- v <- momentum v - rate g;  theta <- theta + momentum v - rate g
 *
 * Y. Nesterov, Soviet Math. Doklady 27 (1983) 372, as I. Sutskever et al., ICML 2013,
 * write it, with the gradient taken at the place that is looked ahead to, which
 * is what theta holds here.
 */
#include "weft/optim.h"

#ifdef REAL /* ---- kernels: compiled once per real type, see each_real.h ---- */

static void K(update)(const double *hyper, int64_t n, const REAL *g, REAL *v, REAL *theta)
{
    const REAL rate = (REAL)hyper[0], momentum = (REAL)hyper[1];

    EACH_CHUNK (n, begin, end)
        for (int64_t i = begin; i < end; i++) {
            v[i] = momentum * v[i] - rate * g[i];
            theta[i] += momentum * v[i] - rate * g[i];
        }
}

#else /* ---- the rule ---- */

#define SELF "optim/nesterov.c"
#include "tensor/each_real.h"

static void update(const double *hyper, int64_t t, weft_dtype dtype, int64_t n, const void *g,
                   void *const *slot, void *theta)
{
    (void)t;
    BY_REAL(dtype, update, hyper, n, g, slot[0], theta);
}

static const weft_rule nesterov = {
    .name = "nesterov",
    .slot = { "v" },
    .hyper = { "rate", "momentum" },
    .update = update,
};

weft_optim *weft_nesterov_create(weft_params *params, const weft_momentum_options *options)
{
    const weft_momentum_options o = options != NULL ? *options : weft_momentum_defaults();
    return weft_optim_create(params, &nesterov, (double[]){ o.rate, o.momentum });
}

#endif
