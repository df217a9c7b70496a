/* Reports over ranks: each sample counts once, whoever has it; what one rank alone
 * has is exactly that; failures are everybody's. */
#include "mpi_test.h"
#include "weft/train.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static weft_comm *comm;
static weft_tape *tape;
static int        rank, size;

static int setup(void **state)
{
    (void)state;
    comm = weft_comm_create(MPI_COMM_WORLD, NULL);
    tape = weft_tape_create();
    if (comm == NULL || tape == NULL)
        return 1;
    rank = weft_comm_rank(comm);
    size = weft_comm_size(comm);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    weft_tape_destroy(tape);
    weft_comm_destroy(comm);
    return 0;
}

static weft_var *value(double x)
{
    weft_var *v = weft_variable(tape, WEFT_F64, 0, NULL, false);
    *(double *)v->value.data = x;
    return v;
}

static weft_var *delegate(void)
{
    return weft_variable(tape, WEFT_F32, 1, (int64_t[]){ 0 }, false);
}

static weft_report *create(weft_report_options options)
{
    weft_report *r = weft_report_create(comm, &options);
    assert_everywhere(r != NULL);
    return r;
}

/* C100: the samples 0 .. 4, with values 0 .. 4, shared unequally, in batches of 2. */
static void uneven_shares_give_the_mean_over_samples(void **state)
{
    (void)state;
    weft_report *r = create((weft_report_options){ .column = { "loss" } });
    int64_t      begin, end;

    weft_share(5, rank, size, false, &begin, &end);
    for (int64_t i = begin; i < end; i += 2) {
        const int64_t n = end - i < 2 ? end - i : 2;
        assert_ok(weft_report_add(r, "loss", value((double)i + (n == 2 ? 0.5 : 0)), (double)n));
    }
    assert_everywhere(weft_report_row(r, 1, 1) == WEFT_OK);
    assert_everywhere(weft_report_value(r, "loss") == 2);
    weft_report_destroy(r);
}

/* What the last rank alone has, others have delegates for: not a bit is changed. */
static void a_value_of_one_rank_is_exactly_that(void **state)
{
    (void)state;
    weft_report *r = create((weft_report_options){ .column = { "loss", "accuracy" } });
    double       sum = 0, weight = 0;

    for (int i = 1; i <= 7; i++) {
        assert_ok(weft_report_add(r, "loss", rank == size - 1 ? value(1. / i) : delegate(), i + 2));
        sum += (i + 2) * (1. / i);
        weight += i + 2;
    }
    assert_everywhere(weft_report_row(r, 1, 7) == WEFT_OK);
    assert_everywhere(weft_report_value(r, "loss") == sum / weight);
    assert_everywhere(isnan(weft_report_value(r, "accuracy"))); /* C102: nobody's, and legal */
    weft_report_destroy(r);
}

/* C101: the reference pairs {a, b} of one rank with {b, c} of another. */
static void ranks_may_have_values_for_different_columns(void **state)
{
    (void)state;
    weft_report *r = create((weft_report_options){ .column = { "a", "b", "c" } });

    if (rank == 0) {
        assert_ok(weft_report_add(r, "a", value(1), 1));
        assert_ok(weft_report_add(r, "b", value(10), 1));
    }
    if (rank == size - 1) {
        assert_ok(weft_report_add(r, "b", value(100), 1));
        assert_ok(weft_report_add(r, "c", value(1000), 1));
    }
    assert_everywhere(weft_report_row(r, 1, 1) == WEFT_OK);
    assert_everywhere(weft_report_value(r, "a") == 1);
    assert_everywhere(weft_report_value(r, "b") == 55);
    assert_everywhere(weft_report_value(r, "c") == 1000);
    weft_report_destroy(r);
}

