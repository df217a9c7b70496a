/* Dropout: which elements it keeps, and on what that depends. */
#include "tape_test.h"
#include "weft/ops.h"

static void set_step(uint64_t seed, int64_t step, int64_t rows, const int64_t *sample)
{
    weft_tape_step_set(tape,
                       &(weft_step){ .seed = seed, .step = step, .rows = rows, .sample = sample });
}

/* All ones, so that the output is the mask, scaled. */
static weft_var *ones(weft_dtype dtype, int64_t rows, int64_t cols)
{
    weft_var *x = weft_variable(tape, dtype, 2, (int64_t[]){ rows, cols }, true);
    assert_non_null(x);
    weft_tensor_fill(&x->value, 1);
    return x;
}

static bool differ(const weft_var *a, const weft_var *b)
{
    return memcmp(a->value.data, b->value.data, (size_t)weft_tensor_bytes(&a->value)) != 0;
}

static void the_draws_are_the_streams(void **state)
{
    (void)state;
    const int64_t sample[] = { 17, 4, 1000000007 };
    weft_random   stream = weft_random_stream(42, "net/drop");

    set_step(42, 9, 3, sample);
    weft_var *y = weft_dropout(ones(WEFT_F64, 3, 77), 0.25, "net/drop");
    assert_non_null(y);
    for (int64_t i = 0; i < y->value.count; i++) {
        stream.step = 9;
        stream.sample = (uint64_t)sample[i / 77];
        const bool kept = weft_random_uniform(&stream, (uint64_t)(i % 77)) >= 0.25;
        assert_near(kept ? 1 / 0.75 : 0, weft_tensor_get(&y->value, i), 0);
    }
}

static void a_sample_is_masked_alike_in_any_batch(void **state)
{
    (void)state;
    const int64_t all[] = { 5, 6, 7, 8, 9 }, some[] = { 9, 7 };

    set_step(1, 2, 5, all);
    weft_var *y = weft_dropout(ones(WEFT_F32, 5, 33), 0.5, "drop");
    set_step(1, 2, 2, some);
    weft_var *z = weft_dropout(ones(WEFT_F32, 2, 33), 0.5, "drop");

    assert_memory_equal(z->value.data, weft_slice(y, 4, 5)->value.data, 33 * sizeof(float));
    assert_memory_equal(weft_slice(z, 1, 2)->value.data, weft_slice(y, 2, 3)->value.data,
                        33 * sizeof(float));
    assert_true(differ(weft_slice(y, 2, 3), weft_slice(y, 4, 5)));
}

static void seed_name_and_step_each_give_another_mask(void **state)
{
    (void)state;
    set_step(1, 1, 4, NULL);
    weft_var *y = weft_dropout(ones(WEFT_F32, 4, 50), 0.5, "a");
    weft_var *again = weft_dropout(ones(WEFT_F32, 4, 50), 0.5, "a");
    weft_var *named = weft_dropout(ones(WEFT_F32, 4, 50), 0.5, "b");
    set_step(1, 2, 4, NULL);
    weft_var *later = weft_dropout(ones(WEFT_F32, 4, 50), 0.5, "a");
    set_step(2, 1, 4, NULL);
    weft_var *seeded = weft_dropout(ones(WEFT_F32, 4, 50), 0.5, "a");

    assert_false(differ(y, again));
    assert_true(differ(y, named));
    assert_true(differ(y, later));
    assert_true(differ(y, seeded));
}

static void float_and_double_and_threads_give_one_mask(void **state)
{
    (void)state;
    set_step(1, 1, 100, NULL);
    weft_var *y = weft_dropout(ones(WEFT_F32, 100, 501), 0.3, "a");
    weft_threads_set(2);
    weft_var *z = weft_dropout(ones(WEFT_F64, 100, 501), 0.3, "a");
    weft_threads_set(1);

    for (int64_t i = 0; i < y->value.count; i++)
        assert_int_equal(weft_tensor_get(&y->value, i) > 0, weft_tensor_get(&z->value, i) > 0);
}

