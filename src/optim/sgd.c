/* sgd.c -- theta <- theta - rate g */
#include "weft/optim.h"

#ifdef REAL /* ---- kernels: compiled once per real type, see each_real.h ---- */

static void K(update)(const double *hyper, int64_t n, const REAL *g, REAL *theta)
{
    const REAL rate = (REAL)hyper[0];

    EACH_CHUNK (n, begin, end)
        for (int64_t i = begin; i < end; i++)
            theta[i] -= rate * g[i];
}

#else /* ---- the rule ---- */

#define SELF "optim/sgd.c"
#include "tensor/each_real.h"

static void update(const double *hyper, int64_t t, weft_dtype dtype, int64_t n, const void *g,
                   void *const *slot, void *theta)
{
    (void)t;
    (void)slot;
    BY_REAL(dtype, update, hyper, n, g, theta);
}

static const weft_rule sgd = { .name = "sgd", .hyper = { "rate" }, .update = update };

weft_sgd_options weft_sgd_defaults(void)
{
    return (weft_sgd_options){ .rate = 0.01 };
}

weft_optim *weft_sgd_create(weft_params *params, const weft_sgd_options *options)
{
    const weft_sgd_options o = options != NULL ? *options : weft_sgd_defaults();
    return weft_optim_create(params, &sgd, (double[]){ o.rate });
}

#endif
