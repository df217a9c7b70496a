/* gemm.c -- the one product of matrices: C <- alpha op(A) op(B) + beta C.
 *
 * The libraries ask OpenMP how many threads there are. For the length of one
 * product the answer is ours, then again what the program around had set.
 */
#include "tensor/gemm_impl.h"

#include <stdio.h>

#ifdef _OPENMP
#include <omp.h>
#endif

static int swap_threads(int n)
{
#ifdef _OPENMP
    const int before = omp_get_max_threads();
    if (n != before)
        omp_set_num_threads(n);
    return before;
#else
    return n;
#endif
}

#if WEFT_GEMM_ONEDNN

static void multiply(const weft__product *p)
{
    if (p->dtype == WEFT_F32)
        weft__multiply_by_onednn(p);
    else
        weft__multiply_by_cblas(*p);
}

#else

static void multiply(const weft__product *p)
{
    weft__multiply_by_cblas(*p);
}

#endif

static void run(const weft__product *p)
{
    if (p->m == 0 || p->n == 0)
        return;
    if (p->k == 0) {
        weft__multiply_plainly(p);
        return;
    }
    const int before = swap_threads(weft_threads());
    multiply(p);
    swap_threads(before);
}

void weft__gemm_f32(bool ta, bool tb, int64_t m, int64_t n, int64_t k, float alpha, const float *a,
                    int64_t lda, const float *b, int64_t ldb, float beta, float *c, int64_t ldc)
{
    run(&(weft__product){ WEFT_F32, ta, tb, m, n, k, (double)alpha, a, lda, b, ldb, (double)beta, c,
                          ldc });
}

void weft__gemm_f64(bool ta, bool tb, int64_t m, int64_t n, int64_t k, double alpha,
                    const double *a, int64_t lda, const double *b, int64_t ldb, double beta,
                    double *c, int64_t ldc)
{
    run(&(weft__product){ WEFT_F64, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc });
}

const char *weft__gemm_text(void)
{
    static _Thread_local char text[128];
    char                      cblas[48];

    weft__cblas_text(cblas, sizeof cblas);
#if WEFT_GEMM_ONEDNN
    char onednn[48];
    weft__onednn_text(onednn, sizeof onednn);
    snprintf(text, sizeof text, "%s (f32), %s (f64)", onednn, cblas);
#else
    snprintf(text, sizeof text, "%s (f32, f64)", cblas);
#endif
    return text;
}
