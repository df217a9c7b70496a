/* Failures: what is kept of them, and what their trail says. */
#include "weft_test.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int setup(void **state)
{
    (void)state;
    weft_error_clear();
    return 0;
}

static weft_status reject(int rows)
{
    return WEFT_FAIL(WEFT_E_SHAPE, "%d rows", rows);
}

static void *make_nothing(void)
{
    return WEFT_FAIL_NULL(WEFT_E_NOMEM, "no bytes for %s", "it");
}

static weft_status pass_on(int rows)
{
    WEFT_TRY(reject(rows));
    return WEFT_OK;
}

static weft_status pass_maker_on(void)
{
    void *thing;
    WEFT_TRY_NEW(thing = make_nothing());
    return WEFT_OK;
}

static void at_first_there_is_none(void **state)
{
    (void)state;
    assert_int_equal(WEFT_OK, weft_error_status());
    assert_string_equal("", weft_error_message());
    assert_string_equal("", weft_error_where());
}

static void a_message_has_its_kind_and_its_numbers(void **state)
{
    (void)state;
    assert_fails(WEFT_E_SHAPE, reject(7));
    assert_string_equal("shapes do not fit together: 7 rows", weft_error_message());
}

static void a_trail_names_the_place_and_the_calls(void **state)
{
    (void)state;
    assert_fails(WEFT_E_SHAPE, pass_on(7));
    assert_non_null(strstr(weft_error_where(), "    at "));
    assert_non_null(strstr(weft_error_where(), "test_error.c:"));
    assert_non_null(strstr(weft_error_where(), ", calling reject(rows)"));
}

static void a_maker_passes_its_failure_on(void **state)
{
    (void)state;
    assert_fails(WEFT_E_NOMEM, pass_maker_on());
    assert_message_has("no bytes for it");
    assert_non_null(strstr(weft_error_where(), "calling thing = make_nothing()"));
}

static void a_new_failure_replaces_the_old_one(void **state)
{
    (void)state;
    assert_fails(WEFT_E_SHAPE, pass_on(7));
    assert_fails(WEFT_E_SHAPE, reject(8));
    assert_message_has("8 rows");
    assert_null(strstr(weft_error_where(), "calling"));
}

static void a_failure_can_be_forgotten(void **state)
{
    (void)state;
    assert_fails(WEFT_E_SHAPE, pass_on(7));
    weft_error_clear();
    at_first_there_is_none(state);
}

static void a_message_may_quote_the_one_before(void **state)
{
    (void)state;
    reject(7);
    WEFT_FAIL(WEFT_E_IO, "while saving: %s", weft_error_message());
    assert_string_equal("a file could not be read or written: while saving: "
                        "shapes do not fit together: 7 rows",
                        weft_error_message());
}

static void a_message_is_one_line(void **state)
{
    (void)state;
    WEFT_FAIL(WEFT_E_IO, "a file named \"%s\"", "two\nlines\r");
    assert_message_has("two lines ");
    assert_null(strpbrk(weft_error_message(), "\r\n"));
}

static void a_long_message_says_that_it_was_cut(void **state)
{
    (void)state;
    char word[5000];
    memset(word, 'x', sizeof word - 1);
    word[sizeof word - 1] = '\0';

    assert_fails(WEFT_E_ARG, WEFT_FAIL(WEFT_E_ARG, "%s", word));
    const size_t length = strlen(weft_error_message());
    assert_in_range(length, 500, 2000);
    assert_string_equal("xxx...", weft_error_message() + length - 6);
}

static void a_long_trail_says_that_it_was_cut(void **state)
{
    (void)state;
    reject(7);
    for (int i = 0; i < 1000; i++)
        weft_error_trail(WEFT_E_SHAPE, WEFT_HERE, "again(and again)");

    const char *cut = strstr(weft_error_where(), "left out");
    assert_non_null(cut);
    assert_string_equal("left out", cut); /* once, at the end */
    assert_in_range(strlen(weft_error_where()), 2000, 5000);
    assert_message_has("7 rows");

    reject(8);
    assert_null(strstr(weft_error_where(), "left out"));
}

