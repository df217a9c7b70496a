/* Communicators: made, split, asked, counted, ended. On any number of ranks. */
#include "comm_test.h"

#include <stdlib.h>

/* ---- making ---- */

static weft_status begun_too_early;
static char        early_message[200];

static void before_mpi_begins_there_is_none(void **state)
{
    (void)state;
    assert_int_equal(WEFT_E_STATE, begun_too_early);
    assert_non_null(strstr(early_message, "before MPI_Init()"));
}

static void it_knows_its_ranks(void **state)
{
    (void)state;
    int r, k;
    MPI_Comm_rank(MPI_COMM_WORLD, &r);
    MPI_Comm_size(MPI_COMM_WORLD, &k);
    assert_int_equal(r, rank);
    assert_int_equal(k, size);
    assert_true(weft_comm_deadline(comm) == 20);
    assert_non_null(strstr(weft_mpi_version(), "MPI"));
    assert_null(strchr(weft_mpi_version(), '\n'));
}

static void wrong_options_are_refused(void **state)
{
    (void)state;
    const weft_comm_options wrong[] = {
        { .deadline = -1 },    { .deadline = (double)NAN },    { .deadline = HUGE_VAL },
        { .chunk_bytes = -1 }, { .chunk_bytes = 1 << 30 | 1 },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_null(weft_comm_create(MPI_COMM_WORLD, &wrong[i]));
        assert_int_equal(WEFT_E_ARG, weft_error_status());
    }
    assert_null(weft_comm_create(MPI_COMM_NULL, NULL));
    assert_message_has("MPI_COMM_NULL");
}

static void the_environment_sets_the_deadline(void **state)
{
    (void)state;
    const char *const wrong[] = {
        "", "abc", "0", "-3", " 5", "5 s", "inf", "nan", "0x10", "1e999"
    };

    setenv("WEFT_DEADLINE", "12.5", 1);
    weft_comm *other = weft_comm_create(MPI_COMM_WORLD, NULL);
    assert_non_null(other);
    assert_true(weft_comm_deadline(other) == 12.5);
    weft_comm_destroy(other);

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        setenv("WEFT_DEADLINE", wrong[i], 1);
        assert_null(weft_comm_create(MPI_COMM_WORLD, NULL));
        assert_int_equal(WEFT_E_ARG, weft_error_status());
        assert_message_has("WEFT_DEADLINE is '");
        assert_message_has(wrong[i]);
    }

    const weft_comm_options options = { .deadline = 7 }; /* comes first */
    other = weft_comm_create(MPI_COMM_WORLD, &options);
    assert_non_null(other);
    assert_true(weft_comm_deadline(other) == 7);
    weft_comm_destroy(other);

    unsetenv("WEFT_DEADLINE");
    other = weft_comm_create(MPI_COMM_WORLD, NULL);
    assert_non_null(other);
    assert_true(weft_comm_deadline(other) == 300);
    weft_comm_destroy(other);
}

/* ---- splitting ---- */

static void a_split_orders_by_key_and_keeps_the_options(void **state)
{
    (void)state;
    weft_comm *part = weft_comm_split(comm, rank % 2, -rank);
    assert_non_null(part);
    const int like_me = (size - rank % 2 + 1) / 2;
    assert_everywhere(weft_comm_size(part) == like_me);
    assert_everywhere(weft_comm_rank(part) == like_me - 1 - rank / 2);
    assert_everywhere(weft_comm_deadline(part) == 20);

    double      value = rank;
    weft_tensor x = weft_tensor_wrap(WEFT_F64, 0, NULL, &value);
    assert_ok(weft_comm_allreduce(part, &x, WEFT_REDUCE_SUM, "my half"));
    double sum = 0;
    for (int k = rank % 2; k < size; k += 2)
        sum += k;
    assert_everywhere(value == sum);
    weft_comm_destroy(part);
}

