/* One rank's failure becomes an outcome on all ranks, in its own words. On any
 * number of ranks. */
#include "comm_test.h"

#include <stdio.h>

static void all_well_is_all_well(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++)
        assert_ok(weft_comm_agree(comm, WEFT_OK, "open"));
    assert_everywhere(weft_error_status() == WEFT_OK);
}

static void one_rank_failing_is_heard_by_all(void **state)
{
    (void)state;
    for (int who = 0; who < size; who++) {
        char says[100];
        weft_error_clear();
        weft_status mine = WEFT_OK;
        if (rank == who)
            mine = WEFT_FAIL(WEFT_E_IO, "cannot open weights_%d.h5", rank);

        const weft_status got = weft_comm_agree(comm, mine, "open");
        assert_everywhere(got == (rank == who ? WEFT_E_IO : WEFT_E_PEER));
        assert_everywhere(weft_error_status() == got);
        snprintf(says, sizeof says, "cannot open weights_%d.h5", who);
        assert_message_has(says);
        snprintf(says, sizeof says, "rank %d: a file could not be read or written", who);
        if (rank != who)
            assert_message_has(says);
        else
            assert_null(strstr(weft_error_message(), "rank"));
    }
    assert_ok(weft_comm_agree(comm, WEFT_OK, "go on"));
}

/* Every rank but the lowest of them keeps its own failure too. */
static void of_several_failures_the_lowest_ranks_is_heard(void **state)
{
    (void)state;
    weft_status mine = WEFT_OK;
    if (rank > 0)
        mine = WEFT_FAIL(WEFT_E_SHAPE, "trouble %d", rank);

    const weft_status got = weft_comm_agree(comm, mine, "load");
    assert_everywhere(got == (size == 1 ? WEFT_OK : rank > 0 ? WEFT_E_SHAPE : WEFT_E_PEER));
    if (rank == 0 && size > 1)
        assert_message_has("rank 1: shapes do not fit together: trouble 1");
    if (rank > 0) {
        char own[20];
        snprintf(own, sizeof own, "trouble %d", rank);
        assert_message_has(own);
    }
}

static void a_failure_without_a_message_is_told_by_its_kind(void **state)
{
    (void)state;
    weft_error_clear();
    const weft_status got =
        weft_comm_agree(comm, rank == size - 1 ? WEFT_E_FORMAT : WEFT_OK, "read");
    assert_everywhere(got == (rank == size - 1 ? WEFT_E_FORMAT : WEFT_E_PEER));
    if (rank < size - 1)
        assert_message_has(weft_status_text(WEFT_E_FORMAT));
}

static void a_long_message_is_cut_and_arrives(void **state)
{
    (void)state;
    char name[700];
    memset(name, 'w', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    weft_error_clear();
    const weft_status mine = rank == 0 ? WEFT_FAIL(WEFT_E_IO, "%s", name) : WEFT_OK;
    const weft_status got = weft_comm_agree(comm, mine, "open");
    assert_everywhere(got == (rank == 0 ? WEFT_E_IO : WEFT_E_PEER));
    name[300] = '\0';
    assert_message_has(name);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        comm_test(all_well_is_all_well),
        comm_test(one_rank_failing_is_heard_by_all),
        comm_test(of_several_failures_the_lowest_ranks_is_heard),
        comm_test(a_failure_without_a_message_is_told_by_its_kind),
        comm_test(a_long_message_is_cut_and_arrives),
    };
    MPI_Init(&argc, &argv);
    const int status = mpi_test_main(tests);
    MPI_Finalize();
    return status;
}
