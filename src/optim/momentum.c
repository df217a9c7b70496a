/* momentum.c -- v <- momentum v - rate g;  theta <- theta + v
 *
 * B. T. Polyak, USSR Comput. Math. Math. Phys. 4 (1964) 1.
 */
#include "weft/optim.h"

#ifdef REAL /* ---- kernels: compiled once per real type, see each_real.h ---- */

static void K(update)(const double *hyper, int64_t n, const REAL *g, REAL *v, REAL *theta)
{
    const REAL rate = (REAL)hyper[0], momentum = (REAL)hyper[1];

    EACH_CHUNK (n, begin, end)
        for (int64_t i = begin; i < end; i++) {
            v[i] = momentum * v[i] - rate * g[i];
            theta[i] += v[i];
        }
}

#else /* ---- the rule ---- */

#define SELF "optim/momentum.c"
#include "tensor/each_real.h"

static void update(const double *hyper, int64_t t, weft_dtype dtype, int64_t n, const void *g,
                   void *const *slot, void *theta)
{
    (void)t;
    BY_REAL(dtype, update, hyper, n, g, slot[0], theta);
}

static const weft_rule momentum = {
    .name = "momentum",
    .slot = { "v" },
    .hyper = { "rate", "momentum" },
    .update = update,
};

weft_momentum_options weft_momentum_defaults(void)
{
    return (weft_momentum_options){ .rate = 0.01, .momentum = 0.9 };
}

weft_optim *weft_momentum_create(weft_params *params, const weft_momentum_options *options)
{
    const weft_momentum_options o = options != NULL ? *options : weft_momentum_defaults();
    return weft_optim_create(params, &momentum, (double[]){ o.rate, o.momentum });
}

#endif
