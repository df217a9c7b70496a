/* gemm_impl.h -- what the front and the libraries behind it share. */
#ifndef WEFT__GEMM_IMPL_H
#define WEFT__GEMM_IMPL_H

#include "tensor/gemm.h"
#include "weft/tensor.h"

/* A product of either type; a float comes back from a double as it was. */
typedef struct weft__product {
    weft_dtype  dtype;
    bool        ta, tb;
    int64_t     m, n, k; /* not 0, but k for weft__multiply_plainly() */
    double      alpha;
    const void *a;
    int64_t     lda;
    const void *b;
    int64_t     ldb;
    double      beta;
    void       *c;
    int64_t     ldc;
} weft__product;

void weft__multiply_by_cblas(weft__product p);
void weft__multiply_by_onednn(const weft__product *p); /* f32 */

/* Any product at all, slowly. */
void weft__multiply_plainly(const weft__product *p);

/* "OpenBLAS 0.3.21", as snprintf does. */
void weft__cblas_text(char *text, size_t bytes);
void weft__onednn_text(char *text, size_t bytes);

#endif
