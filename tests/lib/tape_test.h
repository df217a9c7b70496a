/* tape_test.h -- tests on one tape, with variables written down. */
#ifndef TAPE_TEST_H
#define TAPE_TEST_H

#include "weft_test.h"
#include "weft/autograd.h"

static weft_tape *tape;

static inline int open_tape(void **state)
{
    (void)state;
    tape = weft_tape_create();
    return tape == NULL;
}

static inline int close_tape(void **state)
{
    (void)state;
    weft_tape_destroy(tape);
    return 0;
}

static inline weft_var *matrix(int64_t rows, int64_t cols, const double *values)
{
    weft_var *x = weft_variable(tape, WEFT_F64, 2, (int64_t[]){ rows, cols }, true);
    assert_non_null(x);
    for (int64_t i = 0; i < rows * cols; i++)
        weft_tensor_set(&x->value, i, values[i]);
    return x;
}

static inline weft_var *vector(weft_dtype dtype, int64_t n, const double *values)
{
    weft_var *x = weft_variable(tape, dtype, 1, &n, weft_dtype_is_real(dtype));
    assert_non_null(x);
    for (int64_t i = 0; i < n; i++)
        weft_tensor_set(&x->value, i, values[i]);
    return x;
}

#define MATRIX(rows, cols, ...) matrix(rows, cols, (const double[(rows) * (cols)]){ __VA_ARGS__ })
#define VECTOR(n, ...) vector(WEFT_F64, n, (const double[n]){ __VA_ARGS__ })
#define LABELS(n, ...) vector(WEFT_I64, n, (const double[n]){ __VA_ARGS__ })

/* A value a little unlike its neighbours. */
static inline weft_var *wave(weft_dtype dtype, int64_t rows, int64_t cols)
{
    weft_var *x = weft_variable(tape, dtype, 2, (int64_t[]){ rows, cols }, true);
    assert_non_null(x);
    for (int64_t i = 0; i < rows * cols; i++)
        weft_tensor_set(&x->value, i, sin(0.7 * (double)i));
    return x;
}

static inline void assert_refused(weft_status status, const char *message, const weft_var *y)
{
    assert_null(y);
    assert_fails(status, weft_error_status());
    assert_message_has(message);
    weft_error_clear();
}

static inline void assert_values(const weft_tensor *x, const double *expected)
{
    for (int64_t i = 0; i < x->count; i++)
        assert_near(expected[i], weft_tensor_get(x, i), 1e-15);
}

#define VALUES(...) ((const double[]){ __VA_ARGS__ })

#define TAPE_TEST(name) cmocka_unit_test_setup_teardown(name, open_tape, close_tape)

#endif
