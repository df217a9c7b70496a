/* gradcheck.c -- gradients against central differences:
 *
 *     dL/dx_i  is near  (L(x + h e_i) - L(x - h e_i)) / 2h
 */
#include "weft/autograd.h"

#include <math.h>

typedef struct {
    weft_var *(*formula)(weft_vars x, void *context);
    void               *context;
    int                 n;
    weft_tensor *const *x;
    weft_tape          *analytical; /* holds the gradients while ... */
    weft_tape          *numerical;  /* ... this one is played forward again and again */
} check;

/* Over the very memory that is moved: no copy to keep up to date. */
static weft_status inputs(const check *c, weft_tape *tape, bool needs_grad, weft_vars *x)
{
    x->n = c->n;
    for (int i = 0; i < c->n; i++) {
        WEFT_TRY_NEW(x->at[i] = weft_input(tape, c->x[i]));
        x->at[i]->needs_grad = needs_grad;
    }
    return WEFT_OK;
}

static weft_status evaluate(const check *c, double *loss)
{
    weft_vars x;
    weft_var *L;

    WEFT_TRY(weft_tape_clear(c->numerical));
    WEFT_TRY(inputs(c, c->numerical, false, &x));
    WEFT_TRY_NEW(L = c->formula(x, c->context));
    *loss = weft_item(L);
    return WEFT_OK;
}

/* Leaves *at as it was, also after a failure. */
static weft_status slope(const check *c, double *at, double step, double *result)
{
    const double middle = *at;
    double       above = 0, below = 0;

    *at = middle + step;
    weft_status done = evaluate(c, &above);
    *at = middle - step;
    if (done == WEFT_OK)
        done = evaluate(c, &below);
    *at = middle;
    *result = (above - below) / (2 * step);
    return done;
}

static double gradient(const weft_var *x, int64_t index)
{
    return x != NULL && x->has_grad ? weft_tensor_get(&x->grad, index) : 0;
}

static weft_status compare(const check *c, double step, double *worst)
{
    weft_vars x = { 0 };

    WEFT_TRY(inputs(c, c->analytical, true, &x));
    WEFT_TRY(weft_backward(c->formula(x, c->context)));
    *worst = 0;
    for (int i = 0; i < c->n; i++)
        for (int64_t j = 0; j < c->x[i]->count; j++) {
            const double exact = gradient(x.at[i], j);
            double       measured;
            WEFT_TRY(slope(c, (double *)c->x[i]->data + j, step, &measured));
            const double off = fabs(measured - exact) / fmax(1, fabs(measured));
            *worst = isnan(off) ? off : fmax(*worst, off); /* fmax drops a NaN */
            if (isnan(off))
                return WEFT_OK;
        }
    return WEFT_OK;
}

static weft_status check_arguments(int n, weft_tensor *const *x)
{
    if (n < 1 || n > WEFT_MAX_VARS)
        return WEFT_FAIL(WEFT_E_ARG, "a gradient check of %d variables; 1 to %d are possible", n,
                         WEFT_MAX_VARS);
    for (int i = 0; i < n; i++)
        if (x[i]->dtype != WEFT_F64)
            return WEFT_FAIL(WEFT_E_DTYPE, "a gradient check at %s: f64 is needed",
                             weft_shape_text(x[i]));
    return WEFT_OK;
}

weft_status weft_gradcheck(weft_var *(*formula)(weft_vars x, void *context), void *context, int n,
                           weft_tensor *const *x, double step, double *worst)
{
    WEFT_TRY(check_arguments(n, x));

    check       c = { formula, context, n, x, weft_tape_create(), weft_tape_create() };
    const bool  made = c.analytical != NULL && c.numerical != NULL;
    weft_status done = made ? compare(&c, step, worst) : weft_error_status();
    weft_tape_destroy(c.analytical);
    weft_tape_destroy(c.numerical);
    return done;
}
