/* Tensors: made, shared, converted, said; and what is refused. */
#include "weft_test.h"
#include "tensor/shape.h"
#include "weft/tensor.h"

#include <inttypes.h>
#include <stdio.h>

#define SHAPE(...)                                                                                 \
    (const int64_t[])                                                                              \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static int nothing_left(void **state)
{
    (void)state;
    return weft_memory_now().blocks != 0;
}

static weft_tensor *counting(weft_dtype dtype, int ndim, const int64_t *shape)
{
    weft_tensor *x = weft_tensor_create(dtype, ndim, shape);
    for (int64_t i = 0; i < x->count; i++)
        weft_tensor_set(x, i, (double)i);
    return x;
}

/* ---- dtypes ------------------------------------------------------------------------ */

static const weft_dtype ALL[] = { WEFT_F32, WEFT_F64, WEFT_I32, WEFT_I64, WEFT_U8 };

static void words_and_dtypes_go_both_ways(void **state)
{
    (void)state;
    const int64_t bytes[] = { 4, 8, 4, 8, 1 };
    for (int i = 0; i < 5; i++) {
        weft_dtype back;
        assert_ok(weft_dtype_parse(weft_dtype_text(ALL[i]), &back));
        assert_int_equal(ALL[i], back);
        assert_int_equal(bytes[i], weft_dtype_bytes(ALL[i]));
        assert_int_equal(i < 2, weft_dtype_is_real(ALL[i]));
    }
}

static void an_unknown_word_is_refused_with_those_known(void **state)
{
    (void)state;
    weft_dtype dtype;
    assert_fails(WEFT_E_ARG, weft_dtype_parse("float", &dtype));
    assert_message_has("\"float\"");
    assert_message_has("f32, f64, i32, i64, u8");
}

/* ---- made --------------------------------------------------------------------------- */

static void a_tensor_has_the_shape_asked_for(void **state)
{
    (void)state;
    weft_tensor *x = weft_tensor_create(WEFT_F32, 3, SHAPE(2, 3, 4));
    assert_int_equal(WEFT_F32, x->dtype);
    assert_int_equal(3, x->ndim);
    assert_int_equal(4, x->shape[2]);
    assert_int_equal(24, x->count);
    assert_int_equal(96, weft_tensor_bytes(x));
    assert_int_equal(0, (uintptr_t)x->data % WEFT_ALIGNMENT);
    memset(x->data, 1, 96);
    weft_tensor_destroy(x);
    weft_tensor_destroy(NULL);
}

static void a_scalar_has_one_element(void **state)
{
    (void)state;
    weft_tensor *x = weft_tensor_zeros(WEFT_F64, 0, NULL);
    assert_int_equal(1, x->count);
    assert_near(0, weft_tensor_get(x, 0), 0);
    weft_tensor_destroy(x);
}

static void a_tensor_may_be_empty(void **state)
{
    (void)state;
    const int64_t huge = INT64_C(1) << 40;
    weft_tensor  *x = weft_tensor_create(WEFT_F32, 3, SHAPE(huge, huge, 0));
    assert_non_null(x);
    assert_int_equal(0, x->count);
    assert_non_null(x->data);
    weft_tensor_destroy(x);
}

static void zeros_are_zeros(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        weft_tensor *x = weft_tensor_create(ALL[i], 1, SHAPE(1000));
        weft_tensor_fill(x, 3);
        weft_tensor_destroy(x);
        x = weft_tensor_zeros(ALL[i], 1, SHAPE(1000));
        for (int64_t j = 0; j < 1000; j++)
            assert_near(0, weft_tensor_get(x, j), 0);
        weft_tensor_destroy(x);
    }
}

static void assert_refused(weft_dtype dtype, int ndim, const int64_t *shape, const char *words)
{
    assert_null(weft_tensor_create(dtype, ndim, shape));
    assert_int_equal(WEFT_E_ARG, weft_error_status());
    assert_message_has(words);
}

