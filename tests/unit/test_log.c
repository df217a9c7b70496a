/* The log: lines go where the program says, and nowhere else. */
#include "weft_test.h"

#include <stdio.h>
#include <string.h>

typedef struct heard {
    int            lines;
    weft_log_level level;
    char           line[2000];
} heard;

static void listen(weft_log_level level, const char *line, void *context)
{
    heard *h = context;
    h->lines++;
    h->level = level;
    snprintf(h->line, sizeof h->line, "%s", line);
}

static int teardown(void **state)
{
    (void)state;
    weft_log_to(NULL, NULL, WEFT_LOG_ERROR);
    return 0;
}

static void without_a_listener_lines_are_dropped(void **state)
{
    (void)state;
    heard h = { 0 };
    weft_log(WEFT_LOG_ERROR, "nobody hears this");
    weft_log_to(listen, &h, WEFT_LOG_DEBUG);
    weft_log_to(NULL, NULL, WEFT_LOG_DEBUG);
    weft_log(WEFT_LOG_ERROR, "nor this");
    assert_int_equal(0, h.lines);
}

static void a_line_comes_as_it_was_written(void **state)
{
    (void)state;
    heard h = { 0 };
    weft_log_to(listen, &h, WEFT_LOG_INFO);
    weft_log(WEFT_LOG_WARN, "rank %d waits", 3);
    assert_int_equal(1, h.lines);
    assert_int_equal(WEFT_LOG_WARN, h.level);
    assert_string_equal("rank 3 waits", h.line);
}

static void lines_above_the_level_are_dropped(void **state)
{
    (void)state;
    heard h = { 0 };
    weft_log_to(listen, &h, WEFT_LOG_WARN);
    weft_log(WEFT_LOG_DEBUG, "too fine");
    weft_log(WEFT_LOG_INFO, "too fine");
    assert_int_equal(0, h.lines);
    weft_log(WEFT_LOG_WARN, "wanted");
    weft_log(WEFT_LOG_ERROR, "wanted");
    assert_int_equal(2, h.lines);
}

static void one_call_is_one_line(void **state)
{
    (void)state;
    heard h = { 0 };
    weft_log_to(listen, &h, WEFT_LOG_INFO);
    weft_log(WEFT_LOG_INFO, "a\nb\n");
    assert_int_equal(1, h.lines);
    assert_string_equal("a b ", h.line);
}

static void a_long_line_is_cut_and_says_so(void **state)
{
    (void)state;
    heard h = { 0 };
    char  word[1800];
    memset(word, 'x', sizeof word - 1);
    word[sizeof word - 1] = '\0';

    weft_log_to(listen, &h, WEFT_LOG_INFO);
    weft_log(WEFT_LOG_INFO, "%s", word);
    assert_int_equal(1000, strlen(h.line));
    assert_string_equal("xxx...", h.line + 994);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(without_a_listener_lines_are_dropped, teardown),
        cmocka_unit_test_teardown(a_line_comes_as_it_was_written, teardown),
        cmocka_unit_test_teardown(lines_above_the_level_are_dropped, teardown),
        cmocka_unit_test_teardown(one_call_is_one_line, teardown),
        cmocka_unit_test_teardown(a_long_line_is_cut_and_says_so, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
