/* Arenas: pieces do not overlap, the same again takes no new memory. */
#include "weft_test.h"
#include "weft/tensor.h"

static int nothing_left(void **state)
{
    (void)state;
    return weft_memory_now().blocks != 0;
}

/* ---- an allocator that watches ------------------------------------------------------- */

typedef struct watch {
    int     taken, given;
    int64_t bytes; /* out now */
    int     refuse_after;
} watch;

static void *watched_take(void *context, int64_t bytes)
{
    watch *w = context;
    if (w->taken == w->refuse_after)
        return WEFT_FAIL_NULL(WEFT_E_NOMEM, "the watch refuses %d bytes", (int)bytes);
    w->taken++;
    w->bytes += bytes;
    return weft_alloc(bytes);
}

static void watched_give(void *context, void *block, int64_t bytes)
{
    watch *w = context;
    w->given++;
    w->bytes -= bytes;
    weft_free(block);
}

static weft_allocator watched(watch *w)
{
    return (weft_allocator){ .take = watched_take, .give = watched_give, .context = w };
}

/* ---- pieces ----------------------------------------------------------------------------- */

enum { PIECES = 300 };

static int64_t size_of(int i)
{
    return (i * 7919) % 5000;
}

static void take_pieces(weft_arena *arena, unsigned char *piece[PIECES])
{
    for (int i = 0; i < PIECES; i++) {
        assert_non_null(piece[i] = weft_arena_take(arena, size_of(i)));
        assert_int_equal(0, (uintptr_t)piece[i] % WEFT_ALIGNMENT);
        memset(piece[i], i, (size_t)size_of(i));
    }
}

static void pieces_do_not_overlap(void **state)
{
    (void)state;
    weft_arena    *arena = weft_arena_create(1000, NULL);
    unsigned char *piece[PIECES];

    for (int turn = 0; turn < 3; turn++) {
        take_pieces(arena, piece);
        for (int i = 0; i < PIECES; i++)
            for (int64_t j = 0; j < size_of(i); j++)
                assert_int_equal((unsigned char)i, piece[i][j]);
        weft_arena_clear(arena);
    }
    weft_arena_destroy(arena);
}

static void pieces_of_no_bytes_have_places_of_their_own(void **state)
{
    (void)state;
    weft_arena *arena = weft_arena_create(0, NULL);
    void       *a = weft_arena_take(arena, 0), *b = weft_arena_take(arena, 0);
    assert_non_null(a);
    assert_non_null(b);
    assert_ptr_not_equal(a, b);
    weft_arena_destroy(arena);
}

static void what_is_handed_out_is_counted(void **state)
{
    (void)state;
    weft_arena *arena = weft_arena_create(0, NULL);
    assert_int_equal(0, weft_arena_used(arena));
    assert_int_equal(0, weft_arena_held(arena));
    weft_arena_take(arena, 1);
    weft_arena_take(arena, 65);
    assert_int_equal(3 * WEFT_ALIGNMENT, weft_arena_used(arena));
    weft_arena_clear(arena);
    assert_int_equal(0, weft_arena_used(arena));
    weft_arena_destroy(arena);
    weft_arena_destroy(NULL);
}

/* ---- blocks ------------------------------------------------------------------------------ */

static void the_same_again_takes_no_new_memory(void **state)
{
    (void)state;
    watch                w = { .refuse_after = -1 };
    const weft_allocator from = watched(&w);
    weft_arena          *arena = weft_arena_create(0, &from);
    unsigned char       *piece[PIECES];

    take_pieces(arena, piece);
    assert_true(w.taken > 1);
    const int64_t used = weft_arena_used(arena);

    weft_arena_clear(arena);
    take_pieces(arena, piece);
    assert_int_equal(1, w.taken - w.given);
    assert_int_equal(used, weft_arena_held(arena));

    const int64_t allocations = weft_memory_now().allocations;
    for (int turn = 0; turn < 10; turn++) {
        weft_arena_clear(arena);
        take_pieces(arena, piece);
    }
    assert_int_equal(allocations, weft_memory_now().allocations);
    assert_int_equal(used, weft_arena_held(arena));

    weft_arena_destroy(arena);
    assert_int_equal(w.taken, w.given);
    assert_int_equal(0, w.bytes);
}

static void a_first_size_is_one_block_that_fits_exactly(void **state)
{
    (void)state;
    watch                w = { .refuse_after = 1 };
    const weft_allocator from = watched(&w);
    weft_arena          *arena = weft_arena_create(1024, &from);

    char *a = weft_arena_take(arena, 512), *b = weft_arena_take(arena, 512);
    assert_ptr_equal(a + 512, b);
    assert_int_equal(1024, weft_arena_held(arena));

    assert_null(weft_arena_take(arena, 1));
    assert_int_equal(WEFT_E_NOMEM, weft_error_status());
    assert_message_has("the watch refuses");
    assert_int_equal(1024, weft_arena_used(arena));
    weft_arena_destroy(arena);
}

static void an_arena_without_memory_is_not_made(void **state)
{
    (void)state;
    watch                w = { .refuse_after = 0 };
    const weft_allocator from = watched(&w);

    assert_null(weft_arena_create(1024, &from));
    assert_int_equal(WEFT_E_NOMEM, weft_error_status());
    assert_null(weft_arena_create(-1, NULL));
    assert_int_equal(WEFT_E_ARG, weft_error_status());
    assert_message_has("-1 bytes");
}

static void impossible_pieces_are_refused(void **state)
{
    (void)state;
    weft_arena *arena = weft_arena_create(1024, NULL);
    assert_null(weft_arena_take(arena, -1));
    assert_int_equal(WEFT_E_ARG, weft_error_status());
    assert_null(weft_arena_take(arena, INT64_MAX));
    assert_int_equal(WEFT_E_NOMEM, weft_error_status());
    assert_null(weft_arena_take(arena, INT64_C(1) << 60));
    assert_int_equal(WEFT_E_NOMEM, weft_error_status());
    assert_non_null(weft_arena_take(arena, 1024));
    weft_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(pieces_do_not_overlap, nothing_left),
        cmocka_unit_test_teardown(pieces_of_no_bytes_have_places_of_their_own, nothing_left),
        cmocka_unit_test_teardown(what_is_handed_out_is_counted, nothing_left),
        cmocka_unit_test_teardown(the_same_again_takes_no_new_memory, nothing_left),
        cmocka_unit_test_teardown(a_first_size_is_one_block_that_fits_exactly, nothing_left),
        cmocka_unit_test_teardown(an_arena_without_memory_is_not_made, nothing_left),
        cmocka_unit_test_teardown(impossible_pieces_are_refused, nothing_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