static void a_negative_color_is_none_and_no_failure(void **state)
{
    (void)state;
    (void)WEFT_FAIL(WEFT_E_IO, "an old failure");
    weft_comm *part = weft_comm_split(comm, rank == 0 ? -1 : 0, 0);
    assert_true((part == NULL) == (rank == 0));
    if (rank == 0)
        assert_int_equal(WEFT_OK, weft_error_status());
    else
        assert_int_equal(size - 1, weft_comm_size(part));
    weft_comm_destroy(part);
}

/* The same edge on two communicators over the same ranks. */
static void messages_of_two_communicators_never_meet(void **state)
{
    (void)state;
    weft_comm       *twin = weft_comm_split(comm, 0, rank);
    double           one = 1, two = 2, got = 0;
    weft_tensor      x = weft_tensor_wrap(WEFT_F64, 0, NULL, &one), y = x, z = x, *to = &z;
    const weft_route away = { .peer = (rank + 1) % size },
                     back = { .peer = (rank + size - 1) % size };

    y.data = &two;
    z.data = &got;
    if (size > 1) {
        weft_request *first = weft_comm_send_start(comm, &away, 1, (const weft_tensor *[]){ &x });
        weft_request *second = weft_comm_send_start(twin, &away, 1, (const weft_tensor *[]){ &y });
        assert_ok(weft_comm_recv(twin, &back, 1, &to));
        assert_true(got == 2);
        assert_ok(weft_comm_recv(comm, &back, 1, &to));
        assert_true(got == 1);
        assert_ok(weft_comm_wait(comm, first));
        assert_ok(weft_comm_wait(twin, second));
    }
    weft_comm_destroy(twin);
}

/* ---- counting ---- */

static void what_goes_through_is_counted_exactly(void **state)
{
    (void)state;
    float        values[30] = { 0 }, many[8][30];
    weft_tensor  x = weft_tensor_wrap(WEFT_F32, 1, (int64_t[]){ 30 }, values), all[8], *list[8];
    weft_traffic t;

    for (int k = 0; k < size; k++) {
        all[k] = weft_tensor_wrap(WEFT_F32, 1, (int64_t[]){ 30 }, many[k]);
        list[k] = &all[k];
    }
    const weft_tensor *const *read = (const weft_tensor *const *)list;
    assert_ok(weft_comm_allreduce(comm, &x, WEFT_REDUCE_SUM, "120 bytes"));
    assert_ok(weft_comm_bcast(comm, &x, 0, "120 bytes at the root"));
    assert_ok(weft_comm_gather(comm, &x, list, 0, "120 bytes"));
    assert_ok(weft_comm_scatter(comm, read, &x, 0, "all at the root"));
    assert_ok(weft_comm_allgather(comm, &x, list, "120 bytes"));
    assert_ok(weft_comm_alltoall(comm, read, list, "all"));
    assert_ok(weft_comm_barrier(comm, "nothing"));
    assert_ok(weft_comm_agree(comm, WEFT_OK, "nothing"));
    t = weft_comm_traffic(comm);
    assert_int_equal(8, t.operations);
    assert_int_equal(8, t.collectives);
    assert_int_equal(120 * (3 + size + (rank == 0 ? 1 + size : 0)), t.collective_bytes);
    assert_int_equal(0, t.messages_sent);
    assert_int_equal(0, t.bytes_received);

    for (int i = 0; i < 3 && rank < 2 && size > 1; i++) {
        const weft_route route = { .peer = 1 - rank, .edge = i };
        if (rank == 0)
            assert_ok(weft_comm_send(comm, &route, 2, (const weft_tensor *[]){ &x, &all[0] }));
        else
            assert_ok(weft_comm_recv(comm, &route, 2, (weft_tensor *[]){ &x, &all[0] }));
    }
    t = weft_comm_traffic(comm);
    const int64_t n = rank < 2 && size > 1 ? 3 : 0;
    assert_int_equal(8 + n, t.operations);
    assert_int_equal(rank == 0 ? n : 0, t.messages_sent);
    assert_int_equal(rank == 0 ? n * 240 : 0, t.bytes_sent);
    assert_int_equal(rank == 1 ? n : 0, t.messages_received);
    assert_int_equal(rank == 1 ? n * 240 : 0, t.bytes_received);
    assert_int_equal(8, t.collectives);
}