static void what_can_not_be_is_refused_in_words(void **state)
{
    (void)state;
    const int64_t half = INT64_C(1) << 31;
    assert_refused((weft_dtype)17, 1, SHAPE(2), "element type 17");
    assert_refused((weft_dtype)-1, 1, SHAPE(2), "element type -1");
    assert_refused(WEFT_F32, 9, SHAPE(1, 1, 1, 1, 1, 1, 1, 1, 1), "9 axes");
    assert_refused(WEFT_F32, -1, SHAPE(1), "-1 axes");
    assert_refused(WEFT_F32, 2, SHAPE(3, -4), "(3, -4): axis 1");
    assert_refused(WEFT_F32, 2, SHAPE(0, -4), "axis 1");
    assert_refused(WEFT_F64, 2, SHAPE(half, half), "(2147483648, 2147483648) f64");
    assert_refused(WEFT_U8, 3, SHAPE(half, half, 2), "63 bits");
    assert_refused(WEFT_F32, 1, SHAPE(INT64_MAX), "9223372036854775807");
}

static void the_largest_count_fits(void **state)
{
    (void)state;
    int64_t count;
    assert_ok(weft__shape_count(WEFT_U8, 1, SHAPE(INT64_MAX), &count));
    assert_true(count == INT64_MAX);
    assert_ok(weft__shape_count(WEFT_F64, 2, SHAPE(INT64_MAX / 8, 1), &count));
    assert_true(count == INT64_MAX / 8);
    assert_fails(WEFT_E_ARG, weft__shape_count(WEFT_F64, 1, SHAPE(INT64_MAX / 8 + 1), &count));
    assert_null(weft_tensor_create(WEFT_U8, 1, SHAPE(INT64_MAX)));
    assert_int_equal(WEFT_E_NOMEM, weft_error_status());
}

/* ---- views ---------------------------------------------------------------------------- */

static void a_slice_shares_memory(void **state)
{
    (void)state;
    weft_tensor *x = counting(WEFT_F64, 2, SHAPE(5, 3));
    weft_tensor *rows = weft_tensor_slice(x, 1, 4);

    assert_int_equal(3, rows->shape[0]);
    assert_int_equal(3, rows->shape[1]);
    assert_int_equal(9, rows->count);
    assert_near(3, weft_tensor_get(rows, 0), 0);
    weft_tensor_set(rows, 0, 100);
    assert_near(100, weft_tensor_get(x, 3), 0);
    weft_tensor_destroy(rows);
    weft_tensor_destroy(x);
}

static void a_view_of_a_view_outlives_both(void **state)
{
    (void)state;
    weft_tensor *x = counting(WEFT_I32, 2, SHAPE(5, 3));
    weft_tensor *rows = weft_tensor_slice(x, 1, 4);
    weft_tensor *row = weft_tensor_slice(rows, 2, 3);
    weft_tensor *flat = weft_tensor_reshape(row, 1, SHAPE(-1));

    weft_tensor_destroy(x);
    weft_tensor_destroy(row);
    weft_tensor_destroy(rows);
    assert_int_equal(3, flat->count);
    for (int i = 0; i < 3; i++)
        assert_near(9 + i, weft_tensor_get(flat, i), 0);
    weft_tensor_destroy(flat);
}

static void views_make_no_copy(void **state)
{
    (void)state;
    weft_tensor  *x = weft_tensor_create(WEFT_U8, 1, SHAPE(100000));
    const int64_t before = weft_memory_now().bytes;
    weft_tensor *y = weft_tensor_slice(x, 10, 90000), *z = weft_tensor_reshape(x, 2, SHAPE(10, -1));
    assert_true(weft_memory_now().bytes - before < 1000);
    assert_ptr_equal((char *)x->data + 10, y->data);
    assert_ptr_equal(x->data, z->data);
    weft_tensor_destroy(x);
    weft_tensor_destroy(y);
    weft_tensor_destroy(z);
}

static void empty_slices_are_fine(void **state)
{
    (void)state;
    weft_tensor *x = counting(WEFT_F32, 2, SHAPE(5, 3));
    weft_tensor *none = weft_tensor_slice(x, 5, 5);
    weft_tensor *wide = weft_tensor_zeros(WEFT_F32, 2, SHAPE(5, 0));
    weft_tensor *rows = weft_tensor_slice(wide, 2, 4);

    assert_int_equal(0, none->count);
    assert_int_equal(2, rows->shape[0]);
    assert_int_equal(0, rows->count);
    weft_tensor_destroy(x);
    weft_tensor_destroy(none);
    weft_tensor_destroy(wide);
    weft_tensor_destroy(rows);
}

