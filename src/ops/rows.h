/* rows.h -- loops over the rows or the columns of a matrix on all threads, like
 * EACH_CHUNK: a row is one thread's, a stripe of columns is one thread's, so no
 * result depends on their number.
 */
#ifndef WEFT__ROWS_H
#define WEFT__ROWS_H

#include "tensor/chunks.h"

#define EACH_ROW(rows, cols, r)                                                                    \
    WEFT__PRAGMA(omp parallel for schedule(static)                                                 \
                 num_threads(weft__threads_for((rows) * (cols))))                                  \
    for (int64_t r = 0; r < (rows); r++)

/* Sums over rows keep a stripe's sums in double, on the stack. */
enum { WEFT__STRIPE = 256 };

/* The inner loop runs once: it is there to declare begin and end. */
#define EACH_STRIPE(rows, cols, begin, end)                                                        \
    WEFT__PRAGMA(omp parallel for schedule(static)                                                 \
                 num_threads(weft__threads_for((rows) * (cols))))                                  \
    for (int64_t stripe_ = 0; stripe_ < (cols); stripe_ += WEFT__STRIPE)                           \
        for (int64_t begin = stripe_,                                                              \
                     end = (cols)-begin < WEFT__STRIPE ? (cols) : begin + WEFT__STRIPE;            \
             begin < end; begin = end)

#endif
