/* labels.c -- the classes that rows are said to be of. */
#include "ops/ops_impl.h"

#include <inttypes.h>

static bool check_kinds(const char *op, const weft_tensor *x, const weft_tensor *t, weft_vars in)
{
    if (!weft_dtype_is_real(x->dtype) || (t->dtype != WEFT_I32 && t->dtype != WEFT_I64))
        return REFUSED(WEFT_E_DTYPE, op, in, "wants f32 or f64, and labels in i32 or i64");
    if (x->ndim != 2 || t->ndim != 1 || x->shape[0] != t->shape[0])
        return REFUSED(WEFT_E_SHAPE, op, in, "wants (rows, classes) and a label a row");
    return true;
}

/* The first row with a label that no class has; -1 if there is none. */
static int64_t find_wrong(const weft_tensor *t, int64_t classes, int64_t *counted)
{
    *counted = 0;
    for (int64_t r = 0; r < t->count; r++) {
        const int64_t label = weft__label(t, r);
        if (label != WEFT_IGNORE && (label < 0 || label >= classes))
            return r;
        *counted += label != WEFT_IGNORE;
    }
    return -1;
}

bool weft__labels_check(const char *op, weft_var *x, weft_var *t, int64_t *counted)
{
    const weft_vars in = weft_two(x, t);
    if (x == NULL || t == NULL || !check_kinds(op, &x->value, &t->value, in))
        return false;

    *counted = 0;
    const int64_t wrong =
        t->value.data != NULL ? find_wrong(&t->value, x->value.shape[1], counted) : -1;
    if (wrong >= 0)
        return REFUSED(WEFT_E_VALUE, op, in,
                       "row %" PRId64 " has label %" PRId64 ", classes are 0 .. %" PRId64, wrong,
                       weft__label(&t->value, wrong), x->value.shape[1] - 1);
    return true;
}
