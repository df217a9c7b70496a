/* sum_all.c -- the sum of all elements, in double: eight sums a chunk, side by
 * side, then the chunks' in order. */
#include "ops/ops_impl.h"

#ifdef REAL /* ---- kernels: compiled once per real type, see each_real.h ---- */

static double K(sum_chunk)(int64_t n, const REAL *x)
{
    enum { LANES = 8 };
    double  lane[LANES] = { 0 };
    int64_t i = 0;

    for (; i + LANES <= n; i += LANES)
        for (int j = 0; j < LANES; j++)
            lane[j] += (double)x[i + j];
    for (int j = 0; i < n; i++, j++)
        lane[j] += (double)x[i];
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
           ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

static void K(sum_chunks)(int64_t n, const REAL *x, double *sum)
{
    EACH_CHUNK (n, begin, end)
        sum[begin / WEFT__CHUNK] = K(sum_chunk)(end - begin, x + begin);
}

#else /* ---- the sum ---- */

#define SELF "ops/sum_all.c"
#include "tensor/each_real.h"

double weft__sum_in_order(int64_t n, const double *sum)
{
    double total = 0;
    for (int64_t i = 0; i < n; i++)
        total += sum[i];
    return total;
}

double *weft__take_sums(weft_tape *tape, int64_t n)
{
    return weft_tape_take(tape, n * (int64_t)sizeof(double));
}

bool weft__sum_all(const weft_var *x, weft_tape *tape, double *sum)
{
    const int64_t n = weft__chunks(x->value.count);
    double       *chunk = weft__take_sums(tape, n);
    if (chunk == NULL)
        return false;
    BY_REAL(x->value.dtype, sum_chunks, x->value.count, x->value.data, chunk);
    *sum = weft__sum_in_order(n, chunk);
    return true;
}

#endif
