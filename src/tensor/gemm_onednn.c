/* gemm_onednn.c -- oneDNN's product of matrices in f32. */
#include "tensor/gemm_impl.h"

#include <dnnl.h>
#include <stdio.h>

void weft__multiply_by_onednn(const weft__product *p)
{
    const dnnl_status_t done =
        dnnl_sgemm(p->ta ? 'T' : 'N', p->tb ? 'T' : 'N', p->m, p->n, p->k, (float)p->alpha, p->a,
                   p->lda, p->b, p->ldb, (float)p->beta, p->c, p->ldc);
    if (done != dnnl_success) { /* no memory for a packed copy, say */
        weft_log(WEFT_LOG_WARN, "oneDNN's sgemm failed with status %d: going on slowly", (int)done);
        weft__multiply_plainly(p);
    }
}

void weft__onednn_text(char *text, size_t bytes)
{
    const dnnl_version_t *v = dnnl_version();
    snprintf(text, bytes, "oneDNN %d.%d.%d", v->major, v->minor, v->patch);
}