static void rows_that_are_not_there_are_refused(void **state)
{
    (void)state;
    weft_tensor  *x = counting(WEFT_F32, 2, SHAPE(5, 3)), *scalar = counting(WEFT_F32, 0, NULL);
    const int64_t wrong[][2] = { { -1, 3 }, { 0, 6 }, { 3, 2 }, { 6, 6 } };

    for (int i = 0; i < 4; i++) {
        char words[64];
        snprintf(words, sizeof words, "rows %" PRId64 " to %" PRId64 " of (5, 3) f32", wrong[i][0],
                 wrong[i][1]);
        assert_null(weft_tensor_slice(x, wrong[i][0], wrong[i][1]));
        assert_int_equal(WEFT_E_SHAPE, weft_error_status());
        assert_message_has(words);
    }
    assert_null(weft_tensor_slice(scalar, 0, 1));
    assert_message_has("() f32");
    weft_tensor_destroy(x);
    weft_tensor_destroy(scalar);
}

static void reshape_infers_one_extent(void **state)
{
    (void)state;
    weft_tensor *x = counting(WEFT_F32, 2, SHAPE(6, 4)), *one = counting(WEFT_F32, 0, NULL);
    weft_tensor *y = weft_tensor_reshape(x, 3, SHAPE(2, -1, 3));
    weft_tensor *z = weft_tensor_reshape(x, 2, SHAPE(24, -1));
    weft_tensor *column = weft_tensor_reshape(one, 2, SHAPE(-1, 1));
    weft_tensor *scalar = weft_tensor_reshape(column, 0, NULL);

    assert_int_equal(4, y->shape[1]);
    assert_int_equal(1, z->shape[1]);
    assert_int_equal(1, column->shape[0]);
    assert_int_equal(0, scalar->ndim);
    assert_near(23, weft_tensor_get(y, 23), 0);
    weft_tensor_destroy(x);
    weft_tensor_destroy(y);
    weft_tensor_destroy(z);
    weft_tensor_destroy(one);
    weft_tensor_destroy(column);
    weft_tensor_destroy(scalar);
}

static void assert_no_reshape(const weft_tensor *x, int ndim, const int64_t *shape,
                              const char *words)
{
    assert_null(weft_tensor_reshape(x, ndim, shape));
    assert_int_equal(WEFT_E_SHAPE, weft_error_status());
    assert_message_has(words);
}

static void shapes_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    const int64_t big = INT64_C(1) << 62;
    weft_tensor  *x = counting(WEFT_F32, 2, SHAPE(6, 4));
    weft_tensor  *empty = counting(WEFT_F32, 2, SHAPE(0, 4));

    assert_no_reshape(x, 2, SHAPE(5, 5), "(6, 4) f32 as (5, 5)");
    assert_no_reshape(x, 2, SHAPE(5, -1), "(6, 4) f32 as (5, -1)");
    assert_no_reshape(x, 3, SHAPE(-1, -1, 2), "two extents");
    assert_no_reshape(x, 2, SHAPE(-2, -12), "as (-2, -12)");
    assert_no_reshape(x, 2, SHAPE(48, -1), "as (48, -1)");
    assert_no_reshape(x, 4, SHAPE(big, 4, 24, -1), "(4611686018427387904, 4, 24, -1)");
    assert_no_reshape(x, 2, SHAPE(0, -1), "as (0, -1)");
    assert_no_reshape(x, 9, SHAPE(6, 4, 1, 1, 1, 1, 1, 1, 1), "9 axes");
    assert_no_reshape(empty, 2, SHAPE(0, -1), "as (0, -1)"); /* anything would do */
    weft_tensor_destroy(x);
    weft_tensor_destroy(empty);
}

static void other_peoples_memory_is_described_not_held(void **state)
{
    (void)state;
    float             mine[] = { 0, 1, 2, 3, 4, 5 };
    const weft_tensor x = weft_tensor_wrap(WEFT_F32, 2, SHAPE(3, 2), mine);
    weft_tensor      *row = weft_tensor_slice(&x, 2, 3);

    assert_int_equal(6, x.count);
    assert_null(x.buffer);
    assert_ptr_equal(mine + 4, row->data);
    assert_near(5, weft_tensor_get(row, 1), 0);
    weft_tensor_destroy(row);
}

static void without_data_there_are_views_but_no_copies(void **state)
{
    (void)state;
    const weft_tensor dry = weft_tensor_wrap(WEFT_F32, 2, SHAPE(3, 2), NULL);
    weft_tensor      *row = weft_tensor_slice(&dry, 1, 3);

    assert_null(row->data);
    assert_int_equal(4, row->count);
    assert_null(weft_tensor_copy(&dry));
    assert_int_equal(WEFT_E_STATE, weft_error_status());
    assert_message_has("(3, 2) f32");
    weft_tensor_destroy(row);
}

