/* Reports on one rank: means, the table, the log and what a resume keeps of it. */
#include "test_folder.h"
#include "weft/train.h"

static weft_tape *tape;

static int setup(void **state)
{
    (void)state;
    tape = weft_tape_create();
    return tape == NULL;
}

static int teardown(void **state)
{
    (void)state;
    weft_tape_destroy(tape);
    return weft_memory_now().blocks != 0;
}

static weft_var *value(double x)
{
    weft_var *v = weft_variable(tape, WEFT_F64, 0, NULL, false);
    assert_non_null(v);
    *(double *)v->value.data = x;
    return v;
}

static weft_report *create(weft_report_options options)
{
    weft_report *r = weft_report_create(NULL, &options);
    if (r == NULL)
        assert_string_equal("", weft_error_message());
    return r;
}

static void fails(weft_report_options options, weft_status status, const char *words)
{
    assert_null(weft_report_create(NULL, &options));
    assert_int_equal(status, weft_error_status());
    assert_message_has(words);
}

/* ---- means -------------------------------------------------------------------------- */

/* C100: the reference averages batch means, and gets 2.25 where the mean is 2. */
static void values_are_means_over_samples(void **state)
{
    (void)state;
    weft_report *r = create((weft_report_options){ .column = { "loss" } });
    assert_ok(weft_report_add(r, "loss", value(0.5), 2)); /* of 0 and 1 */
    assert_ok(weft_report_add(r, "loss", value(2), 1));
    assert_ok(weft_report_add(r, "loss", value(3.5), 2)); /* of 3 and 4 */
    assert_ok(weft_report_row(r, 1, 3));
    assert_near(2, weft_report_value(r, "loss"), 0);
    weft_report_destroy(r);
}

static void each_row_begins_at_nothing(void **state)
{
    (void)state;
    weft_report *r = create((weft_report_options){ .column = { "a", "b" } });
    assert_near((double)NAN, weft_report_value(r, "a"), 0);
    assert_ok(weft_report_add(r, "a", value(3), 1));
    assert_ok(weft_report_row(r, 1, 1));
    assert_near(3, weft_report_value(r, "a"), 0);
    assert_near((double)NAN, weft_report_value(r, "b"), 0);
    assert_ok(weft_report_add(r, "b", value(4), 1));
    assert_ok(weft_report_row(r, 2, 2));
    assert_near((double)NAN, weft_report_value(r, "a"), 0);
    assert_near(4, weft_report_value(r, "b"), 0);
    assert_near((double)NAN, weft_report_value(r, "c"), 0);
    weft_report_destroy(r);
}

static void a_delegate_adds_nothing(void **state)
{
    (void)state;
    weft_report *r = create((weft_report_options){ .column = { "loss" } });
    weft_var    *delegate = weft_variable(tape, WEFT_F32, 1, (int64_t[]){ 0 }, false);
    assert_ok(weft_report_add(r, "loss", delegate, 100));
    assert_ok(weft_report_row(r, 1, 1));
    assert_near((double)NAN, weft_report_value(r, "loss"), 0);
    weft_report_destroy(r);
}

static void what_can_not_be_added_is_refused(void **state)
{
    (void)state;
    weft_report *r = create((weft_report_options){ .column = { "loss" } });
    weft_var    *two = weft_variable(tape, WEFT_F32, 1, (int64_t[]){ 2 }, false);
    assert_fails(WEFT_E_ARG, weft_report_add(r, "lost", value(1), 1));
    assert_message_has("\"lost\"");
    assert_fails(WEFT_E_SHAPE, weft_report_add(r, "loss", two, 1));
    assert_message_has("\"loss\" of a report: one element is wanted, not (2) f32");
    WEFT_FAIL(WEFT_E_PLAN, "of the formula");
    assert_fails(WEFT_E_PLAN, weft_report_add(r, "loss", NULL, 1));
    weft_report_destroy(r);
}

static void adding_allocates_nothing(void **state)
{
    (void)state;
    weft_report  *r = create((weft_report_options){ .column = { "loss" } });
    weft_var     *x = value(1);
    const int64_t before = weft_memory_now().allocations;
    for (int i = 0; i < 1000; i++)
        assert_ok(weft_report_add(r, "loss", x, 100));
    assert_int_equal(before, weft_memory_now().allocations);
    weft_report_destroy(r);
}

static void columns_are_checked(void **state)
{
    (void)state;
    fails((weft_report_options){ .column = { "a", "b", "a" } }, WEFT_E_ARG,
          "\"a\" of a report: twice");
    fails((weft_report_options){ .column = { "epoch" } }, WEFT_E_ARG, "\"epoch\"");
}

