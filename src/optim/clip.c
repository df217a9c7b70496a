/* clip.c -- gradients kept small:
 *
 *     value:  g <- min(max(g, -limit), limit)
 *     norm:   g <- g min(1, limit / |g|)      R. Pascanu et al., ICML 2013
 */
#include "weft/optim.h"

#ifdef REAL /* ---- kernels: compiled once per real type, see each_real.h ---- */

/* A gradient that is not a number stays one: nobody is told that all is well. */
static void K(clip)(int64_t n, double bound, REAL *g)
{
    const REAL limit = (REAL)bound;

    EACH_CHUNK (n, begin, end)
        for (int64_t i = begin; i < end; i++) {
            const REAL below = g[i] > limit ? limit : g[i];
            g[i] = below < -limit ? -limit : below;
        }
}

static void K(scale)(int64_t n, double by, REAL *g)
{
    const REAL factor = (REAL)by;

    EACH_CHUNK (n, begin, end)
        for (int64_t i = begin; i < end; i++)
            g[i] *= factor;
}

/* In LANES sums side by side, so that the order of the additions is one that vector
 * units can take, and always the same. */
static double K(sum_of_squares)(int64_t n, const REAL *g)
{
    double  lane[LANES] = { 0 }, sum = 0;
    int64_t i = 0;

    for (; i + LANES <= n; i += LANES)
        for (int k = 0; k < LANES; k++)
            lane[k] += (double)g[i + k] * (double)g[i + k];
    for (; i < n; i++)
        sum += (double)g[i] * (double)g[i];
    for (int k = 0; k < LANES; k++)
        sum += lane[k];
    return sum;
}

#else /* ---- the hooks ---- */

#include <math.h>

enum { LANES = 16 };

#define SELF "optim/clip.c"
#include "tensor/each_real.h"

static weft_status clip_value(const void *options, weft_params *params)
{
    const double      *limit = options;
    const weft_tensor *g = weft_params_flat_grads(params);

    BY_REAL(g->dtype, clip, g->count, *limit, g->data);
    return WEFT_OK;
}

/* Parameter by parameter, so that what lies between them has no part in it. */
static double norm_of(weft_params *params)
{
    double sum = 0;

    for (int i = 0; i < weft_params_n(params); i++) {
        const weft_tensor *g = &weft_params_var(params, i)->grad;
        sum += BY_REAL(g->dtype, sum_of_squares, g->count, g->data);
    }
    return sqrt(sum);
}

static weft_status clip_norm(const void *options, weft_params *params)
{
    const double      *limit = options;
    const weft_tensor *g = weft_params_flat_grads(params);
    const double       norm = norm_of(params);

    if (norm > *limit)
        BY_REAL(g->dtype, scale, g->count, *limit / norm, g->data);
    return WEFT_OK;
}

static weft_status add(weft_optim *optim, weft_hook *hook, double limit)
{
    if (!(limit > 0 && isfinite(limit)))
        return WEFT_FAIL(WEFT_E_ARG, "gradients clipped at %g; a limit is above 0", limit);
    return weft_optim_add_hook(optim, hook, &limit, sizeof limit);
}

weft_status weft_optim_add_clip_value(weft_optim *optim, double limit)
{
    return add(optim, clip_value, limit);
}

weft_status weft_optim_add_clip_norm(weft_optim *optim, double limit)
{
    return add(optim, clip_norm, limit);
}

#endif