static void columns_must_be_the_same_everywhere(void **state)
{
    (void)state;
    const bool          other = rank == size - 1 && size > 1;
    weft_report_options o = { .column = { "a", other ? "c" : "b" } };
    weft_report        *r = weft_report_create(comm, &o);

    assert_everywhere((r == NULL) == (size > 1));
    if (r == NULL)
        assert_everywhere(strstr(weft_error_message(), "not the same on every rank") != NULL);
    weft_report_destroy(r);
}

static void a_log_that_rank_0_can_not_open_is_everybodys_failure(void **state)
{
    (void)state;
    const weft_report_options o = { .column = { "a" }, .log = "/nowhere/at/all/log.jsonl" };
    assert_everywhere(weft_report_create(comm, &o) == NULL);
    assert_everywhere(weft_error_status() == (rank == 0 ? WEFT_E_IO : WEFT_E_PEER));
    assert_everywhere(strstr(weft_error_message(), "/nowhere/at/all/log.jsonl") != NULL);
}

static void a_table_that_rank_0_can_not_write_is_everybodys_failure(void **state)
{
    (void)state;
    FILE        *full = fopen("/dev/full", "w");
    weft_report *r = create((weft_report_options){ .column = { "a" }, .table = full });
    assert_everywhere(weft_report_row(r, 1, 1) == (rank == 0 ? WEFT_E_IO : WEFT_E_PEER));
    weft_report_destroy(r);
    fclose(full);
}

/* One message for the sums, one to agree, whatever the number of columns. */
static void a_row_takes_two_collectives(void **state)
{
    (void)state;
    weft_report  *r = create((weft_report_options){ .column = { "a", "b", "c", "d", "e" } });
    const int64_t before = weft_comm_traffic(comm).operations;
    assert_everywhere(weft_report_row(r, 1, 1) == WEFT_OK);
    assert_everywhere(weft_comm_traffic(comm).operations - before <= 2);
    weft_report_destroy(r);
}

static void only_rank_0_writes(void **state)
{
    (void)state;
    char  folder[] = "/tmp/weft-test-XXXXXX", path[40];
    FILE *table = tmpfile();

    assert_everywhere(mkdtemp(folder) != NULL && table != NULL);
    snprintf(path, sizeof path, "%s/log.jsonl", folder);
    weft_report *r =
        create((weft_report_options){ .column = { "a" }, .table = table, .log = path });
    assert_ok(weft_report_add(r, "a", value(rank), 1));
    assert_everywhere(weft_report_row(r, 1, 1) == WEFT_OK);
    assert_everywhere((ftell(table) > 0) == (rank == 0));
    assert_everywhere((access(path, F_OK) == 0) == (rank == 0));
    weft_report_destroy(r);
    fclose(table);
    unlink(path);
    assert_everywhere(rmdir(folder) == 0);
}

static void only_rank_0_shows_progress(void **state)
{
    (void)state;
    FILE          *to = tmpfile();
    weft_progress *p = weft_progress_create(comm, WEFT_PROGRESS_ON, to, 10, 0, 1);
    const double   begin = weft_seconds();

    while (weft_seconds() < begin + 0.15)
        weft_progress_step(p, 5, 1);
    assert_everywhere((ftell(to) > 0) == (rank == 0));
    weft_progress_destroy(p);
    fclose(to);
}

#define case_of(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        case_of(uneven_shares_give_the_mean_over_samples),
        case_of(a_value_of_one_rank_is_exactly_that),
        case_of(ranks_may_have_values_for_different_columns),
        case_of(columns_must_be_the_same_everywhere),
        case_of(a_log_that_rank_0_can_not_open_is_everybodys_failure),
        case_of(a_table_that_rank_0_can_not_write_is_everybodys_failure),
        case_of(a_row_takes_two_collectives),
        case_of(only_rank_0_writes),
        case_of(only_rank_0_shows_progress),
    };
    MPI_Init(&argc, &argv);
    const int status = mpi_test_main(tests);
    MPI_Finalize();
    return status;
}
