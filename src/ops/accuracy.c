/* accuracy.c -- the share of rows whose largest score is the label's. */
#include "ops/ops_impl.h"

#ifdef REAL /* ---- kernels: compiled once per real type, see each_real.h ---- */

/* The first of the largest is at t: no comparison with a NaN is true, so a row
 * with one is wrong. */
static bool K(is_right)(int64_t cols, const REAL *x, int64_t t)
{
    bool right = true;
    for (int64_t c = 0; c < t; c++)
        right = right && x[c] < x[t];
    for (int64_t c = t; c < cols; c++)
        right = right && x[c] <= x[t];
    return right;
}

static int64_t K(count_right)(weft__matrix size, const REAL *x, const weft_tensor *t)
{
    int64_t right = 0;
    for (int64_t r = 0; r < size.rows; r++) {
        const int64_t label = weft__label(t, r);
        right += label != WEFT_IGNORE && K(is_right)(size.cols, x + r * size.cols, label);
    }
    return right;
}

#else /* ---- the operator ---- */

#define SELF "ops/accuracy.c"
#include "tensor/each_real.h"

/* Nothing is recorded: there is no gradient. */
weft_var *weft_accuracy(weft_var *x, weft_var *t)
{
    int64_t labelled;
    if (!weft__labels_check("accuracy", x, t, &labelled))
        return NULL;

    weft_tape *tape = weft_common_tape(weft_two(x, t));
    if (tape == NULL)
        return NULL;
    weft_var *y = weft_variable(tape, x->value.dtype, 0, NULL, false);
    if (!weft_has_data(y))
        return y;
    const int64_t right = BY_REAL(x->value.dtype, count_right, weft__by_first_axis(&x->value),
                                  x->value.data, &t->value);
    weft_tensor_set(&y->value, 0, labelled > 0 ? (double)right / (double)labelled : 0);
    return y;
}

#endif
