/* decay.c -- g <- g + rate theta, over all gradients. */
#include "weft/optim.h"

#ifdef REAL /* ---- kernels: compiled once per real type, see each_real.h ---- */

static void K(decay)(int64_t n, double factor, const REAL *theta, REAL *g)
{
    const REAL rate = (REAL)factor;

    EACH_CHUNK (n, begin, end)
        for (int64_t i = begin; i < end; i++)
            g[i] += rate * theta[i];
}

#else /* ---- the hook ---- */

#include <math.h>

#define SELF "optim/decay.c"
#include "tensor/each_real.h"

static weft_status decay(const void *options, weft_params *params)
{
    const double      *rate = options;
    const weft_tensor *g = weft_params_flat_grads(params), *theta = weft_params_flat_values(params);

    BY_REAL(g->dtype, decay, g->count, *rate, theta->data, g->data);
    return WEFT_OK;
}

weft_status weft_optim_add_decay(weft_optim *optim, double rate)
{
    if (!isfinite(rate))
        return WEFT_FAIL(WEFT_E_ARG, "weight decay with rate %g", rate);
    return weft_optim_add_hook(optim, decay, &rate, sizeof rate);
}

#endif
