/* gemm_cblas.c -- the CBLAS's products of matrices, which count with int: longer
 * ones are cut into pieces.
 */
#include "tensor/gemm_impl.h"

#include <cblas.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

int64_t weft__gemm_longest = INT_MAX;

/* ---- threads ----------------------------------------------------------------- */

/* An OpenBLAS with threads of its own does not ask OpenMP: it is told. */
static int swap_threads(int n)
{
#if WEFT_OPENBLAS
    if (openblas_get_parallel() != OPENBLAS_THREAD)
        return n;
    const int before = openblas_get_num_threads();
    if (n != before)
        openblas_set_num_threads(n);
    return before;
#else
    return n;
#endif
}

/* ---- one piece ------------------------------------------------------------------ */

static void call(const weft__product *p)
{
    const CBLAS_TRANSPOSE ta = p->ta ? CblasTrans : CblasNoTrans;
    const CBLAS_TRANSPOSE tb = p->tb ? CblasTrans : CblasNoTrans;
    const int             m = (int)p->m, n = (int)p->n, k = (int)p->k;
    const int             lda = (int)p->lda, ldb = (int)p->ldb, ldc = (int)p->ldc;

    if (p->dtype == WEFT_F32)
        cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, (float)p->alpha, p->a, lda, p->b, ldb,
                    (float)p->beta, p->c, ldc);
    else
        cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, p->alpha, p->a, lda, p->b, ldb, p->beta, p->c,
                    ldc);
}

/* ---- pieces: the first `length` of an axis, which p then begins behind ------------ */

static const void *ahead(const weft__product *p, const void *x, int64_t elements)
{
    return (const char *)x + elements * weft_dtype_bytes(p->dtype);
}

static weft__product cut_m(weft__product *p, int64_t length)
{
    weft__product first = *p;

    first.m = length;
    p->m -= length;
    p->a = ahead(p, p->a, length * (p->ta ? 1 : p->lda));
    p->c = (char *)p->c + length * p->ldc * weft_dtype_bytes(p->dtype);
    return first;
}

static weft__product cut_n(weft__product *p, int64_t length)
{
    weft__product first = *p;

    first.n = length;
    p->n -= length;
    p->b = ahead(p, p->b, length * (p->tb ? p->ldb : 1));
    p->c = (char *)p->c + length * weft_dtype_bytes(p->dtype);
    return first;
}

static weft__product cut_k(weft__product *p, int64_t length)
{
    weft__product first = *p;

    first.k = length;
    p->k -= length;
    p->a = ahead(p, p->a, length * (p->ta ? p->lda : 1));
    p->b = ahead(p, p->b, length * (p->tb ? 1 : p->ldb));
    p->beta = 1; /* the rest is added to it */
    return first;
}

static void multiply(weft__product p)
{
    const int64_t longest = weft__gemm_longest;

    while (p.m > longest)
        multiply(cut_m(&p, longest));
    while (p.n > longest)
        multiply(cut_n(&p, longest));
    while (p.k > longest)
        multiply(cut_k(&p, longest));
    call(&p);
}

void weft__multiply_by_cblas(weft__product p)
{
    if (p.lda > INT_MAX || p.ldb > INT_MAX || p.ldc > INT_MAX) {
        weft__multiply_plainly(&p);
        return;
    }
    const int before = swap_threads(weft_threads());
    multiply(p);
    swap_threads(before);
}

/* ---- its name ----------------------------------------------------------------------- */

void weft__cblas_text(char *text, size_t bytes)
{
#if WEFT_OPENBLAS
    const char *config = openblas_get_config(); /* "OpenBLAS 0.3.21 NO_LAPACKE ..." */
    size_t      words = strcspn(config, " ");
    if (config[words] == ' ')
        words += 1 + strcspn(config + words + 1, " ");
    snprintf(text, bytes, "%.*s", (int)words, config);
#else
    snprintf(text, bytes, "CBLAS");
#endif
}