/* ---- elements ---------------------------------------------------------------------------- */

static void a_copy_is_its_own(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        weft_tensor *x = counting(ALL[i], 2, SHAPE(10, 10)), *y = weft_tensor_copy(x);
        assert_true(weft_tensor_same_shape(x, y));
        assert_int_equal(x->dtype, y->dtype);
        weft_tensor_set(x, 99, 0);
        for (int64_t j = 0; j < 100; j++)
            assert_near((double)j, weft_tensor_get(y, j), 0);
        weft_tensor_destroy(x);
        weft_tensor_destroy(y);
    }
}

static void a_copy_keeps_bits_that_no_double_holds(void **state)
{
    (void)state;
    int64_t      odd[] = { (INT64_C(1) << 53) + 1, INT64_MAX };
    weft_tensor  x = weft_tensor_wrap(WEFT_I64, 1, SHAPE(2), odd);
    weft_tensor *y = weft_tensor_copy(&x);
    assert_memory_equal(odd, y->data, sizeof odd);
    weft_tensor_destroy(y);
}

static void every_type_becomes_every_other(void **state)
{
    (void)state;
    for (int from = 0; from < 5; from++)
        for (int to = 0; to < 5; to++) {
            weft_tensor *x = weft_tensor_create(ALL[from], 1, SHAPE(1300)); /* some rows */
            for (int64_t i = 0; i < 1300; i++)
                weft_tensor_set(x, i, (double)(i % 200));
            weft_tensor *y = weft_tensor_convert(x, ALL[to]);
            assert_int_equal(ALL[to], y->dtype);
            for (int64_t i = 0; i < 1300; i++)
                assert_near((double)(i % 200), weft_tensor_get(y, i), 0);
            weft_tensor_destroy(x);
            weft_tensor_destroy(y);
        }
}

static void assert_becomes(weft_dtype dtype, double value, double expected)
{
    weft_tensor *x = weft_tensor_create(dtype, 1, SHAPE(3));
    weft_tensor_fill(x, value);
    for (int i = 0; i < 3; i++)
        assert_near(expected, weft_tensor_get(x, i), 0);
    weft_tensor_destroy(x);
}

static void numbers_are_cut_toward_zero_and_to_the_range(void **state)
{
    (void)state;
    assert_becomes(WEFT_I32, 2.9, 2);
    assert_becomes(WEFT_I32, -2.9, -2);
    assert_becomes(WEFT_I32, 1e10, INT32_MAX);
    assert_becomes(WEFT_I32, -1e10, INT32_MIN);
    assert_becomes(WEFT_I32, (double)NAN, 0);
    assert_becomes(WEFT_I64, -2.9, -2);
    assert_becomes(WEFT_I64, 1e19, 0x1p63);
    assert_becomes(WEFT_I64, -1e19, -0x1p63);
    assert_becomes(WEFT_I64, (double)NAN, 0);
    assert_becomes(WEFT_U8, 254.9, 254);
    assert_becomes(WEFT_U8, 256, 255);
    assert_becomes(WEFT_U8, -1, 0);
    assert_becomes(WEFT_U8, (double)NAN, 0);
    assert_becomes(WEFT_F32, 1e300, (double)INFINITY);
    assert_becomes(WEFT_F32, 0.1, (double)0.1f);
    assert_becomes(WEFT_F64, (double)NAN, (double)NAN);
}

static void fill_sets_all_and_only_that(void **state)
{
    (void)state;
    weft_tensor *x = weft_tensor_zeros(WEFT_F32, 1, SHAPE(1500));
    weft_tensor *middle = weft_tensor_slice(x, 1, 1499);
    weft_tensor_fill(middle, -1.5);
    for (int64_t i = 0; i < 1500; i++)
        assert_near(i == 0 || i == 1499 ? 0 : -1.5, weft_tensor_get(x, i), 0);
    weft_tensor_destroy(middle);
    weft_tensor_destroy(x);
}

/* ---- said ----------------------------------------------------------------------------------- */

