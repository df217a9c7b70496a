/* random.h -- random numbers four at a time, for loops over many. */
#ifndef WEFT__RANDOM_H
#define WEFT__RANDOM_H

#include "weft/base.h"

/* weft_random_bits() at 4 block, .. 4 block + 3, for the price of one. */
void weft__random_block(const weft_random *stream, uint32_t block, uint32_t bits[4]);

#endif
