/* A wait past its deadline is a failure that says what was waited for, and the end
 * of its communicator; nothing hangs after it. On 2 ranks and more. */
#include "comm_test.h"

#include <stdio.h>

/* The message says that at least the deadline was waited; how much more, is the
 * machine's affair. */
static double waited(void)
{
    const char *const words = strstr(weft_error_message(), ", waited ");
    double            seconds = -1;
    if (words == NULL || sscanf(words, ", waited %lf s (operation 1)", &seconds) != 1)
        print_error("no waiting time in: %s\n", weft_error_message());
    return seconds;
}

#define assert_waited(deadline) assert_true(waited() >= (deadline))

/* Waits are short only once all ranks are there. */
static int open_hurried(void **state)
{
    const int failed = comm_test_open(state);
    if (!failed)
        weft_comm_deadline_set(comm, 0.3);
    MPI_Barrier(MPI_COMM_WORLD);
    return failed;
}

/* The communicator is lost, and with it some memory that MPI may still write to. A
 * rank that stayed away ends it only when the others have waited. */
static int close_broken(void **state)
{
    (void)state;
    MPI_Barrier(MPI_COMM_WORLD);
    weft_comm_destroy(comm);
    MPI_Barrier(MPI_COMM_WORLD);
    return 0;
}

#define broken_test(name) cmocka_unit_test_setup_teardown(name, open_hurried, close_broken)

/* Every later call says at once what broke it. */
static void check_broken(const char *says)
{
    weft_tensor       *x = comm_test_vector(WEFT_F32, 5, 0);
    const weft_tensor *read = x;
    const weft_route   route = { .peer = rank == 0 ? 1 : 0, .label = "later" };
    const double       begun = weft_seconds();
    const int64_t      done = weft_comm_traffic(comm).operations;

    assert_fails(WEFT_E_STATE, weft_comm_recv(comm, &route, 1, &x));
    assert_message_has("recv of edge 0 'later'");
    assert_message_has("is broken since");
    assert_message_has(says);
    assert_fails(WEFT_E_STATE, weft_comm_send(comm, &route, 1, &read));
    assert_fails(WEFT_E_STATE, weft_comm_allreduce(comm, x, WEFT_REDUCE_SUM, "later"));
    assert_fails(WEFT_E_STATE, weft_comm_bcast(comm, x, 0, "later"));
    assert_fails(WEFT_E_STATE, weft_comm_barrier(comm, "later"));
    assert_fails(WEFT_E_STATE, weft_comm_agree(comm, WEFT_OK, "later"));
    assert_null(weft_comm_split(comm, 0, 0));
    assert_int_equal(WEFT_E_STATE, weft_error_status());
    assert_true(weft_seconds() - begun < 0.3); /* none of them waits */
    assert_int_equal(done, weft_comm_traffic(comm).operations);
    weft_tensor_destroy(x);
}

static void nobody_sends(void **state)
{
    (void)state;
    weft_tensor     *x = comm_test_vector(WEFT_F32, 5, 0);
    const weft_route route = { .peer = rank == 0 ? 1 : 0, .edge = 3, .label = "l1 to l2" };
    const double     begun = weft_seconds();

    assert_fails(WEFT_E_TIMEOUT, weft_comm_recv(comm, &route, 1, &x));
    assert_true(weft_seconds() - begun >= 0.3);
    assert_message_has(rank == 0 ? "recv of edge 3 'l1 to l2' from rank 1, micro-batch 0, waited "
                                 : "recv of edge 3 'l1 to l2' from rank 0, micro-batch 0, waited ");
    assert_waited(0.3);
    assert_true(weft_comm_traffic(comm).seconds_waited >= 0.3);
    check_broken("micro-batch 0, waited ");
    weft_tensor_destroy(x);
}

static void *no_memory(void *context, int64_t bytes)
{
    (void)context;
    (void)bytes;
    return NULL;
}

static void nobody_sends_anything(void **state)
{
    (void)state;
    weft_tensor      got[WEFT_MAX_PARTS];
    int              n;
    const weft_route route = {
        .peer = rank == 0 ? 1 : 0, .edge = 16000, .micro_batch = 7, .backward = true
    };

    assert_fails(WEFT_E_TIMEOUT, weft_comm_recv_any(comm, &route, no_memory, NULL, &n, got));
    assert_message_has("recv of edge 16000 backward from rank");
    assert_message_has("micro-batch 7, waited ");
    assert_waited(0.3);
}

/* A long message waits for its receiver; this one never comes. */
static void nobody_receives(void **state)
{
    (void)state;
    weft_tensor       *x = comm_test_vector(WEFT_U8, 20000000, 0);
    const weft_tensor *read = x;
    const weft_route   route = { .peer = rank == 0 ? 1 : 0, .edge = 3, .label = "l1 to l2" };

    weft_request *sent = weft_comm_send_start(comm, &route, 1, &read);
    assert_non_null(sent);
    assert_fails(WEFT_E_TIMEOUT, weft_comm_wait(comm, sent));
    assert_message_has("send of edge 3 'l1 to l2' to rank");
    check_broken("send of edge 3");
    assert_fails(WEFT_E_STATE, weft_comm_wait(comm, sent));
    /* x stays: MPI may still read it */
}

/* Rank 0 does not come. */
static void a_rank_stays_away(const char *says, weft_status (*call)(void))
{
    if (rank == 0)
        return;
    const double begun = weft_seconds();
    assert_fails(WEFT_E_TIMEOUT, call());
    assert_true(weft_seconds() - begun < 10);
    assert_message_has(says);
    assert_waited(0.3);
    check_broken(says);
}

