/* Operators on classes: extreme scores, labels that are wrong or left out. */
#include "tape_test.h"
#include "weft/ops.h"

#include <fenv.h>

static const double not_a_number = (double)NAN, inf = (double)INFINITY;

/* ---- scores ------------------------------------------------------------------- */

static weft_var *extreme(weft_dtype dtype)
{
    const double values[] = { 1e4, -1e4, 0, 30, -1e4, -1e4, -1e4, -1e4, 3e38, -3e38, 0, 1 };
    weft_var    *x = weft_variable(tape, dtype, 2, (int64_t[]){ 3, 4 }, true);
    for (int i = 0; i < 12; i++)
        weft_tensor_set(&x->value, i, values[i] / (i < 8 ? 1 : 4));
    return x;
}

static void springs_no_trap(weft_dtype dtype)
{
    weft_var *x = extreme(dtype), *labels = LABELS(3, 1, 2, 0);

    feclearexcept(FE_ALL_EXCEPT);
    weft_var *y[] = { weft_softmax(x), weft_log_softmax(x), weft_sigmoid(x), weft_tanh(x),
                      weft_softmax_cross_entropy(x, labels) };
    for (int i = 0; i < 4; i++) {
        for (int64_t j = 0; j < y[i]->value.count; j++)
            assert_true(isfinite(weft_tensor_get(&y[i]->value, j)));
        y[i] = weft_mean(weft_slice(y[i], 0, 2));
    }
    assert_ok(weft_tape_backward(tape, 5, y));
    for (int64_t j = 0; j < 12; j++)
        assert_true(isfinite(weft_tensor_get(&x->grad, j)));
    assert_int_equal(0, fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW));
    assert_ok(weft_tape_clear(tape));
}

static void large_scores_spring_no_trap(void **state)
{
    (void)state;
    springs_no_trap(WEFT_F64);
    springs_no_trap(WEFT_F32);
}

static void large_scores_have_their_limits(void **state)
{
    (void)state;
    weft_var *x = MATRIX(2, 3, 1e4, -1e4, 1e4, -1e4, -1e4, 0);

    assert_values(&weft_softmax(x)->value, VALUES(0.5, 0, 0.5, 0, 0, 1));
    assert_near(-20000 - log(2), weft_tensor_get(&weft_log_softmax(x)->value, 1), 1e-11);
    assert_near((log(2) + 20000 + log(2) + 1e4) / 2 - log(2) / 2,
                weft_item(weft_softmax_cross_entropy(x, LABELS(2, 1, 0))), 1e-11);
    assert_values(&weft_sigmoid(x)->value, VALUES(1, 0, 1, 0, 0, 0.5));
    assert_values(&weft_tanh(x)->value, VALUES(1, -1, 1, -1, -1, 0));
}

static void minus_infinity_masks_a_class(void **state)
{
    (void)state;
    weft_var *x = MATRIX(1, 3, 1, -inf, 1);

    assert_values(&weft_softmax(x)->value, VALUES(0.5, 0, 0.5));
    assert_near(-inf, weft_tensor_get(&weft_log_softmax(x)->value, 1), 0);
    assert_near(log(2), weft_item(weft_softmax_cross_entropy(x, LABELS(1, 0))), 1e-15);
    assert_near(inf, weft_item(weft_softmax_cross_entropy(x, LABELS(1, 1))), 0);
    assert_true(isnan(weft_tensor_get(&weft_softmax(MATRIX(1, 2, -inf, -inf))->value, 0)));
    assert_true(isnan(weft_tensor_get(&weft_softmax(MATRIX(1, 2, inf, 0))->value, 0)));
}

/* ---- labels ------------------------------------------------------------------- */

static void a_label_without_a_class_is_named(void **state)
{
    (void)state;
    weft_var *x = wave(WEFT_F64, 3, 4);

    assert_refused(WEFT_E_VALUE,
                   "softmax_cross_entropy of (3, 4) f64 and (3) i64: "
                   "row 1 has label 4, classes are 0 .. 3",
                   weft_softmax_cross_entropy(x, LABELS(3, 0, 4, 9)));
    assert_refused(WEFT_E_VALUE, "row 2 has label -2",
                   weft_softmax_cross_entropy(x, LABELS(3, 0, -1, -2)));
    assert_refused(WEFT_E_VALUE, "accuracy of (3, 4) f64 and (3) i32: row 0 has label 2147483647",
                   weft_accuracy(x, vector(WEFT_I32, 3, VALUES(INT32_MAX, 1, 1))));
    assert_refused(WEFT_E_VALUE, "row 0 has label 0, classes are 0 .. -1",
                   weft_accuracy(wave(WEFT_F64, 1, 0), LABELS(1, 0)));
}

static void labels_are_integers_one_a_row(void **state)
{
    (void)state;
    weft_var *x = wave(WEFT_F64, 3, 4);

    assert_refused(WEFT_E_SHAPE, "(3, 4) f64 and (2) i64", weft_accuracy(x, LABELS(2, 0, 1)));
    assert_refused(WEFT_E_DTYPE, "(3, 4) f64 and (3) u8",
                   weft_softmax_cross_entropy(x, vector(WEFT_U8, 3, VALUES(0, 1, 2))));
    assert_refused(
        WEFT_E_SHAPE, "a label a row",
        weft_softmax_cross_entropy(x, weft_reshape(LABELS(3, 0, 1, 2), 2, (int64_t[]){ 3, 1 })));
    assert_refused(WEFT_E_SHAPE, "(rows, classes)",
                   weft_softmax_cross_entropy(VECTOR(3, 1, 2, 3), LABELS(3, 0, 1, 2)));
}

static void rows_without_a_label_do_not_count(void **state)
{
    (void)state;
    weft_var *x = MATRIX(2, 2, 0, 0, 5, 9), *all = MATRIX(1, 2, 1, 2);
    weft_var *some = weft_softmax_cross_entropy(x, LABELS(2, 1, WEFT_IGNORE));
    weft_var *none = weft_softmax_cross_entropy(all, LABELS(1, WEFT_IGNORE));

    assert_near(log(2), weft_item(some), 1e-15);
    assert_near(0, weft_item(none), 0);
    assert_ok(weft_tape_backward(tape, 2, (weft_var *[]){ some, none }));
    assert_values(&x->grad, VALUES(0.5, -0.5, 0, 0));
    assert_values(&all->grad, VALUES(0, 0));
    assert_near(0, weft_item(weft_accuracy(all, LABELS(1, WEFT_IGNORE))), 0);
}

static void accuracy_counts_the_first_of_the_largest(void **state)
{
    (void)state;
    weft_var *x = MATRIX(4, 3, 1, 1, 0, 0, 1, 1, not_a_number, 9, 9, 9, 9, not_a_number);

    assert_near(0.5, weft_item(weft_accuracy(x, LABELS(4, 0, 1, 1, 0))), 0);
    assert_near(0, weft_item(weft_accuracy(x, LABELS(4, 1, 2, 0, 2))), 0);
    assert_near(1, weft_item(weft_accuracy(x, LABELS(4, 0, -1, -1, -1))), 0);
    assert_false(weft_accuracy(x, LABELS(4, 0, 1, 1, 0))->needs_grad);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TAPE_TEST(large_scores_spring_no_trap),
        TAPE_TEST(large_scores_have_their_limits),
        TAPE_TEST(minus_infinity_masks_a_class),
        TAPE_TEST(a_label_without_a_class_is_named),
        TAPE_TEST(labels_are_integers_one_a_row),
        TAPE_TEST(rows_without_a_label_do_not_count),
        TAPE_TEST(accuracy_counts_the_first_of_the_largest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
