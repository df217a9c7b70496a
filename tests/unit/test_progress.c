/* Progress: what a bar and plain lines look like, how often they come, and when. */
#include "weft_test.h"
#include "train/progress.h"

#include <stdio.h>
#include <stdlib.h>

/* Written to a file, at times that the test says. */
static FILE          *to;
static weft_progress *progress;

static void begin(weft_progress_mode mode, int64_t total, int64_t done)
{
    to = tmpfile();
    assert_non_null(to);
    progress = weft_progress_create(NULL, mode, to, total, done, 100);
    if (progress == NULL)
        assert_string_equal("", weft_error_message());
    weft__progress_begin_at(progress, 0);
}

static const char *written(void)
{
    static char text[20000];
    rewind(to);
    text[fread(text, 1, sizeof text - 1, to)] = '\0';
    return text;
}

static int teardown(void **state)
{
    (void)state;
    weft_progress_destroy(progress);
    progress = NULL;
    if (to != NULL)
        fclose(to);
    to = NULL;
    unsetenv("COLUMNS");
    unsetenv("WEFT_PROGRESS");
    return weft_memory_now().blocks != 0;
}

/* ---- the bar -------------------------------------------------------------------------- */

static void a_bar_says_where_it_is_how_fast_and_how_long(void **state)
{
    (void)state;
    setenv("COLUMNS", "87", 1);
    begin(WEFT_PROGRESS_ON, 3000, 0);
    weft__progress_step_at(progress, 1500, 2.5, 30);
    assert_string_equal("\r  epoch 2.50/5  [###############...............]  1500/3000  "
                        "5000 samples/s  0:30 left",
                        written());
}

static void a_bar_comes_at_most_ten_times_a_second(void **state)
{
    (void)state;
    int bars = 0;
    begin(WEFT_PROGRESS_ON, 100000, 0);
    for (int ms = 1; ms <= 2000; ms++)
        weft__progress_step_at(progress, ms, ms / 1000., ms / 1000.);
    for (const char *at = written(); *at != '\0'; at++)
        bars += *at == '\r';
    assert_in_range(bars, 18, 20);
}

/* Each line covers the one before, also where it is shorter. */
static void a_bar_keeps_to_its_line(void **state)
{
    (void)state;
    for (int width = 1; width <= 250; width++) {
        char columns[8];
        snprintf(columns, sizeof columns, "%d", width);
        setenv("COLUMNS", columns, 1);
        begin(WEFT_PROGRESS_ON, 100, 0);
        weft__progress_step_at(progress, 1, 0.1, 100); /* 1.00 samples/s  2:45:00 left */
        weft__progress_step_at(progress, 99, 9.9, 101);
        assert_int_equal('\r', written()[0]);
        const char  *second = strchr(written() + 1, '\r');
        const size_t first = (size_t)(second - written()) - 1;
        assert_in_range(first, 0, width - 1);
        assert_in_range(strlen(second) - 1, first, width - 1);
        assert_null(strchr(written(), '\n'));
        teardown(state);
    }
}

static void a_narrow_terminal_has_no_bar(void **state)
{
    (void)state;
    setenv("COLUMNS", "60", 1);
    begin(WEFT_PROGRESS_ON, 3000, 0);
    weft__progress_step_at(progress, 1500, 2.5, 30);
    assert_string_equal("\r  epoch 2.50/5  1500/3000  5000 samples/s  0:30 left", written());
}

static void a_hidden_bar_is_covered_with_blanks(void **state)
{
    (void)state;
    begin(WEFT_PROGRESS_ON, 3000, 0);
    weft_progress_hide(progress); /* nothing is there yet */
    assert_string_equal("", written());
    weft__progress_step_at(progress, 1500, 2.5, 30);
    const size_t length = strlen(written()) - 1;
    weft_progress_hide(progress);
    weft_progress_hide(progress);
    const char *blanks = written() + 1 + length;
    assert_int_equal('\r', blanks[0]);
    assert_int_equal(length, strspn(blanks + 1, " "));
    assert_string_equal("\r", blanks + 1 + length);
}

static void steps_of_earlier_runs_are_not_in_the_rate(void **state)
{
    (void)state;
    begin(WEFT_PROGRESS_ON, 3000, 2000);
    weft__progress_step_at(progress, 2010, 3.35, 1);
    assert_non_null(strstr(written(), "2010/3000  1000 samples/s  1:39 left"));
}

/* The machine gets busy: after some seconds the rate is the new one. */
static void the_rate_is_that_of_the_last_seconds(void **state)
{
    (void)state;
    begin(WEFT_PROGRESS_ON, 100000, 0);
    for (int s = 1; s <= 60; s++)
        weft__progress_step_at(progress, 100 * s, s, s);
    assert_non_null(strstr(written(), "6000/100000  10000 samples/s"));
    for (int s = 1; s <= 60; s++)
        weft__progress_step_at(progress, 6000 + 10 * s, 60 + s, 60 + s);
    assert_non_null(strstr(written(), "6600/100000  1000 samples/s"));
}

