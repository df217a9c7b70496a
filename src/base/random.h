/* random.h -- random numbers four at a time, and more, for loops over many. */
#ifndef WEFT__RANDOM_H
#define WEFT__RANDOM_H

#include "weft/base.h"

/* weft_random_bits() at 4 block, .. 4 block + 3, for the price of one. */
void weft__random_block(const weft_random *stream, uint32_t block, uint32_t bits[4]);

/* weft_random_normal() at 2 block and 2 block + 1, for little more than one. */
void weft__random_normals(const weft_random *stream, uint32_t block, double two[2]);

/* Its counter: 32 bits of block, which comes first, 48 of step, 48 of sample. */
void weft__random_counter(const weft_random *stream, uint32_t block, uint32_t counter[4]);

/* ---- Philox 4x32-10, section 3.3 of Salmon et al., a round at a time ------------- */

enum { WEFT__PHILOX_ROUNDS = 10 };

/* Inline, so that a loop over counters becomes one over vectors of them. */
static inline void weft__philox_round(uint32_t *x0, uint32_t *x1, uint32_t *x2, uint32_t *x3,
                                      uint32_t k0, uint32_t k1)
{
    const uint64_t p0 = UINT64_C(0xD2511F53) * *x0, p1 = UINT64_C(0xCD9E8D57) * *x2;

    *x0 = (uint32_t)(p1 >> 32) ^ *x1 ^ k0;
    *x1 = (uint32_t)p1;
    *x2 = (uint32_t)(p0 >> 32) ^ *x3 ^ k1;
    *x3 = (uint32_t)p0;
}

/* The next round's key. */
static inline void weft__philox_bump(uint32_t *k0, uint32_t *k1)
{
    *k0 += 0x9E3779B9; /* the golden ratio, */
    *k1 += 0xBB67AE85; /* sqrt(3) - 1 */
}

#endif
