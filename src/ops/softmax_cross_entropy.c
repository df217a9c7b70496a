/* softmax_cross_entropy.c -- L = -(1/n) sum_i log_softmax(x_i)[t_i], over the n rows
 * with a label;
 *
 *     gx_i = (softmax(x_i) - e_t) g / n, or 0 in a row without a label.
 *
 * What stands before g / n is all that backward needs, and is kept.
 */
#include "ops/ops_impl.h"
#include "ops/rows.h"

#ifdef REAL /* ---- kernels: compiled once per real type, see each_real.h ---- */

/* d = softmax(x) - e_t where that is kept. @return -log_softmax(x)[t]. */
static double K(forward_row)(int64_t cols, const REAL *x, int64_t t, REAL *d)
{
    double sum = 0;
    REAL   max = -(REAL)INFINITY;

    for (int64_t c = 0; c < cols; c++)
        max = x[c] > max ? x[c] : max;
    for (int64_t c = 0; c < cols; c++) {
        const REAL e = exp(x[c] - max);
        sum += (double)e;
        if (d != NULL)
            d[c] = e;
    }
    const REAL share = (REAL)(1 / sum);
    for (int64_t c = 0; d != NULL && c < cols; c++)
        d[c] *= share;
    if (d != NULL)
        d[t] -= 1;
    return log(sum) - (double)(x[t] - max);
}

static void K(forward)(weft__matrix size, const REAL *x, const weft_tensor *t, REAL *d, double *L)
{
    EACH_ROW (size.rows, size.cols, r) {
        const int64_t label = weft__label(t, r);
        REAL *const   to = d != NULL ? d + r * size.cols : NULL;

        L[r] = label != WEFT_IGNORE ? K(forward_row)(size.cols, x + r * size.cols, label, to) : 0;
        for (int64_t c = 0; label == WEFT_IGNORE && to != NULL && c < size.cols; c++)
            to[c] = 0;
    }
}

static void K(backward)(int64_t n, double factor, const REAL *d, REAL *gx)
{
    const REAL f = (REAL)factor;
    EACH_CHUNK (n, begin, end)
        for (int64_t i = begin; i < end; i++)
            gx[i] = f * d[i];
}

#else /* ---- the operator ---- */

#include <tgmath.h>

#define SELF "ops/softmax_cross_entropy.c"
#include "tensor/each_real.h"

typedef struct {
    int64_t n; /* rows with a label */
    void   *d; /* softmax(x) - e_t */
} kept;

static weft_status backward(const weft_node *node)
{
    const kept  *k = node->state;
    weft_tensor *gx = node->gin[0];
    if (gx != NULL)
        BY_REAL(gx->dtype, backward, gx->count, weft__scalar_grad(node) / (double)k->n, k->d,
                gx->data);
    return WEFT_OK;
}

static const weft_op softmax_cross_entropy = { .name = "softmax_cross_entropy",
                                               .backward = backward };

static weft_status compute(const weft_tensor *x, const weft_tensor *t, kept *k, weft_var *L)
{
    const weft__matrix size = weft__by_first_axis(x);
    double            *row; /* -log_softmax(x_i)[t_i] */

    WEFT_TRY_NEW(row = weft__take_sums(L->tape, size.rows));
    if (L->needs_grad)
        WEFT_TRY_NEW(k->d = weft_tape_take(L->tape, weft_tensor_bytes(x)));
    BY_REAL(x->dtype, forward, size, x->data, t, k->d, row);
    weft_tensor_set(&L->value, 0, weft__sum_in_order(size.rows, row) / (double)k->n);
    return WEFT_OK;
}

weft_var *weft_softmax_cross_entropy(weft_var *x, weft_var *t)
{
    const char *const name = softmax_cross_entropy.name;
    int64_t           labelled;
    weft_node        *node;

    if (!weft__labels_check(name, x, t, &labelled))
        return NULL;
    weft_var *L = weft__apply_scalar(&softmax_cross_entropy, weft_two(x, t), sizeof(kept), &node);
    if (L == NULL)
        return NULL;
    kept *k = node->state;
    k->n = labelled > 0 ? labelled : 1; /* of none the mean is 0 */
    if (weft_has_data(L) && compute(&x->value, &t->value, k, L) != WEFT_OK)
        return NULL;
    return L;
}

#endif