static void a_shape_is_said(void **state)
{
    (void)state;
    const weft_tensor matrix = weft_tensor_wrap(WEFT_F32, 2, SHAPE(32, 784), NULL);
    const weft_tensor vector = weft_tensor_wrap(WEFT_I64, 1, SHAPE(3), NULL);
    const weft_tensor scalar = weft_tensor_wrap(WEFT_U8, 0, NULL, NULL);
    assert_string_equal("(32, 784) f32", weft_shape_text(&matrix));
    assert_string_equal("(3) i64", weft_shape_text(&vector));
    assert_string_equal("() u8", weft_shape_text(&scalar));
    assert_string_equal("no tensor", weft_shape_text(NULL));
}

static void the_longest_shape_is_said_whole(void **state)
{
    (void)state;
    const int64_t     m = INT64_MIN;
    const weft_tensor x = { .dtype = WEFT_F64, .ndim = 8, .shape = { m, m, m, m, m, m, m, m } };
    const char       *text = weft_shape_text(&x);
    assert_int_equal(8 * 20 + 7 * 2 + 2 + 4, strlen(text));
    assert_string_equal("-9223372036854775808) f64", text + strlen(text) - 25);
}

static void eight_shapes_can_be_said_in_one_message(void **state)
{
    (void)state;
    const char *text[8];
    for (int i = 0; i < 8; i++)
        text[i] = weft__extents_text(1, SHAPE(i));
    for (int i = 0; i < 8; i++) {
        const char expected[] = { '(', (char)('0' + i), ')', '\0' };
        assert_string_equal(expected, text[i]);
    }
}

static void shapes_are_compared(void **state)
{
    (void)state;
    const weft_tensor a = weft_tensor_wrap(WEFT_F32, 2, SHAPE(3, 4), NULL);
    const weft_tensor b = weft_tensor_wrap(WEFT_U8, 2, SHAPE(3, 4), NULL);
    const weft_tensor c = weft_tensor_wrap(WEFT_F32, 2, SHAPE(4, 3), NULL);
    const weft_tensor d = weft_tensor_wrap(WEFT_F32, 1, SHAPE(3), NULL);
    assert_true(weft_tensor_same_shape(&a, &b));
    assert_false(weft_tensor_same_shape(&a, &c));
    assert_false(weft_tensor_same_shape(&a, &d));
    assert_false(weft_tensor_same_shape(&d, &a));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(words_and_dtypes_go_both_ways, nothing_left),
        cmocka_unit_test_teardown(an_unknown_word_is_refused_with_those_known, nothing_left),
        cmocka_unit_test_teardown(a_tensor_has_the_shape_asked_for, nothing_left),
        cmocka_unit_test_teardown(a_scalar_has_one_element, nothing_left),
        cmocka_unit_test_teardown(a_tensor_may_be_empty, nothing_left),
        cmocka_unit_test_teardown(zeros_are_zeros, nothing_left),
        cmocka_unit_test_teardown(what_can_not_be_is_refused_in_words, nothing_left),
        cmocka_unit_test_teardown(the_largest_count_fits, nothing_left),
        cmocka_unit_test_teardown(a_slice_shares_memory, nothing_left),
        cmocka_unit_test_teardown(a_view_of_a_view_outlives_both, nothing_left),
        cmocka_unit_test_teardown(views_make_no_copy, nothing_left),
        cmocka_unit_test_teardown(empty_slices_are_fine, nothing_left),
        cmocka_unit_test_teardown(rows_that_are_not_there_are_refused, nothing_left),
        cmocka_unit_test_teardown(reshape_infers_one_extent, nothing_left),
        cmocka_unit_test_teardown(shapes_that_do_not_fit_are_refused, nothing_left),
        cmocka_unit_test_teardown(other_peoples_memory_is_described_not_held, nothing_left),
        cmocka_unit_test_teardown(without_data_there_are_views_but_no_copies, nothing_left),
        cmocka_unit_test_teardown(a_copy_is_its_own, nothing_left),
        cmocka_unit_test_teardown(a_copy_keeps_bits_that_no_double_holds, nothing_left),
        cmocka_unit_test_teardown(every_type_becomes_every_other, nothing_left),
        cmocka_unit_test_teardown(numbers_are_cut_toward_zero_and_to_the_range, nothing_left),
        cmocka_unit_test_teardown(fill_sets_all_and_only_that, nothing_left),
        cmocka_unit_test_teardown(a_shape_is_said, nothing_left),
        cmocka_unit_test_teardown(the_longest_shape_is_said_whole, nothing_left),
        cmocka_unit_test_teardown(eight_shapes_can_be_said_in_one_message, nothing_left),
        cmocka_unit_test_teardown(shapes_are_compared, nothing_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