static double      data[5];
static weft_tensor mine = {
    .dtype = WEFT_F64, .ndim = 1, .shape = { 5 }, .count = 5, .data = data
};

static weft_status call_allreduce(void)
{
    return weft_comm_allreduce(comm, &mine, WEFT_REDUCE_MEAN, "gradients");
}

static weft_status call_bcast(void)
{
    return weft_comm_bcast(comm, &mine, 0, "weights");
}

static weft_status call_scatter(void)
{
    return weft_comm_scatter(comm, NULL, &mine, 0, "shares");
}

static weft_status call_barrier(void)
{
    return weft_comm_barrier(comm, "end of epoch");
}

static weft_status call_agree(void)
{
    return weft_comm_agree(comm, WEFT_OK, "open");
}

static void an_allreduce_without_one_rank_ends(void **state)
{
    (void)state;
    a_rank_stays_away("allreduce 'gradients' of 5 f64", call_allreduce);
}

static void a_bcast_without_its_root_ends(void **state)
{
    (void)state;
    a_rank_stays_away("bcast 'weights' of 5 f64", call_bcast);
}

static void a_scatter_without_its_root_ends(void **state)
{
    (void)state;
    a_rank_stays_away("scatter 'shares' of 5 f64 with rank 0", call_scatter);
}

static void a_barrier_without_one_rank_ends(void **state)
{
    (void)state;
    a_rank_stays_away("barrier 'end of epoch'", call_barrier);
}

static void an_agreement_without_one_rank_ends(void **state)
{
    (void)state;
    a_rank_stays_away("agree 'open'", call_agree);
}

/* The first cause is what counts, also where the others cannot be told. */
static void a_failure_outlives_an_agreement_that_fails(void **state)
{
    (void)state;
    if (rank == 0)
        return;
    weft_status own = WEFT_FAIL(WEFT_E_IO, "cannot open weights.h5");
    assert_int_equal(WEFT_E_IO, weft_comm_agree(comm, own, "open"));
    assert_int_equal(WEFT_E_IO, weft_error_status());
    assert_string_equal("a file could not be read or written: cannot open weights.h5",
                        weft_error_message());
}

static void a_split_without_one_rank_ends(void **state)
{
    (void)state;
    if (rank == 0)
        return;
    assert_null(weft_comm_split(comm, 0, 0));
    assert_int_equal(WEFT_E_TIMEOUT, weft_error_status());
    assert_message_has("split with rank");
    assert_waited(0.3);
}

static char log_text[300];

static void keep_line(weft_log_level level, const char *line, void *context)
{
    (void)context;
    if (level == WEFT_LOG_WARN)
        snprintf(log_text, sizeof log_text, "%s", line);
}

/* Destroy is collective; a rank that comes alone leaves after the deadline, and says so
 * in the log. */
static void the_end_without_one_rank_ends(void **state)
{
    (void)state;
    if (rank == 0)
        return;
    const double begun = weft_seconds();
    weft_log_to(keep_line, NULL, WEFT_LOG_WARN);
    weft_comm_destroy(comm);
    weft_log_to(NULL, NULL, WEFT_LOG_WARN);
    assert_true(weft_seconds() - begun < 10);
    comm = NULL;
    assert_non_null(strstr(log_text, "barrier 'end of the communicator' with rank 0, waited "));
}

/* A rank that is in another collective need not be waited for: both are named. */
static void a_rank_that_has_left_is_named_at_once(void **state)
{
    (void)state;
    if (rank == 0) {
        weft_comm_destroy(comm);
        comm = NULL;
    } else if (rank == 1) {
        assert_fails(WEFT_E_STATE, call_allreduce());
        assert_message_has("allreduce 'gradients' of 5 f64 with rank 0: rank 0's barrier 'end of "
                           "the communicator'");
        check_broken("allreduce 'gradients' of 5 f64 with rank 0");
    }
}

static void the_deadline_can_be_changed(void **state)
{
    (void)state;
    assert_true(weft_comm_deadline(comm) == 0.3);
    weft_comm_deadline_set(comm, 0.05);
    assert_true(weft_comm_deadline(comm) == 0.05);
    weft_comm_deadline_set(comm, -1);
    weft_comm_deadline_set(comm, (double)NAN);
    assert_true(weft_comm_deadline(comm) == 0.05);
    if (rank != 0) {
        assert_fails(WEFT_E_TIMEOUT, call_barrier());
        assert_waited(0.05);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        broken_test(nobody_sends),
        broken_test(nobody_sends_anything),
        broken_test(nobody_receives),
        broken_test(an_allreduce_without_one_rank_ends),
        broken_test(a_bcast_without_its_root_ends),
        broken_test(a_scatter_without_its_root_ends),
        broken_test(a_barrier_without_one_rank_ends),
        broken_test(an_agreement_without_one_rank_ends),
        broken_test(a_failure_outlives_an_agreement_that_fails),
        broken_test(a_split_without_one_rank_ends),
        broken_test(the_end_without_one_rank_ends),
        broken_test(a_rank_that_has_left_is_named_at_once),
        broken_test(the_deadline_can_be_changed),
    };
    MPI_Init(&argc, &argv);
    const int status = mpi_test_main(tests);
    MPI_Finalize();
    return status;
}