/* The same addresses in every step, as a tape has them: two edges, there and back. */
static void step(weft_tensor *const *x)
{
    weft_request *sent[4];
    const int     away = (rank + 1) % size, back = (rank + size - 1) % size;

    for (int k = 0; k < 4; k++) {
        const weft_route route = { .peer = away, .edge = k / 2, .backward = k % 2 };
        sent[k] = weft_comm_send_start(comm, &route, 2, (const weft_tensor *[]){ x[0], x[1] });
        assert_non_null(sent[k]);
    }
    for (int k = 0; k < 4; k++) {
        const weft_route route = { .peer = back, .edge = k / 2, .backward = k % 2 };
        assert_ok(weft_comm_recv(comm, &route, 2, (weft_tensor *[]){ x[2], x[3] }));
    }
    for (int k = 0; k < 4; k++)
        assert_ok(weft_comm_wait(comm, sent[k]));
    assert_ok(weft_comm_allreduce(comm, x[0], WEFT_REDUCE_MEAN, "gradients"));
    assert_ok(weft_comm_allgather(comm, x[1], x + 4, "losses"));
}

static void a_steady_step_allocates_nothing(void **state)
{
    (void)state;
    weft_tensor *x[4 + 8];
    for (int i = 0; i < 4 + size; i++)
        x[i] = comm_test_vector(WEFT_F32, 777, i);
    if (size > 1) {
        step(x);
        step(x);
        const int64_t allocations = weft_memory_now().allocations;
        for (int i = 0; i < 50; i++)
            step(x);
        assert_everywhere(weft_memory_now().allocations == allocations);
    }
    for (int i = 0; i < 4 + size; i++)
        weft_tensor_destroy(x[i]);
}

/* Addresses that never repeat: the oldest types give way to new ones. */
static void memory_stays_bounded_when_addresses_never_repeat(void **state)
{
    (void)state;
    enum { TIMES = 2000, LATER = 1000 };
    static float  values[TIMES + 4];
    int64_t       bytes_later = 0;
    const int64_t two[] = { 2 };

    for (int i = 0; i < TIMES && size > 1 && rank < 2; i++) {
        weft_tensor      x = weft_tensor_wrap(WEFT_F32, 1, two, values + i), *to = &x;
        const weft_route route = { .peer = 1 - rank };
        values[i] = (float)(rank == 0 ? i : -1);
        if (rank == 0)
            assert_ok(weft_comm_send(comm, &route, 1, (const weft_tensor *[]){ &x }));
        else
            assert_ok(weft_comm_recv(comm, &route, 1, &to));
        assert_true(values[i] == (float)i);
        if (i == LATER)
            bytes_later = weft_memory_now().bytes;
    }
    if (bytes_later > 0)
        assert_int_equal(bytes_later, weft_memory_now().bytes);
    assert_ok(weft_comm_barrier(comm, "done"));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        comm_test(before_mpi_begins_there_is_none),
        comm_test(it_knows_its_ranks),
        comm_test(wrong_options_are_refused),
        comm_test(the_environment_sets_the_deadline),
        comm_test(a_split_orders_by_key_and_keeps_the_options),
        comm_test(a_negative_color_is_none_and_no_failure),
        comm_test(messages_of_two_communicators_never_meet),
        comm_test(what_goes_through_is_counted_exactly),
        comm_test(a_steady_step_allocates_nothing),
        comm_test(memory_stays_bounded_when_addresses_never_repeat),
    };
    if (weft_comm_create(MPI_COMM_WORLD, NULL) == NULL)
        begun_too_early = weft_error_status();
    strncpy(early_message, weft_error_message(), sizeof early_message - 1);

    MPI_Init(&argc, &argv);
    int status = mpi_test_main(tests);
    MPI_Finalize();

    const bool late = weft_comm_create(MPI_COMM_WORLD, NULL) != NULL;
    if (late || weft_error_status() != WEFT_E_STATE) {
        print_error("a communicator after MPI_Finalize()\n");
        status = 1;
    }
    return status;
}
