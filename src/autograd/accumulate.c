/* accumulate.c -- sum <- sum + x: how contributions to a gradient meet. */
#include "autograd/tape_impl.h"

#ifdef REAL /* ---- kernels: compiled once per real type, see each_real.h ---- */

static void K(accumulate)(int64_t n, REAL *sum, const REAL *x)
{
    EACH_CHUNK (n, begin, end)
        for (int64_t i = begin; i < end; i++)
            sum[i] += x[i];
}

#else /* ---- the sum ---- */

#define SELF "autograd/accumulate.c"
#include "tensor/each_real.h"

void weft__accumulate(weft_tensor *sum, const weft_tensor *x)
{
    BY_REAL(sum->dtype, accumulate, sum->count, sum->data, x->data);
}

#endif