static void a_long_call_is_cut_in_the_trail(void **state)
{
    (void)state;
    char call[3000];
    memset(call, 'c', sizeof call - 1);
    call[sizeof call - 1] = '\0';

    reject(7);
    weft_error_trail(WEFT_E_SHAPE, "here.c:1", call);
    weft_error_trail(WEFT_E_SHAPE, "there.c:2", "f()");
    assert_non_null(strstr(weft_error_where(), "ccc...\n    at there.c:2, calling f()"));
}

static weft_status fail_in_silence(void)
{
    return WEFT_E_VALUE;
}

static weft_status try_silence(void)
{
    WEFT_TRY(fail_in_silence());
    return WEFT_OK;
}

static void a_status_without_a_message_is_not_given_anothers(void **state)
{
    (void)state;
    reject(7);
    assert_fails(WEFT_E_VALUE, try_silence());
    assert_message_has("fail_in_silence()");
    assert_null(strstr(weft_error_message(), "7 rows"));
}

static void *give_nothing(void)
{
    return NULL;
}

static weft_status try_nothing(void)
{
    WEFT_TRY_NEW(give_nothing());
    return WEFT_OK;
}

static void nothing_without_a_reason_is_a_failure_too(void **state)
{
    (void)state;
    assert_fails(WEFT_E_STATE, try_nothing());
    assert_message_has("give_nothing()");
}

static void every_kind_has_a_sentence_of_its_own(void **state)
{
    (void)state;
    for (int i = WEFT_OK; i <= WEFT_E_PEER; i++)
        for (int j = WEFT_OK; j < i; j++)
            assert_string_not_equal(weft_status_text((weft_status)i),
                                    weft_status_text((weft_status)j));
    assert_non_null(strstr(weft_status_text((weft_status)99), "unknown"));
    assert_non_null(strstr(weft_status_text((weft_status)-1), "unknown"));
}

static void *fail_elsewhere(void *seen)
{
    *(weft_status *)seen = weft_error_status();
    reject(99);
    return NULL;
}

static void threads_do_not_see_each_others_failures(void **state)
{
    (void)state;
    pthread_t   thread;
    weft_status seen = WEFT_E_PEER;

    reject(7);
    assert_int_equal(0, pthread_create(&thread, NULL, fail_elsewhere, &seen));
    assert_int_equal(0, pthread_join(thread, NULL));
    assert_int_equal(WEFT_OK, seen);
    assert_message_has("7 rows");
}

static void the_version_is_the_headers(void **state)
{
    (void)state;
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", WEFT_VERSION_MAJOR, WEFT_VERSION_MINOR,
             WEFT_VERSION_PATCH);
    assert_string_equal(text, weft_version());
}

static void the_clock_goes_forward(void **state)
{
    (void)state;
    const double before = weft_seconds();
    double       after = before;
    while (after <= before)
        after = weft_seconds();
    assert_true(after - before < 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(at_first_there_is_none, setup),
        cmocka_unit_test_setup(a_message_has_its_kind_and_its_numbers, setup),
        cmocka_unit_test_setup(a_trail_names_the_place_and_the_calls, setup),
        cmocka_unit_test_setup(a_maker_passes_its_failure_on, setup),
        cmocka_unit_test_setup(a_new_failure_replaces_the_old_one, setup),
        cmocka_unit_test_setup(a_failure_can_be_forgotten, setup),
        cmocka_unit_test_setup(a_message_may_quote_the_one_before, setup),
        cmocka_unit_test_setup(a_message_is_one_line, setup),
        cmocka_unit_test_setup(a_long_message_says_that_it_was_cut, setup),
        cmocka_unit_test_setup(a_long_trail_says_that_it_was_cut, setup),
        cmocka_unit_test_setup(a_long_call_is_cut_in_the_trail, setup),
        cmocka_unit_test_setup(a_status_without_a_message_is_not_given_anothers, setup),
        cmocka_unit_test_setup(nothing_without_a_reason_is_a_failure_too, setup),
        cmocka_unit_test_setup(every_kind_has_a_sentence_of_its_own, setup),
        cmocka_unit_test_setup(threads_do_not_see_each_others_failures, setup),
        cmocka_unit_test_setup(the_version_is_the_headers, setup),
        cmocka_unit_test_setup(the_clock_goes_forward, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
