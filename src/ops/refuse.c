/* refuse.c -- operators look at their inputs before they touch data, and say what
 * they were given: "matmul of (32, 784) f32 and (100, 10) f32: ...". */
#include "ops/ops_impl.h"

#include <stdarg.h>
#include <stdio.h>

enum { TEXT = 1024 };

/* snprintf to the end of what is there already. */
static void append(char text[TEXT], size_t *used, const char *word)
{
    const int n = snprintf(text + *used, TEXT - *used, "%s", word);
    *used += n > 0 && (size_t)n < TEXT - *used ? (size_t)n : 0;
}

static void append_inputs(char text[TEXT], size_t *used, weft_vars in)
{
    for (int i = 0; i < in.n; i++) {
        append(text, used, i == 0 ? " of " : i < in.n - 1 ? ", " : " and ");
        append(text, used, weft_shape_text(&in.at[i]->value));
    }
}

weft_var *weft__refuse(weft_status kind, const char *where, const char *op, weft_vars in,
                       const char *format, ...)
{
    char    what[TEXT] = "", why[TEXT];
    size_t  used = 0;
    va_list arguments;

    append(what, &used, op);
    append_inputs(what, &used, in);
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    weft_error_set(kind, where, "%s: %s", what, why);
    return NULL;
}

static bool all_there(weft_vars in)
{
    for (int i = 0; i < in.n; i++)
        if (in.at[i] == NULL)
            return false;
    return true;
}

bool weft__all_real(const char *op, weft_vars in)
{
    if (!all_there(in))
        return false; /* the formula's failure is recorded already */

    const weft_dtype dtype = in.at[0]->value.dtype;
    bool             fits = weft_dtype_is_real(dtype);
    for (int i = 1; i < in.n; i++)
        fits = fits && in.at[i]->value.dtype == dtype;
    if (!fits)
        REFUSE(WEFT_E_DTYPE, op, in, in.n == 1 ? "wants f32 or f64" : "wants f32 or f64 for all");
    return fits;
}

bool weft__all_alike(const char *op, weft_vars in)
{
    if (!weft__all_real(op, in))
        return false;
    for (int i = 1; i < in.n; i++)
        if (!weft_tensor_same_shape(&in.at[0]->value, &in.at[i]->value))
            return REFUSED(WEFT_E_SHAPE, op, in, "wants equal shapes");
    return true;
}

bool weft__alike_or_row(const char *op, weft_vars in)
{
    const weft_tensor *a = &in.at[0]->value, *b = &in.at[1]->value;
    if (weft_tensor_same_shape(a, b) ||
        (b->ndim == 1 && a->ndim > 1 && a->shape[a->ndim - 1] == b->shape[0]))
        return true;
    return REFUSED(WEFT_E_SHAPE, op, in, "wants equal shapes, or (..., m) and (m)");
}