static void as_many_columns_as_fit_are_possible(void **state)
{
    (void)state;
    static char         name[WEFT_MAX_COLUMNS][8];
    weft_report_options o = { .table = NULL };
    for (int i = 0; i < WEFT_MAX_COLUMNS; i++) {
        snprintf(name[i], sizeof name[i], "c%d", i);
        o.column[i] = name[i];
    }
    weft_report *r = create(o);
    assert_ok(weft_report_add(r, "c31", value(5), 2));
    assert_ok(weft_report_row(r, 1, 1));
    assert_near(5, weft_report_value(r, "c31"), 0);
    weft_report_destroy(r);
}

static void earlier_runs_count_in_the_time(void **state)
{
    (void)state;
    weft_report *r = create((weft_report_options){ .elapsed = 1000 });
    assert_in_range((int64_t)weft_report_elapsed(r), 1000, 1060);
    weft_report_destroy(r);
}

/* ---- the table ------------------------------------------------------------------------- */

/* What is in the file up to the last column, whose digits are the clock's. */
static void table_is(FILE *table, const char *const *line, int lines)
{
    char got[200];
    rewind(table);
    for (int i = 0; i < lines; i++) {
        assert_non_null(fgets(got, sizeof got, table));
        assert_memory_equal(line[i], got, strlen(line[i]));
    }
    assert_null(fgets(got, sizeof got, table));
}

static void the_table_is_aligned_and_has_its_head_once(void **state)
{
    (void)state;
    static const char *const line[] = {
        "epoch       main/loss   validation/main/loss  elapsed_time\n",
        "1           0.531883    1.23457e+06           100",
        "2           3           -                     100",
        "13          nan         -inf                  100",
    };
    FILE        *table = tmpfile();
    weft_report *r = create((weft_report_options){
        .column = { "main/loss", "validation/main/loss" }, .table = table, .elapsed = 100 });
    assert_ok(weft_report_add(r, "main/loss", value(0.5318829), 1));
    assert_ok(weft_report_add(r, "validation/main/loss", value(1234567), 1));
    assert_ok(weft_report_row(r, 1, 600));
    assert_ok(weft_report_add(r, "main/loss", value(3), 1));
    assert_ok(weft_report_row(r, 2, 1200));
    assert_ok(weft_report_add(r, "main/loss", value((double)NAN), 1));
    assert_ok(weft_report_add(r, "validation/main/loss", value((double)-INFINITY), 1));
    assert_ok(weft_report_row(r, 13, 1800));
    table_is(table, line, 4);
    weft_report_destroy(r);
    fclose(table);
}

static void a_table_that_can_not_be_written_is_a_failure(void **state)
{
    (void)state;
    FILE *full = fopen("/dev/full", "w");
    if (full == NULL)
        skip();
    weft_report *r = create((weft_report_options){ .column = { "a" }, .table = full });
    assert_fails(WEFT_E_IO, weft_report_row(r, 1, 1));
    assert_message_has("the table of the report: No space left on device");
    weft_report_destroy(r);
    fclose(full);
}

/* ---- the log ------------------------------------------------------------------------------ */

/* A run's rows for iterations of 10 from `begin` to `end`, one an epoch. */
static void run(const char *log, int64_t resumed, int64_t begin, int64_t end)
{
    weft_report *r =
        create((weft_report_options){ .column = { "main/loss" }, .log = log, .resumed = resumed });
    for (int64_t i = begin; i <= end; i += 10) {
        assert_ok(weft_report_add(r, "main/loss", value(1. / (double)i), 1));
        assert_ok(weft_report_row(r, i / 10, i));
    }
    weft_report_destroy(r);
}

/* The iterations in a log, as "10 20 30 ". */
static const char *iterations(const char *log)
{
    static char text[200];
    text[0] = '\0';
    for (const char *at = test_read(log); (at = strstr(at, "\"iteration\": ")) != NULL; at++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%ld ",
                 strtol(at + strlen("\"iteration\": "), NULL, 10));
    return text;
}

