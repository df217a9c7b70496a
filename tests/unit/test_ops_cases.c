/* Operators: what is special to one of them. What all have in common is in
 * test_ops.c. */
#include "tape_test.h"
#include "weft/ops.h"

static const double not_a_number = (double)NAN;

/* ---- shapes that do not fit ---------------------------------------------------------- */

static void products_name_the_shapes_that_do_not_fit(void **state)
{
    (void)state;
    weft_var *A = wave(WEFT_F64, 2, 3), *B = wave(WEFT_F64, 4, 5), *b = VECTOR(3, 1, 2, 3);

    assert_refused(WEFT_E_SHAPE, "matmul of (2, 3) f64 and (4, 5) f64", weft_matmul(A, B));
    assert_refused(WEFT_E_SHAPE, "matmul of (2, 3) f64 and (3) f64", weft_matmul(A, b));
    assert_refused(WEFT_E_SHAPE, "affine of (2, 3) f64 and (4, 5) f64", weft_affine(A, B, NULL));
    assert_refused(WEFT_E_SHAPE, "affine_relu of (2, 3) f64, (2, 3) f64 and (3) f64",
                   weft_affine_relu(A, wave(WEFT_F64, 2, 3), b));
    assert_refused(WEFT_E_SHAPE, "wants x (n, k) and W (m, k)", weft_affine(A, b, NULL));
}

static void extents_whose_product_overflows_do_not_fit(void **state)
{
    (void)state;
    const int64_t     shape[] = { 0, (INT64_C(1) << 62) + 1, 4 }; /* modulo 2^64: 4 */
    double            none = 0;
    const weft_tensor huge = weft_tensor_wrap(WEFT_F64, 3, shape, &none);
    weft_var         *x = weft_input(tape, &huge);

    assert_non_null(x);
    assert_refused(WEFT_E_SHAPE, "affine of (0, ", weft_affine(x, wave(WEFT_F64, 2, 4), NULL));
}

static void only_a_row_is_broadcast(void **state)
{
    (void)state;
    weft_var *a = wave(WEFT_F64, 3, 4);

    assert_refused(WEFT_E_SHAPE, "add of (3, 4) f64 and (3) f64", weft_add(a, VECTOR(3, 1, 2, 3)));
    assert_refused(WEFT_E_SHAPE, "subtract of (4) f64 and (3, 4) f64",
                   weft_subtract(VECTOR(4, 1, 2, 3, 4), a));
    assert_refused(WEFT_E_SHAPE, "multiply of (3, 4) f64 and (4) f64",
                   weft_multiply(a, VECTOR(4, 1, 2, 3, 4)));
    assert_refused(WEFT_E_SHAPE, "mean_squared_error of (3, 4) f64 and (4, 3) f64",
                   weft_mean_squared_error(a, wave(WEFT_F64, 4, 3)));
}

static void reshape_wants_every_element_to_have_its_place(void **state)
{
    (void)state;
    weft_var *x = wave(WEFT_F64, 2, 6);

    assert_refused(WEFT_E_SHAPE, "reshape of (2, 6) f64: does not fit into (5, 3) f64",
                   weft_reshape(x, 2, (int64_t[]){ 5, 3 }));
    assert_refused(WEFT_E_SHAPE, "(-1, 5)", weft_reshape(x, 2, (int64_t[]){ -1, 5 }));
    assert_refused(WEFT_E_SHAPE, "(-1, -1)", weft_reshape(x, 2, (int64_t[]){ -1, -1 }));
    assert_refused(WEFT_E_SHAPE, "(-2, -6)", weft_reshape(x, 2, (int64_t[]){ -2, -6 }));
    assert_refused(WEFT_E_SHAPE, "9 axes", weft_reshape(x, 9, (int64_t[9]){ 0 }));
    assert_refused(WEFT_E_SHAPE, "(0, -1)",
                   weft_reshape(wave(WEFT_F64, 0, 6), 2, (int64_t[]){ 0, -1 }));
    assert_refused(WEFT_E_SHAPE, "into () f64", weft_reshape(x, 0, NULL));
}

static void slice_wants_rows_that_are_there(void **state)
{
    (void)state;
    weft_var *x = wave(WEFT_F64, 3, 2);

    assert_refused(WEFT_E_SHAPE, "slice of (3, 2) f64: no rows 1 .. 4 - 1", weft_slice(x, 1, 4));
    assert_refused(WEFT_E_SHAPE, "no rows -1", weft_slice(x, -1, 2));
    assert_refused(WEFT_E_SHAPE, "no rows 2 .. 1", weft_slice(x, 2, 1));
    assert_refused(WEFT_E_SHAPE, "slice of ()", weft_slice(weft_sum(x), 0, 1));
}

