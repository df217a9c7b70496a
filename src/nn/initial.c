/* initial.c -- how parameters start: element i is a function of (seed, full name, i),
 * so it does not matter which rank computes it, or what else there is. */
#include "nn/layer_impl.h"
#include "base/random.h"
#include "tensor/chunks.h"

#include <math.h>

typedef struct {
    double fan_in, fan_out;
} fans;

/* Of W (out, in, ...): all extents but the first; all but the second. */
static fans fans_of(const weft_tensor *W)
{
    fans f = { 1, 1 };

    for (int k = 0; k < W->ndim; k++) {
        if (k != 0)
            f.fan_in *= (double)W->shape[k];
        if (k != 1)
            f.fan_out *= (double)W->shape[k];
    }
    return f;
}

/* s of the header's formulas. */
static double spread(weft_initial initial, fans f)
{
    switch (initial.kind) {
    case WEFT_CONSTANT:
        break;
    case WEFT_LECUN_NORMAL:
        return initial.scale * sqrt(1 / f.fan_in);
    case WEFT_LECUN_UNIFORM:
        return initial.scale * sqrt(3 / f.fan_in);
    case WEFT_GLOROT_NORMAL:
        return initial.scale * sqrt(2 / (f.fan_in + f.fan_out));
    case WEFT_GLOROT_UNIFORM:
        return initial.scale * sqrt(6 / (f.fan_in + f.fan_out));
    case WEFT_HE_NORMAL:
        return initial.scale * sqrt(2 / f.fan_in);
    case WEFT_HE_UNIFORM:
        return initial.scale * sqrt(6 / f.fan_in);
    }
    return initial.scale;
}

static bool is_normal(weft_initial_kind kind)
{
    return kind == WEFT_LECUN_NORMAL || kind == WEFT_GLOROT_NORMAL || kind == WEFT_HE_NORMAL;
}

static void fill_normal(weft_random stream, double s, weft_tensor *x)
{
    EACH_CHUNK (x->count, begin, end) /* begin is even */
        for (int64_t i = begin; i < end; i += 2) {
            double z[2];
            weft__random_normals(&stream, (uint32_t)(i / 2), z);
            weft_tensor_set(x, i, s * z[0]);
            if (i + 1 < end)
                weft_tensor_set(x, i + 1, s * z[1]);
        }
}

static void fill_uniform(weft_random stream, double s, weft_tensor *x)
{
    EACH_CHUNK (x->count, begin, end)
        for (int64_t i = begin; i < end; i++)
            weft_tensor_set(x, i, s * (2 * weft_random_uniform(&stream, (uint64_t)i) - 1));
}

void weft__initial_fill(weft_initial initial, uint64_t seed, const char *name, weft_tensor *x)
{
    const double      s = spread(initial, fans_of(x));
    const weft_random stream = weft_random_stream(seed, name);

    if (initial.kind == WEFT_CONSTANT)
        weft_tensor_fill(x, s);
    else if (is_normal(initial.kind))
        fill_normal(stream, s, x);
    else
        fill_uniform(stream, s, x);
}

weft_status weft__initial_check(weft_initial initial)
{
    if (initial.kind < WEFT_CONSTANT || initial.kind > WEFT_HE_UNIFORM)
        return WEFT_FAIL(WEFT_E_ARG, "initial values of kind %d, which does not exist",
                         (int)initial.kind);
    return WEFT_OK;
}