/* The number kept is binomial: within five standard deviations. */
static void keeps_the_share_it_should_and_the_mean(void **state)
{
    (void)state;
    const double rate[] = { 0.1, 0.5, 0.9 };
    const int    n = 400 * 500;

    set_step(3, 0, 400, NULL);
    for (int i = 0; i < 3; i++) {
        weft_var    *y = weft_dropout(ones(WEFT_F64, 400, 500), rate[i], "share");
        const double kept = weft_item(weft_sum(y)) * (1 - rate[i]);
        assert_near(n * (1 - rate[i]), kept, 5 * sqrt(n * rate[i] * (1 - rate[i])));
    }
}

static void the_gradient_goes_the_same_way(void **state)
{
    (void)state;
    set_step(3, 0, 8, NULL);
    weft_var *x = ones(WEFT_F64, 8, 9), *y = weft_dropout(x, 0.5, "drop");

    assert_ok(weft_backward(weft_sum(y)));
    assert_memory_equal(y->value.data, x->grad.data, 72 * sizeof(double));
}

static void inference_and_rate_0_change_nothing(void **state)
{
    (void)state;
    set_step(3, 0, 8, NULL);
    weft_var *x = ones(WEFT_F32, 8, 9);
    assert_false(differ(x, weft_dropout(x, 0, "drop")));

    assert_ok(weft_tape_clear(tape));
    assert_ok(weft_tape_mode_set(tape, WEFT_INFER));
    x = ones(WEFT_F32, 2, 9); /* without a step that fits */
    assert_ptr_equal(x, weft_dropout(x, 0.5, "drop"));
}

static void a_dry_run_needs_no_step(void **state)
{
    (void)state;
    assert_ok(weft_tape_mode_set(tape, WEFT_DRY));
    weft_var *x = weft_variable(tape, WEFT_F32, 2, (int64_t[]){ 8, 9 }, true);
    weft_var *y = weft_dropout(x, 0.5, "drop");

    assert_non_null(y);
    assert_null(y->value.data);
    assert_refused(WEFT_E_ARG, "a rate of 2", weft_dropout(x, 2, "drop"));
}

static void refuses_what_it_can_not_draw_by(void **state)
{
    (void)state;
    set_step(3, 0, 8, NULL);
    weft_var *x = ones(WEFT_F32, 8, 9);

    assert_refused(WEFT_E_ARG, "dropout of (8, 9) f32: a rate of 1", weft_dropout(x, 1, "drop"));
    assert_refused(WEFT_E_ARG, "a rate of -0.1", weft_dropout(x, -0.1, "drop"));
    assert_refused(WEFT_E_ARG, "nan", weft_dropout(x, (double)NAN, "drop"));
    assert_refused(WEFT_E_ARG, "name", weft_dropout(x, 0.5, ""));
    assert_refused(WEFT_E_ARG, "name", weft_dropout(x, 0.5, NULL));
    assert_refused(WEFT_E_SHAPE, "dropout of (7, 9) f32: rows are not the 8 samples",
                   weft_dropout(ones(WEFT_F32, 7, 9), 0.5, "drop"));
    assert_refused(WEFT_E_SHAPE, "()", weft_dropout(weft_sum(x), 0.5, "drop"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TAPE_TEST(the_draws_are_the_streams),
        TAPE_TEST(a_sample_is_masked_alike_in_any_batch),
        TAPE_TEST(seed_name_and_step_each_give_another_mask),
        TAPE_TEST(float_and_double_and_threads_give_one_mask),
        TAPE_TEST(keeps_the_share_it_should_and_the_mean),
        TAPE_TEST(the_gradient_goes_the_same_way),
        TAPE_TEST(inference_and_rate_0_change_nothing),
        TAPE_TEST(a_dry_run_needs_no_step),
        TAPE_TEST(refuses_what_it_can_not_draw_by),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
