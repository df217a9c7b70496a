/* gemm_plain.c -- a product without a library, for the few that none takes: an
 * empty sum, strides that do not fit, no memory for a library's own work.
 */
#include "tensor/gemm_impl.h"

static double element(const weft__product *p, const void *x, int64_t index)
{
    return p->dtype == WEFT_F32 ? (double)((const float *)x)[index] : ((const double *)x)[index];
}

static void set(const weft__product *p, int64_t index, double value)
{
    if (p->dtype == WEFT_F32)
        ((float *)p->c)[index] = (float)value;
    else
        ((double *)p->c)[index] = value;
}

/* (op(A) op(B))[i, j], summed in double. */
static double dot(const weft__product *p, int64_t i, int64_t j)
{
    double sum = 0;
    for (int64_t l = 0; l < p->k; l++)
        sum += element(p, p->a, p->ta ? l * p->lda + i : i * p->lda + l) *
               element(p, p->b, p->tb ? j * p->ldb + l : l * p->ldb + j);
    return sum;
}

void weft__multiply_plainly(const weft__product *p)
{
    for (int64_t i = 0; i < p->m; i++)
        for (int64_t j = 0; j < p->n; j++) {
            const int64_t at = i * p->ldc + j;
            const double  sum = p->alpha * dot(p, i, j);
            set(p, at, p->beta == 0 ? sum : sum + p->beta * element(p, p->c, at));
        }
}
