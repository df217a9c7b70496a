/* mean_squared_error.c -- L = (1/N) sum (a - b)^2;   ga = 2 (a - b) g / N,
 * gb = -ga. */
#include "ops/ops_impl.h"

#ifdef REAL /* ---- kernels: compiled once per real type, see each_real.h ---- */

static double K(sum_chunk)(int64_t n, const REAL *a, const REAL *b)
{
    enum { LANES = 8 };
    double  lane[LANES] = { 0 };
    int64_t i = 0;

    for (; i + LANES <= n; i += LANES)
        for (int j = 0; j < LANES; j++) {
            const double d = (double)a[i + j] - (double)b[i + j];
            lane[j] += d * d;
        }
    for (int j = 0; i < n; i++, j++) {
        const double d = (double)a[i] - (double)b[i];
        lane[j] += d * d;
    }
    return weft__sum_in_order(LANES, lane);
}

static void K(sum_chunks)(int64_t n, const REAL *a, const REAL *b, double *sum)
{
    EACH_CHUNK (n, begin, end)
        sum[begin / WEFT__CHUNK] = K(sum_chunk)(end - begin, a + begin, b + begin);
}

static void K(backward)(int64_t n, double factor, const REAL *a, const REAL *b, REAL *ga)
{
    const REAL f = (REAL)factor;
    EACH_CHUNK (n, begin, end)
        for (int64_t i = begin; i < end; i++)
            ga[i] = f * (a[i] - b[i]);
}

#else /* ---- the operator ---- */

#define SELF "ops/mean_squared_error.c"
#include "tensor/each_real.h"

/* N; 1 for none, so that the mean of no error is 0. */
static double number(const weft_tensor *a)
{
    return a->count > 0 ? (double)a->count : 1;
}

static weft_status backward(const weft_node *node)
{
    const weft_tensor *a = &node->in[0]->value, *b = &node->in[1]->value;
    const double       factor = 2 * weft__scalar_grad(node) / number(a);

    if (node->gin[0] != NULL)
        BY_REAL(a->dtype, backward, a->count, factor, a->data, b->data, node->gin[0]->data);
    if (node->gin[1] != NULL)
        BY_REAL(a->dtype, backward, a->count, -factor, a->data, b->data, node->gin[1]->data);
    return WEFT_OK;
}

static const weft_op mean_squared_error = { .name = "mean_squared_error", .backward = backward };

static weft_var *compute(const weft_tensor *a, const weft_tensor *b, weft_var *L)
{
    const int64_t chunks = weft__chunks(a->count);
    double       *sum = weft__take_sums(L->tape, chunks);
    if (sum == NULL)
        return NULL;
    BY_REAL(a->dtype, sum_chunks, a->count, a->data, b->data, sum);
    weft_tensor_set(&L->value, 0, weft__sum_in_order(chunks, sum) / number(a));
    return L;
}

weft_var *weft_mean_squared_error(weft_var *a, weft_var *b)
{
    const weft_vars in = weft_two(a, b);
    if (!weft__all_alike(mean_squared_error.name, in))
        return NULL;

    weft_var *L = weft__apply_scalar(&mean_squared_error, in, 0, NULL);
    return weft_has_data(L) ? compute(&a->value, &b->value, L) : L;
}

#endif
