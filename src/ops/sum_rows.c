/* sum_rows.c -- the sum over the rows of a matrix: the gradient of a bias. */
#include "ops/ops_impl.h"
#include "ops/rows.h"

#ifdef REAL /* ---- kernels: compiled once per real type, see each_real.h ---- */

static void K(sum_rows)(weft__matrix size, const REAL *g, REAL *to)
{
    EACH_STRIPE (size.rows, size.cols, begin, end) {
        double sum[WEFT__STRIPE] = { 0 };
        for (int64_t r = 0; r < size.rows; r++)
            for (int64_t c = begin; c < end; c++)
                sum[c - begin] += (double)g[r * size.cols + c];
        for (int64_t c = begin; c < end; c++)
            to[c] = (REAL)sum[c - begin];
    }
}

#else /* ---- the sum ---- */

#define SELF "ops/sum_rows.c"
#include "tensor/each_real.h"

void weft__sum_rows(weft_dtype dtype, weft__matrix size, const void *g, void *to)
{
    BY_REAL(dtype, sum_rows, size, g, to);
}

#endif
