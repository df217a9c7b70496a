/* random.c -- random numbers by (seed, name, step, sample, index): the same on any
 * number of ranks.
 */
#include "base/random.h"

#include <assert.h>
#include <math.h>

/* ---- Philox 4x32-10: section 3.3 of Salmon et al. --------------------------- */

static uint32_t high(uint64_t x)
{
    return (uint32_t)(x >> 32);
}

static uint32_t low(uint64_t x)
{
    return (uint32_t)x;
}

void weft_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t x0 = counter[0], x1 = counter[1], x2 = counter[2], x3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];

    for (int round = 0; round < WEFT__PHILOX_ROUNDS; round++) {
        weft__philox_round(&x0, &x1, &x2, &x3, k0, k1);
        weft__philox_bump(&k0, &k1);
    }
    out[0] = x0;
    out[1] = x1;
    out[2] = x2;
    out[3] = x3;
}

/* ---- streams ----------------------------------------------------------------- */

/* A bijection in which every bit of x moves every bit of the result: David
 * Stafford's thirteenth, the end of SplitMix64. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

/* FNV-1a, 64 bits: Fowler, Noll and Vo. */
static uint64_t hash(const char *name)
{
    uint64_t h = UINT64_C(0xCBF29CE484222325);
    for (; *name != '\0'; name++)
        h = (h ^ (unsigned char)*name) * UINT64_C(0x100000001B3);
    return h;
}

/* Two seeds never share the key of a name, nor two hashes that of a seed. */
weft_random weft_random_stream(uint64_t seed, const char *name)
{
    const uint64_t spread = mix(seed + UINT64_C(0x9E3779B97F4A7C15)); /* mix(0) is 0 */
    return (weft_random){ .key = mix(spread ^ hash(name)) };
}

void weft__random_counter(const weft_random *stream, uint32_t block, uint32_t counter[4])
{
    const uint64_t step = stream->step, sample = stream->sample;

    counter[0] = block;
    counter[1] = low(step);
    counter[2] = low(sample);
    counter[3] = (high(step) & 0xFFFF) | high(sample) << 16;
}

void weft__random_block(const weft_random *stream, uint32_t block, uint32_t bits[4])
{
    const uint32_t key[2] = { low(stream->key), high(stream->key) };
    uint32_t       counter[4];

    weft__random_counter(stream, block, counter);
    weft_philox(counter, key, bits);
}

uint32_t weft_random_bits(const weft_random *stream, uint64_t index)
{
    uint32_t bits[4];

    assert(index >> 34 == 0);
    weft__random_block(stream, (uint32_t)(index / 4), bits);
    return bits[index % 4];
}

double weft_random_uniform(const weft_random *stream, uint64_t index)
{
    return 0x1p-32 * weft_random_bits(stream, index);
}

/* Each index has two draws of its own, 2 index and 2 index + 1, always of one
 * block, so that any index can be entered directly. */
static double normal(const uint32_t bits[2])
{
    const double two_pi = 6.283185307179586;
    const double u = 0x1p-32 * (bits[0] + 1.0); /* in (0, 1]: its logarithm is finite */
    const double v = 0x1p-32 * bits[1];
    return sqrt(-2 * log(u)) * cos(two_pi * v);
}

double weft_random_normal(const weft_random *stream, uint64_t index)
{
    uint32_t bits[4];

    assert(index >> 33 == 0);
    weft__random_block(stream, (uint32_t)(index / 2), bits);
    return normal(bits + index % 2 * 2);
}

void weft__random_normals(const weft_random *stream, uint32_t block, double two[2])
{
    uint32_t bits[4];

    weft__random_block(stream, block, bits);
    two[0] = normal(bits);
    two[1] = normal(bits + 2);
}

/* ---- orders -------------------------------------------------------------------- */

/* Uniform on 0 .. bound - 1: draws at or above the largest multiple of bound are
 * thrown away. */
static uint64_t below(const weft_random *stream, uint64_t bound)
{
    const uint64_t odd = (UINT64_MAX % bound + 1) % bound; /* 2^64 modulo bound */
    uint32_t       bits[4];
    uint64_t       draw;
    uint32_t       block = 0;

    do {
        weft__random_block(stream, block++, bits);
        draw = (uint64_t)bits[1] << 32 | bits[0];
    } while (draw > UINT64_MAX - odd);
    return draw % bound;
}

void weft_random_order(uint64_t seed, int64_t epoch, int64_t n, int64_t *order)
{
    weft_random stream = weft_random_stream(seed, "order");

    stream.step = (uint64_t)epoch;
    for (int64_t i = 0; i < n; i++)
        order[i] = i;
    for (int64_t i = n - 1; i > 0; i--) {
        stream.sample = (uint64_t)i;
        const uint64_t j = below(&stream, (uint64_t)i + 1);
        const int64_t  taken = order[j];
        order[j] = order[i];
        order[i] = taken;
    }
}
