/* Kernels by processor, and threads: what is chosen, and that bits do not depend
 * on it. This file includes itself, as an operator's does.
 */
#ifndef REAL
#include "weft_test.h"
#include "base/processor.h"
#include "weft/tensor.h"

#include <omp.h>
#endif

#ifdef REAL /* ---- kernels: compiled once per real type, see each_real.h ---- */

static void K(polynomial)(int64_t n, const REAL *x, REAL *y)
{
    EACH_CHUNK (n, begin, end)
        for (int64_t i = begin; i < end; i++)
            y[i] = (x[i] * x[i] + 3 * x[i]) / (x[i] * (REAL)0.1 + 2) - x[i] * (REAL)0.7;
}

static void K(count_visits)(int64_t n, REAL *visits)
{
    EACH_CHUNK (n, begin, end) {
        assert_true(begin % WEFT__CHUNK == 0);
        assert_true(end == n || end - begin == WEFT__CHUNK);
        for (int64_t i = begin; i < end; i++)
            visits[i] += 1;
    }
}

static void K(most_threads)(int64_t n, REAL *threads)
{
    EACH_CHUNK (n, begin, end)
        for (int64_t i = begin; i < end; i++)
            threads[i] = (REAL)omp_get_num_threads();
}

#else /* ---- the tests ---- */

#define SELF "../tests/unit/test_processor.c"
#include "tensor/each_real.h"

enum { N = 3 * WEFT__CHUNK + 77 };

static int teardown(void **state)
{
    (void)state;
    weft_threads_set(1);
    weft_kernels_choose(NULL);
    return weft_memory_now().blocks != 0;
}

static bool has_avx2(void)
{
    return weft_kernels_choose("avx2") == WEFT_OK;
}

static void the_processor_chooses_at_first(void **state)
{
    (void)state;
    char *chosen = weft_text_copy(weft_kernels());
    assert_string_equal(has_avx2() ? "avx2" : "baseline", chosen);
    weft_free(chosen);
}

static void kernels_are_chosen_by_name(void **state)
{
    (void)state;
    assert_ok(weft_kernels_choose("baseline"));
    assert_string_equal("baseline", weft_kernels());
    assert_false(weft__use_avx2);
    if (has_avx2())
        assert_string_equal("avx2", weft_kernels());
    assert_ok(weft_kernels_choose("baseline"));
    assert_ok(weft_kernels_choose(NULL));
    assert_string_equal(has_avx2() ? "avx2" : "baseline", weft_kernels());
}

static void unknown_kernels_are_refused_and_nothing_changes(void **state)
{
    (void)state;
    assert_ok(weft_kernels_choose("baseline"));
    assert_fails(WEFT_E_ARG, weft_kernels_choose("avx512"));
    assert_message_has("\"avx512\"");
    assert_message_has("baseline, avx2");
    assert_string_equal("baseline", weft_kernels());
}

static weft_tensor *compute(weft_dtype dtype, const weft_tensor *x)
{
    weft_tensor *y = weft_tensor_create(dtype, 1, x->shape);
    BY_REAL(dtype, polynomial, N, x->data, y->data);
    return y;
}

static void assert_same_bits(weft_dtype dtype, const char *kernels, int threads)
{
    const weft_random r = weft_random_stream(3, "x");
    weft_tensor      *x = weft_tensor_create(dtype, 1, (const int64_t[]){ N });
    for (int64_t i = 0; i < N; i++)
        weft_tensor_set(x, i, weft_random_normal(&r, (uint64_t)i));

    weft_threads_set(1);
    assert_ok(weft_kernels_choose("baseline"));
    weft_tensor *expected = compute(dtype, x);
    weft_threads_set(threads);
    assert_ok(weft_kernels_choose(kernels));
    weft_tensor *got = compute(dtype, x);

    assert_memory_equal(expected->data, got->data, (size_t)weft_tensor_bytes(got));
    weft_tensor_destroy(x);
    weft_tensor_destroy(expected);
    weft_tensor_destroy(got);
}

static void all_kernels_give_the_same_bits(void **state)
{
    (void)state;
    if (!has_avx2())
        skip();
    assert_same_bits(WEFT_F32, "avx2", 1);
    assert_same_bits(WEFT_F64, "avx2", 1);
}

static void all_numbers_of_threads_give_the_same_bits(void **state)
{
    (void)state;
    for (int threads = 2; threads < 5; threads++) {
        assert_same_bits(WEFT_F32, NULL, threads);
        assert_same_bits(WEFT_F64, NULL, threads);
    }
}

static void each_element_is_in_one_chunk(void **state)
{
    (void)state;
    const int64_t length[] = { 0, 1, WEFT__CHUNK - 1, WEFT__CHUNK, WEFT__CHUNK + 1, N };
    for (int i = 0; i < 6; i++)
        for (int threads = 1; threads < 4; threads++) {
            weft_tensor *visits = weft_tensor_zeros(WEFT_F32, 1, (const int64_t[]){ N });
            weft_threads_set(threads);
            BY_REAL(WEFT_F32, count_visits, length[i], visits->data);
            for (int64_t j = 0; j < N; j++)
                assert_near(j < length[i], weft_tensor_get(visits, j), 0);
            weft_tensor_destroy(visits);
        }
}

/* What the environment or the program around says to OpenMP is not asked. */
static void there_is_one_thread_unless_asked(void **state)
{
    (void)state;
    weft_tensor *threads = weft_tensor_zeros(WEFT_F64, 1, (const int64_t[]){ N });
    const int    before = omp_get_max_threads();

    omp_set_num_threads(3);
    assert_int_equal(1, weft_threads());
    for (int asked = 1; asked < 3; asked++) {
        weft_threads_set(asked);
        BY_REAL(WEFT_F64, most_threads, N, threads->data);
        for (int64_t i = 0; i < N; i++)
            assert_near(asked, weft_tensor_get(threads, i), 0);
    }
    assert_int_equal(3, omp_get_max_threads());
    omp_set_num_threads(before);
    weft_tensor_destroy(threads);
}

static void the_number_of_threads_is_1_or_more(void **state)
{
    (void)state;
    weft_threads_set(2);
    assert_int_equal(2, weft_threads());
    weft_threads_set(0);
    assert_int_equal(1, weft_threads());
    weft_threads_set(-3);
    assert_int_equal(1, weft_threads());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(the_processor_chooses_at_first, teardown),
        cmocka_unit_test_teardown(kernels_are_chosen_by_name, teardown),
        cmocka_unit_test_teardown(unknown_kernels_are_refused_and_nothing_changes, teardown),
        cmocka_unit_test_teardown(all_kernels_give_the_same_bits, teardown),
        cmocka_unit_test_teardown(all_numbers_of_threads_give_the_same_bits, teardown),
        cmocka_unit_test_teardown(each_element_is_in_one_chunk, teardown),
        cmocka_unit_test_teardown(there_is_one_thread_unless_asked, teardown),
        cmocka_unit_test_teardown(the_number_of_threads_is_1_or_more, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