static void concat_wants_an_axis_and_equal_extents_but_there(void **state)
{
    (void)state;
    const weft_vars x = weft_two(wave(WEFT_F64, 3, 2), wave(WEFT_F64, 4, 2));

    assert_refused(WEFT_E_SHAPE, "concat of (3, 2) f64 and (4, 2) f64: wants equal extents",
                   weft_concat(x, 1));
    assert_refused(WEFT_E_SHAPE, "no axis 2", weft_concat(x, 2));
    assert_refused(WEFT_E_SHAPE, "no axis -1", weft_concat(x, -1));
    assert_refused(WEFT_E_ARG, "nothing", weft_concat((weft_vars){ 0 }, 0));
    assert_refused(WEFT_E_ARG, "nothing", weft_concat((weft_vars){ -1, { NULL } }, 0));
    assert_refused(WEFT_E_ARG, "too many",
                   weft_concat((weft_vars){ WEFT_MAX_VARS + 1, { NULL } }, 0));
    assert_refused(WEFT_E_SHAPE, "(2) f64", weft_concat(weft_two(x.at[0], VECTOR(2, 1, 2)), 0));
}

/* ---- one variable, several uses ---------------------------------------------------------- */

static void a_variable_times_itself(void **state)
{
    (void)state;
    weft_var *x = VECTOR(3, 1, -2, 3);

    assert_ok(weft_backward(weft_sum(weft_multiply(x, x))));
    assert_values(&x->grad, VALUES(2, -4, 6));
}

static void a_variable_minus_itself_and_plus_itself(void **state)
{
    (void)state;
    weft_var *x = VECTOR(3, 1, -2, 3);
    weft_var *y = weft_add(weft_subtract(x, x), weft_add(x, x));

    assert_values(&y->value, VALUES(2, -4, 6));
    assert_ok(weft_backward(weft_sum(y)));
    assert_values(&x->grad, VALUES(2, 2, 2));
}

static void gradients_of_several_consumers_add_up(void **state)
{
    (void)state;
    weft_var *x = VECTOR(3, 1, -2, 3);
    weft_var *h = weft_affine_relu(weft_reshape(x, 2, (int64_t[]){ 3, 1 }), MATRIX(1, 1, 2), NULL);
    weft_var *L = weft_add(weft_sum(weft_multiply(h, h)), weft_sum(weft_scale(h, 3)));

    L = weft_add(L, weft_sum(weft_slice(x, 0, 2)));
    L = weft_add(L, weft_sum(weft_slice(x, 1, 3)));
    assert_ok(weft_backward(L));
    /* h = 2 x where x > 0: 2 h 2 + 3 * 2, and how many slices it is in */
    assert_values(&x->grad, VALUES(8 + 6 + 1, 0 + 2, 24 + 6 + 1));
}

/* ---- products ---------------------------------------------------------------------------------
 */

static void fused_bits(weft_dtype dtype, bool bias)
{
    const int64_t n = 37, k = 29, m = 301;
    weft_var     *x[2], *W[2], *b[2], *y[2];

    for (int i = 0; i < 2; i++) {
        x[i] = wave(dtype, n, k);
        W[i] = wave(dtype, m, k);
        b[i] = bias ? weft_reshape(wave(dtype, 1, m), 1, (int64_t[]){ m }) : NULL;
        y[i] =
            i == 0 ? weft_affine_relu(x[i], W[i], b[i]) : weft_relu(weft_affine(x[i], W[i], b[i]));
        assert_non_null(y[i]);
    }
    const size_t bytes = (size_t)weft_tensor_bytes(&y[0]->value);
    assert_memory_equal(y[0]->value.data, y[1]->value.data, bytes);
    for (int i = 0; i < 2; i++)
        y[i] = weft_mean_squared_error(y[i], wave(dtype, n, m));
    assert_ok(weft_tape_backward(tape, 2, y));
    assert_memory_equal(x[0]->grad.data, x[1]->grad.data, (size_t)weft_tensor_bytes(&x[0]->grad));
    assert_memory_equal(W[0]->grad.data, W[1]->grad.data, (size_t)weft_tensor_bytes(&W[0]->grad));
    if (bias)
        assert_memory_equal(b[0]->grad.data, b[1]->grad.data,
                            (size_t)weft_tensor_bytes(&b[0]->grad));
    assert_ok(weft_tape_clear(tape));
}

static void affine_relu_has_the_bits_of_relu_of_affine(void **state)
{
    (void)state;
    fused_bits(WEFT_F32, true);
    fused_bits(WEFT_F32, false);
    fused_bits(WEFT_F64, true);
    fused_bits(WEFT_F64, false);
}

static void affine_relu_leaves_its_masked_gradient_in_the_output(void **state)
{
    (void)state;
    weft_var *y = weft_affine_relu(MATRIX(2, 1, 1, -1), MATRIX(2, 1, 1, -1), NULL);

    assert_ok(weft_backward(weft_sum(weft_scale(y, 5))));
    assert_values(&y->value, VALUES(1, 0, 0, 1));
    assert_values(&y->grad, VALUES(5, 0, 0, 5));
}

/* ---- numbers at the edge ------------------------------------------------------------------------
 */

