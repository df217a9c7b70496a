/* Shares of a data set: the reference's cases C87 to C89, and what holds for all. */
#include "weft_test.h"
#include "weft/data.h"

static void is(int64_t n, int size, bool equal, const int64_t (*expected)[2])
{
    for (int rank = 0; rank < size; rank++) {
        int64_t begin, end;
        weft_share(n, rank, size, equal, &begin, &end);
        assert_int_equal(expected[rank][0], begin);
        assert_int_equal(expected[rank][1], end);
    }
}

#define SHARES(...) ((const int64_t[][2]){ __VA_ARGS__ })

static void equal_shares_are_those_of_the_reference(void **state)
{
    (void)state;
    is(10, 3, true, SHARES({ 0, 4 }, { 3, 7 }, { 6, 10 }));
    is(10, 4, true, SHARES({ 0, 3 }, { 2, 5 }, { 5, 8 }, { 7, 10 }));
    is(7, 2, true, SHARES({ 0, 4 }, { 3, 7 }));
    is(1, 3, true, SHARES({ 0, 1 }, { 0, 1 }, { 0, 1 }));
    is(2, 3, true, SHARES({ 0, 1 }, { 0, 1 }, { 1, 2 }));
    is(0, 3, true, SHARES({ 0, 0 }, { 0, 0 }, { 0, 0 }));
}

static void unequal_shares_are_those_of_the_reference(void **state)
{
    (void)state;
    is(10, 3, false, SHARES({ 0, 4 }, { 4, 7 }, { 7, 10 }));
    is(10, 4, false, SHARES({ 0, 3 }, { 3, 6 }, { 6, 8 }, { 8, 10 }));
    is(2, 3, false, SHARES({ 0, 1 }, { 1, 2 }, { 2, 2 }));
    is(9, 4, false, SHARES({ 0, 3 }, { 3, 5 }, { 5, 7 }, { 7, 9 }));
}

/* All of length L with (L - 1) size < n <= L size; together they cover all. */
static void equal_shares_are_equal_and_leave_nothing_out(void **state)
{
    (void)state;
    for (int size = 1; size <= 23; size++)
        for (int64_t n = 0; n <= 5 * size + 1; n++) {
            int64_t covered = 0, length = (n + size - 1) / size;
            for (int rank = 0; rank < size; rank++) {
                int64_t begin, end;
                weft_share(n, rank, size, true, &begin, &end);
                assert_int_equal(n * rank / size, begin);
                assert_int_equal(length, end - begin);
                assert_true(begin <= covered);
                covered = end;
            }
            assert_int_equal(n, covered);
        }
}

static void unequal_shares_are_disjoint_and_differ_by_one(void **state)
{
    (void)state;
    const int64_t cases[][2] = { { 10, 3 }, { 1244, 23 }, { 2, 1 }, { 230945, 237 }, { 3, 8 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int64_t n = cases[i][0];
        const int     size = (int)cases[i][1];
        int64_t       at = 0;
        for (int rank = 0; rank < size; rank++) {
            int64_t begin, end;
            weft_share(n, rank, size, false, &begin, &end);
            assert_int_equal(at, begin);
            assert_in_range(end - begin, n / size, n / size + 1);
            at = end;
        }
        assert_int_equal(n, at);
    }
}

static void large_sets_do_not_overflow(void **state)
{
    (void)state;
    const int64_t n = (INT64_C(1) << 62) + 1;
    int64_t       begin, end;
    weft_share(n, 999, 1000, true, &begin, &end);
    assert_int_equal(n, end);
    assert_int_equal(n / 1000 + 1, end - begin);
    weft_share(n, 999, 1000, false, &begin, &end);
    assert_int_equal(n, end);
}

static void among_nobody_there_is_nothing(void **state)
{
    (void)state;
    for (int equal = 0; equal < 2; equal++) {
        int64_t begin = 7, end = 8;
        weft_share(10, 0, 0, equal, &begin, &end);
        assert_int_equal(0, begin);
        assert_int_equal(0, end);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_shares_are_those_of_the_reference),
        cmocka_unit_test(unequal_shares_are_those_of_the_reference),
        cmocka_unit_test(equal_shares_are_equal_and_leave_nothing_out),
        cmocka_unit_test(unequal_shares_are_disjoint_and_differ_by_one),
        cmocka_unit_test(among_nobody_there_is_nothing),
        cmocka_unit_test(large_sets_do_not_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