static void long_times_have_hours(void **state)
{
    (void)state;
    begin(WEFT_PROGRESS_ON, 100000, 0);
    weft__progress_step_at(progress, 10, 0.001, 1);
    assert_non_null(strstr(written(), "10/100000  1000 samples/s  2:46:39 left"));
}

static void nothing_done_is_no_rate(void **state)
{
    (void)state;
    begin(WEFT_PROGRESS_OFF, 0, 0);
    weft__progress_step_at(progress, 0, 0, 11);
    assert_string_equal("epoch 0.00/0  0/0  0.00 samples/s\n", written());
}

/* ---- lines ------------------------------------------------------------------------------ */

static void off_means_a_line_in_ten_seconds(void **state)
{
    (void)state;
    begin(WEFT_PROGRESS_OFF, 3000, 0);
    for (int s = 1; s <= 29; s++)
        weft__progress_step_at(progress, 50 * s, s / 12., s);
    weft_progress_hide(progress);
    assert_string_equal("epoch 0.83/5  500/3000  5000 samples/s  0:50 left\n"
                        "epoch 1.67/5  1000/3000  5000 samples/s  0:40 left\n",
                        written());
}

/* ---- which ------------------------------------------------------------------------------- */

static bool draws_a_bar(void)
{
    weft__progress_step_at(progress, 1, 0.1, 11);
    return written()[0] == '\r';
}

static void auto_asks_the_environment_then_the_terminal(void **state)
{
    (void)state;
    const struct {
        const char *environment;
        bool        bar;
    } cases[] = { { "on", true }, { "off", false }, { "auto", false }, { "", false } };
    for (int i = 0; i < 4; i++) {
        setenv("WEFT_PROGRESS", cases[i].environment, 1);
        begin(WEFT_PROGRESS_AUTO, 100, 0);
        assert_int_equal(cases[i].bar, draws_a_bar());
        teardown(state);
    }
    begin(WEFT_PROGRESS_AUTO, 100, 0); /* a file is no terminal */
    assert_false(draws_a_bar());
    teardown(state);
    setenv("WEFT_PROGRESS", "off", 1);
    begin(WEFT_PROGRESS_ON, 100, 0); /* who says so is not asked */
    assert_true(draws_a_bar());
}

static void an_unknown_word_is_refused(void **state)
{
    (void)state;
    weft_progress_mode mode;
    setenv("WEFT_PROGRESS", "yes", 1);
    assert_null(weft_progress_create(NULL, WEFT_PROGRESS_AUTO, NULL, 1, 0, 1));
    assert_message_has("$WEFT_PROGRESS is \"yes\": auto, on and off are known");
    assert_fails(WEFT_E_ARG, weft_progress_parse("perhaps", &mode));
    assert_message_has("\"perhaps\"");
    assert_ok(weft_progress_parse("auto", &mode));
    assert_int_equal(WEFT_PROGRESS_AUTO, mode);
    assert_ok(weft_progress_parse("on", &mode));
    assert_int_equal(WEFT_PROGRESS_ON, mode);
    assert_ok(weft_progress_parse("off", &mode));
    assert_int_equal(WEFT_PROGRESS_OFF, mode);
}

static void nowhere_to_draw_is_fine(void **state)
{
    (void)state;
    weft_progress *p = weft_progress_create(NULL, WEFT_PROGRESS_ON, NULL, 100, 0, 1);
    assert_non_null(p);
    weft__progress_step_at(p, 50, 1, 1e9);
    weft_progress_step(p, 51, 1);
    weft_progress_hide(p);
    weft_progress_destroy(p);
    weft_progress_destroy(NULL);
}

#define case_of(test) cmocka_unit_test_teardown(test, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        case_of(a_bar_says_where_it_is_how_fast_and_how_long),
        case_of(a_bar_comes_at_most_ten_times_a_second),
        case_of(a_bar_keeps_to_its_line),
        case_of(a_narrow_terminal_has_no_bar),
        case_of(a_hidden_bar_is_covered_with_blanks),
        case_of(steps_of_earlier_runs_are_not_in_the_rate),
        case_of(the_rate_is_that_of_the_last_seconds),
        case_of(long_times_have_hours),
        case_of(nothing_done_is_no_rate),
        case_of(off_means_a_line_in_ten_seconds),
        case_of(auto_asks_the_environment_then_the_terminal),
        case_of(an_unknown_word_is_refused),
        case_of(nowhere_to_draw_is_fine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
