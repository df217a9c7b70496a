/* matmul.c -- C = A B;   gA = g B^T, gB = A^T g. */
#include "ops/ops_impl.h"

#ifdef REAL /* ---- kernels: compiled once per real type, see each_real.h ---- */

static void K(forward)(int64_t n, int64_t k, int64_t m, const REAL *A, const REAL *B, REAL *C)
{
    GEMM(false, false, n, m, k, 1, A, k, B, m, 0, C, m);
}

static void K(backward_A)(int64_t n, int64_t k, int64_t m, const REAL *g, const REAL *B, REAL *gA)
{
    GEMM(false, true, n, k, m, 1, g, m, B, m, 0, gA, k);
}

static void K(backward_B)(int64_t n, int64_t k, int64_t m, const REAL *A, const REAL *g, REAL *gB)
{
    GEMM(true, false, k, m, n, 1, A, k, g, m, 0, gB, m);
}

#else /* ---- the operator ---- */

#define SELF "ops/matmul.c"
#include "tensor/each_real.h"

static weft_status backward(const weft_node *node)
{
    const weft_tensor *A = &node->in[0]->value, *B = &node->in[1]->value;
    const weft_tensor *g = &node->out[0]->grad;
    const int64_t      n = A->shape[0], k = A->shape[1], m = B->shape[1];

    if (node->gin[0] != NULL)
        BY_REAL(g->dtype, backward_A, n, k, m, g->data, B->data, node->gin[0]->data);
    if (node->gin[1] != NULL)
        BY_REAL(g->dtype, backward_B, n, k, m, A->data, g->data, node->gin[1]->data);
    return WEFT_OK;
}

static const weft_op matmul = { .name = "matmul", .backward = backward };

weft_var *weft_matmul(weft_var *A, weft_var *B)
{
    const weft_vars in = weft_two(A, B);
    if (!weft__all_real("matmul", in))
        return NULL;
    if (A->value.ndim != 2 || B->value.ndim != 2 || A->value.shape[1] != B->value.shape[0])
        return REFUSE(WEFT_E_SHAPE, "matmul", in, "wants (n, k) and (k, m)");

    const int64_t n = A->value.shape[0], k = A->value.shape[1], m = B->value.shape[1];
    weft_var     *C = weft_apply(&matmul, in, 2, (int64_t[]){ n, m });
    if (weft_has_data(C))
        BY_REAL(C->value.dtype, forward, n, k, m, A->value.data, B->value.data, C->value.data);
    return C;
}

#endif