static void append(const char *path, const char *text)
{
    FILE *file = fopen(path, "a");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void the_log_has_17_digits_and_is_flushed(void **state)
{
    (void)state;
    const char  *log = test_path("log.jsonl");
    weft_report *r = create((weft_report_options){ .column = { "a", "b", "c" }, .log = log });

    assert_string_equal("", test_read(log));
    assert_ok(weft_report_add(r, "a", value(0.1), 1));
    assert_ok(weft_report_add(r, "c", value((double)INFINITY), 1));
    assert_ok(weft_report_row(r, 2, 1200));
    const char *text = test_read(log); /* while it is open */
    const char *begin = "{\"epoch\": 2, \"iteration\": 1200, \"a\": 0.10000000000000001, "
                        "\"b\": null, \"c\": null, \"elapsed_time\": ";
    assert_memory_equal(begin, text, strlen(begin));
    assert_string_equal("}\n", text + strlen(text) - 2);
    weft_report_destroy(r);
}

static void a_resume_keeps_the_rows_up_to_its_iteration(void **state)
{
    (void)state;
    const char *log = test_path("resume.jsonl");
    run(log, 0, 10, 50);
    assert_string_equal("10 20 30 40 50 ", iterations(log));
    static char before[20000];
    strcpy(before, test_read(log));

    run(log, 30, 40, 30); /* adds nothing */
    assert_string_equal("10 20 30 ", iterations(log));
    assert_memory_equal(before, test_read(log), strlen(test_read(log)));
    run(log, 30, 40, 60);
    assert_string_equal("10 20 30 40 50 60 ", iterations(log));
    run(log, 25, 30, 30);
    assert_string_equal("10 20 30 ", iterations(log));
    run(log, 0, 10, 10);
    assert_string_equal("10 ", iterations(log));
}

static void a_torn_line_is_dropped(void **state)
{
    (void)state;
    const char *log = test_path("torn.jsonl");
    run(log, 0, 10, 20);
    append(log, "{\"epoch\": 3, \"iteration\": 30, \"main/lo");
    run(log, 30, 40, 40);
    assert_string_equal("10 20 40 ", iterations(log));
}

static void a_log_that_is_none_is_refused_and_left_alone(void **state)
{
    (void)state;
    const char *log = test_path("other.jsonl");
    run(log, 0, 10, 20);
    append(log, "not JSON\n");
    fails((weft_report_options){ .log = log, .resumed = 20 }, WEFT_E_FORMAT,
          "other.jsonl, line 3: expected a JSON object with an \"iteration\"");
    assert_string_equal("10 20 ", iterations(log));
    assert_non_null(strstr(test_read(log), "not JSON"));
}

static void a_resume_without_a_log_begins_one(void **state)
{
    (void)state;
    const char *log = test_path("new.jsonl");
    run(log, 30, 40, 40);
    assert_string_equal("40 ", iterations(log));
}

static void a_new_run_keeps_an_older_log(void **state)
{
    (void)state;
    const char *log = test_path("twice.jsonl");
    run(log, 0, 10, 20);
    run(log, 0, 30, 30);
    assert_string_equal("30 ", iterations(log));
    assert_string_equal("10 20 ", iterations(test_path("twice.jsonl~")));
}

static void a_log_that_can_not_be_opened_is_refused(void **state)
{
    (void)state;
    fails((weft_report_options){ .log = "/nowhere/at/all/log.jsonl" }, WEFT_E_IO,
          "No such file or directory");
    fails((weft_report_options){ .log = test_folder }, WEFT_E_IO, "not a file but a folder");
    fails((weft_report_options){ .log = "/dev/null" }, WEFT_E_IO, "/dev/null: not a file");
}

static void no_file_but_the_logs_is_left(void **state)
{
    (void)state;
    assert_int_equal(8, test_files());
}

#define case_of(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        case_of(values_are_means_over_samples),
        case_of(each_row_begins_at_nothing),
        case_of(a_delegate_adds_nothing),
        case_of(what_can_not_be_added_is_refused),
        case_of(adding_allocates_nothing),
        case_of(columns_are_checked),
        case_of(as_many_columns_as_fit_are_possible),
        case_of(earlier_runs_count_in_the_time),
        case_of(the_table_is_aligned_and_has_its_head_once),
        case_of(a_table_that_can_not_be_written_is_a_failure),
        case_of(the_log_has_17_digits_and_is_flushed),
        case_of(a_resume_keeps_the_rows_up_to_its_iteration),
        case_of(a_torn_line_is_dropped),
        case_of(a_log_that_is_none_is_refused_and_left_alone),
        case_of(a_resume_without_a_log_begins_one),
        case_of(a_new_run_keeps_an_older_log),
        case_of(a_log_that_can_not_be_opened_is_refused),
        case_of(no_file_but_the_logs_is_left),
    };
    return cmocka_run_group_tests(tests, test_folder_begin, test_folder_end);
}
