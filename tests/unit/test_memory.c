/* Blocks: aligned, counted, refused in words; and texts that grow in them. */
#include "weft_test.h"
#include "base/text.h"

#include <pthread.h>

static int nothing_left(void **state)
{
    (void)state;
    return weft_memory_now().blocks != 0 || weft_memory_now().bytes != 0;
}

static void blocks_are_aligned_whatever_their_size(void **state)
{
    (void)state;
    void *block[130];
    for (int i = 0; i < 130; i++) {
        assert_non_null(block[i] = weft_alloc(i));
        assert_int_equal(0, (uintptr_t)block[i] % WEFT_ALIGNMENT);
        memset(block[i], i, (size_t)i);
    }
    for (int i = 0; i < 130; i++)
        weft_free(block[i]);
}

static void no_bytes_are_a_block_too(void **state)
{
    (void)state;
    void *a = weft_alloc(0), *b = weft_alloc(0);
    assert_non_null(a);
    assert_non_null(b);
    assert_ptr_not_equal(a, b);
    weft_free(a);
    weft_free(b);
    weft_free(NULL);
}

static void zeroed_blocks_hold_zeros(void **state)
{
    (void)state;
    for (int turn = 0; turn < 3; turn++) { /* also in memory that was used before */
        unsigned char *block = weft_alloc_zeroed(10000);
        for (int i = 0; i < 10000; i++)
            assert_int_equal(0, block[i]);
        memset(block, 255, 10000);
        weft_free(block);
    }
}

static void what_is_taken_and_given_back_is_counted(void **state)
{
    (void)state;
    const weft_memory before = weft_memory_now();
    void             *a = weft_alloc(1000), *b = weft_alloc(3000);
    const weft_memory during = weft_memory_now();
    weft_free(a);
    const weft_memory half = weft_memory_now();
    weft_free(b);
    const weft_memory after = weft_memory_now();

    assert_int_equal(before.blocks + 2, during.blocks);
    assert_int_equal(before.bytes + 4000, during.bytes);
    assert_int_equal(before.allocations + 2, during.allocations);
    assert_true(during.peak_bytes >= during.bytes);
    assert_int_equal(before.blocks + 1, half.blocks);
    assert_int_equal(before.bytes + 3000, half.bytes);
    assert_int_equal(before.blocks, after.blocks);
    assert_int_equal(before.bytes, after.bytes);
    assert_int_equal(during.peak_bytes, after.peak_bytes);
    assert_int_equal(during.allocations, after.allocations);
}

static void *take_and_give(void *unused)
{
    for (int i = 0; i < 2000; i++)
        weft_free(weft_alloc(i));
    return unused;
}

static void threads_are_counted_together(void **state)
{
    (void)state;
    pthread_t         thread[4];
    const weft_memory before = weft_memory_now();

    for (int i = 0; i < 4; i++)
        assert_int_equal(0, pthread_create(&thread[i], NULL, take_and_give, NULL));
    for (int i = 0; i < 4; i++)
        assert_int_equal(0, pthread_join(thread[i], NULL));

    assert_int_equal(before.blocks, weft_memory_now().blocks);
    assert_int_equal(before.bytes, weft_memory_now().bytes);
    assert_int_equal(before.allocations + 8000, weft_memory_now().allocations);
}

static void sizes_that_can_not_be_are_refused_in_words(void **state)
{
    (void)state;
    const weft_memory before = weft_memory_now();

    assert_null(weft_alloc(-5));
    assert_int_equal(WEFT_E_ARG, weft_error_status());
    assert_message_has("-5 bytes");
    assert_null(weft_alloc_zeroed(INT64_MAX));
    assert_int_equal(WEFT_E_NOMEM, weft_error_status());
    assert_message_has("9223372036854775807 bytes");
    assert_int_equal(before.allocations, weft_memory_now().allocations);
}

static void more_than_the_machine_has_is_refused_in_words(void **state)
{
    (void)state;
    assert_null(weft_alloc(INT64_C(1) << 60));
    assert_int_equal(WEFT_E_NOMEM, weft_error_status());
    assert_message_has("1152921504606846976 bytes");
}

static void a_string_is_copied(void **state)
{
    (void)state;
    char  from[] = "l1/W";
    char *copy = weft_text_copy(from);
    from[0] = 'x';
    assert_string_equal("l1/W", copy);
    weft_free(copy);
}

static void a_text_grows(void **state)
{
    (void)state;
    weft__text text = { 0 };
    char       expected[4001] = "";

    for (int i = 0; i < 1000; i++) {
        assert_ok(weft__text_add(&text, "%03d,", i));
        assert_int_equal(4 * (i + 1), text.length);
    }
    for (int i = 0; i < 1000; i++) {
        const char digits[] = { (char)('0' + i / 100), (char)('0' + i / 10 % 10),
                                (char)('0' + i % 10), ',' };
        memcpy(expected + 4 * i, digits, 4);
    }
    assert_string_equal(expected, text.bytes);
    weft__text_end(&text);
    assert_null(text.bytes);
}

static void a_text_can_be_cleared_and_taken(void **state)
{
    (void)state;
    weft__text text = { 0 };

    weft__text_clear(&text);
    assert_ok(weft__text_add(&text, "%s/%s", "l1", "W"));
    weft__text_clear(&text);
    assert_string_equal("", text.bytes);
    assert_ok(weft__text_add(&text, "b"));

    char *taken = weft__text_take(&text);
    assert_string_equal("b", taken);
    assert_int_equal(0, text.length);
    weft__text_end(&text);
    weft_free(taken);
}

static void a_text_is_made_in_one_call(void **state)
{
    (void)state;
    char *text = weft__text_create("%s/snapshot_iter_%d.h5", "out", 600);
    assert_string_equal("out/snapshot_iter_600.h5", text);
    weft_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(blocks_are_aligned_whatever_their_size, nothing_left),
        cmocka_unit_test_teardown(no_bytes_are_a_block_too, nothing_left),
        cmocka_unit_test_teardown(zeroed_blocks_hold_zeros, nothing_left),
        cmocka_unit_test_teardown(what_is_taken_and_given_back_is_counted, nothing_left),
        cmocka_unit_test_teardown(threads_are_counted_together, nothing_left),
        cmocka_unit_test_teardown(sizes_that_can_not_be_are_refused_in_words, nothing_left),
        cmocka_unit_test_teardown(more_than_the_machine_has_is_refused_in_words, nothing_left),
        cmocka_unit_test_teardown(a_string_is_copied, nothing_left),
        cmocka_unit_test_teardown(a_text_grows, nothing_left),
        cmocka_unit_test_teardown(a_text_can_be_cleared_and_taken, nothing_left),
        cmocka_unit_test_teardown(a_text_is_made_in_one_call, nothing_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
