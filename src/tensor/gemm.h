/* gemm.h -- the one product of matrices: C <- alpha op(A) op(B) + beta C.
 *
 * Row-major; op(A) is m x k, op(B) is k x n, C is m x n; op is the transpose where
 * ta or tb. All f32 calls of a build are served by one library, oneDNN where the
 * build found it, else the CBLAS: two in turns would mean two spinning pools of
 * threads. f64 is the CBLAS's. With beta 0, C is written without being read.
 * An empty sum (k = 0) is 0.
 */
#ifndef WEFT__GEMM_H
#define WEFT__GEMM_H

#include "weft/base.h"

void weft__gemm_f32(bool ta, bool tb, int64_t m, int64_t n, int64_t k, float alpha, const float *a,
                    int64_t lda, const float *b, int64_t ldb, float beta, float *c, int64_t ldc);

void weft__gemm_f64(bool ta, bool tb, int64_t m, int64_t n, int64_t k, double alpha,
                    const double *a, int64_t lda, const double *b, int64_t ldb, double beta,
                    double *c, int64_t ldc);

/* The CBLAS counts with int: it is given pieces with at most this many rows and
 * columns. A test sets it to less. */
extern int64_t weft__gemm_longest;

/* "oneDNN 2.6.3 (f32), OpenBLAS 0.3.21 (f64)": for logs and snapshots. */
const char *weft__gemm_text(void);

#endif
