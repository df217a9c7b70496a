/* chunks.h -- loops over elements on all threads, in pieces whose bounds depend on
 * the number of elements alone, never on that of threads.
 *
 *     EACH_CHUNK (n, begin, end)
 *         for (int64_t i = begin; i < end; i++)
 *             y[i] = x[i] > 0 ? x[i] : 0;
 *
 * A kernel that sums keeps one partial sum a chunk and adds them in order.
 */
#ifndef WEFT__CHUNKS_H
#define WEFT__CHUNKS_H

#include "weft/base.h"

enum { WEFT__CHUNK = 16384 }; /* elements: two to four arrays of it fit a core's cache */

static inline int64_t weft__chunks(int64_t n)
{
    return (n + WEFT__CHUNK - 1) / WEFT__CHUNK;
}

static inline int64_t weft__chunk_end(int64_t n, int64_t begin)
{
    return n - begin < WEFT__CHUNK ? n : begin + WEFT__CHUNK;
}

/* Threads for a loop over n elements: waking them pays from two chunks on. Not by
 * an if clause: beside one, clang's libomp 14 hands the number of threads on to the
 * next parallel region, OpenBLAS's say, which then waits for ever for the second. */
static inline int weft__threads_for(int64_t n)
{
    return n > WEFT__CHUNK ? weft_threads() : 1;
}

#define WEFT__PRAGMA(text) _Pragma(#text)

/* The inner loop runs once: it is there to declare begin and end. */
#define EACH_CHUNK(n, begin, end)                                                                  \
    WEFT__PRAGMA(omp parallel for schedule(static) num_threads(weft__threads_for(n)))              \
    for (int64_t chunk_ = 0; chunk_ < weft__chunks(n); chunk_++)                                   \
        for (int64_t begin = chunk_ * WEFT__CHUNK, end = weft__chunk_end(n, begin); begin < end;   \
             begin = end)

#endif