static void not_a_number_stays_visible(void **state)
{
    (void)state;
    weft_var *x = MATRIX(1, 3, not_a_number, 1, -1);

    assert_true(isnan(weft_tensor_get(&weft_relu(x)->value, 0)));
    assert_true(isnan(weft_tensor_get(&weft_leaky_relu(x, 0.1)->value, 0)));
    assert_true(isnan(weft_tensor_get(&weft_sigmoid(x)->value, 0)));
    assert_true(isnan(weft_tensor_get(&weft_tanh(x)->value, 0)));
    assert_true(isnan(weft_item(weft_softmax_cross_entropy(x, LABELS(1, 1)))));
    weft_var *W = MATRIX(3, 3, 1, 0, 0, 0, 1, 0, 0, 0, 1);
    for (int i = 0; i < 3; i++) {
        assert_true(isnan(weft_tensor_get(&weft_softmax(x)->value, i)));
        assert_true(isnan(weft_tensor_get(&weft_log_softmax(x)->value, i)));
        assert_true(isnan(weft_tensor_get(&weft_affine_relu(x, W, NULL)->value, i)));
        assert_true(isnan(weft_tensor_get(&weft_affine_relu(x, W, VECTOR(3, 1, 2, 3))->value, i)));
    }
}

static void long_sums_of_floats_keep_their_digits(void **state)
{
    (void)state;
    const int64_t n = 10000000;
    weft_var     *x = weft_variable(tape, WEFT_F32, 1, &n, true);

    weft_tensor_fill(&x->value, 0.1);
    const double tenth = (double)0.1F, one = 1e-7; /* half a unit of the result's last place */
    assert_near(tenth * (double)n, weft_item(weft_sum(x)), one * 1e6);
    assert_near(tenth, weft_item(weft_mean(x)), one * 0.1);
    assert_near(tenth * tenth, weft_item(weft_mean_squared_error(x, weft_scale(x, 0))), one * 0.01);
}

static void a_bias_over_many_rows_keeps_its_digits(void **state)
{
    (void)state;
    const int64_t m = 3;
    weft_var     *b = weft_variable(tape, WEFT_F32, 1, &m, true);
    weft_var     *y = weft_add(wave(WEFT_F32, 1000000, m), b);

    assert_ok(weft_backward(weft_sum(weft_scale(y, 0.1))));
    for (int i = 0; i < m; i++)
        assert_near(1e6 * (double)0.1F, weft_tensor_get(&b->grad, i), 1e-2);
}

/* ---- labels -------------------------------------------------------------------------------------
 */

/* ---- shapes without a copy
 * -------------------------------------------------------------------------- */

static void views_share_memory(void **state)
{
    (void)state;
    weft_var *x = wave(WEFT_F64, 4, 3);

    assert_ptr_equal(x->value.data, weft_reshape(x, 3, (int64_t[]){ 2, -1, 3 })->value.data);
    assert_ptr_equal((double *)x->value.data + 6, weft_slice(x, 2, 4)->value.data);
    assert_int_equal(0, weft_slice(x, 4, 4)->value.count);
    assert_int_equal(2, weft_reshape(x, 3, (int64_t[]){ 2, -1, 3 })->value.shape[1]);
    assert_int_equal(0, weft_reshape(VECTOR(1, 7), 0, NULL)->value.ndim);
    assert_false(weft_slice(LABELS(2, 1, 2), 0, 1)->needs_grad);
}

static void integers_are_put_together_too(void **state)
{
    (void)state;
    weft_var *y = weft_concat(weft_two(LABELS(2, 1, 2), LABELS(1, 3)), 0);

    assert_int_equal(WEFT_I64, y->value.dtype);
    assert_values(&y->value, VALUES(1, 2, 3));
    assert_false(y->needs_grad);
}

static void nothing_has_no_mean_but_no_error(void **state)
{
    (void)state;
    weft_var *x = wave(WEFT_F64, 0, 3);

    assert_refused(WEFT_E_SHAPE, "mean of (0, 3) f64", weft_mean(x));
    assert_near(0, weft_item(weft_sum(x)), 0);
    assert_near(0, weft_item(weft_mean_squared_error(x, x)), 0);
    assert_near(0, weft_item(weft_softmax_cross_entropy(x, vector(WEFT_I64, 0, NULL))), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TAPE_TEST(products_name_the_shapes_that_do_not_fit),
        TAPE_TEST(extents_whose_product_overflows_do_not_fit),
        TAPE_TEST(only_a_row_is_broadcast),
        TAPE_TEST(reshape_wants_every_element_to_have_its_place),
        TAPE_TEST(slice_wants_rows_that_are_there),
        TAPE_TEST(concat_wants_an_axis_and_equal_extents_but_there),
        TAPE_TEST(a_variable_times_itself),
        TAPE_TEST(a_variable_minus_itself_and_plus_itself),
        TAPE_TEST(gradients_of_several_consumers_add_up),
        TAPE_TEST(affine_relu_has_the_bits_of_relu_of_affine),
        TAPE_TEST(affine_relu_leaves_its_masked_gradient_in_the_output),
        TAPE_TEST(not_a_number_stays_visible),
        TAPE_TEST(long_sums_of_floats_keep_their_digits),
        TAPE_TEST(a_bias_over_many_rows_keeps_its_digits),
        TAPE_TEST(views_share_memory),
        TAPE_TEST(integers_are_put_together_too),
        TAPE_TEST(nothing_has_no_mean_but_no_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
