/* Collectives, against their formulas, from every root, whole and in chunks. On any
 * number of ranks. */
#include "comm_test.h"

enum { MOST = 8 }; /* ranks in these tests */

static weft_comm_options small_chunks = { .deadline = 20, .chunk_bytes = 100 };

static weft_tensor *all[MOST], *other[MOST];

static void end_all(weft_tensor **list)
{
    for (int k = 0; k < size; k++)
        weft_tensor_destroy(list[k]);
}

/* ---- sums ---- */

/* arange(n) + r over ranks: arange(n) P + P (P - 1) / 2. */
static void a_sum_is_the_sum_in_every_dtype(void **state)
{
    (void)state;
    const int64_t lengths[] = { 1, 18, 32, 1000, 0 };
    for (int dtype = 0; dtype < COMM_TEST_DTYPES; dtype++)
        for (int l = 0; l < 5; l++) {
            weft_tensor *x = weft_tensor_create((weft_dtype)dtype, 1, &lengths[l]);
            bool         right = true;

            for (int64_t i = 0; i < x->count; i++)
                weft_tensor_set(x, i, (double)(i % 18 + rank));
            assert_ok(weft_comm_allreduce(comm, x, WEFT_REDUCE_SUM, "sum"));
            for (int64_t i = 0; i < x->count; i++)
                right &= weft_tensor_get(x, i) == (double)(i % 18 * size + size * (size - 1) / 2);
            assert_everywhere(right);
            weft_tensor_destroy(x);
        }
}

static void a_maximum_is_the_maximum_and_a_scalar_is_reduced_too(void **state)
{
    (void)state;
    for (int dtype = 0; dtype < COMM_TEST_DTYPES; dtype++) {
        weft_tensor *x = weft_tensor_create((weft_dtype)dtype, 0, NULL);
        weft_tensor_set(x, 0, (3 * rank + 1) % size);
        assert_ok(weft_comm_allreduce(comm, x, WEFT_REDUCE_MAX, "max"));
        double most = 0;
        for (int k = 0; k < size; k++)
            most = fmax(most, (3 * k + 1) % size);
        assert_everywhere(weft_tensor_get(x, 0) == most);
        weft_tensor_destroy(x);
    }
}

/* The mean is the sum, then one division, and nothing else. */
static void a_mean_is_the_sum_divided_once(void **state)
{
    (void)state;
    for (int dtype = WEFT_F32; dtype <= WEFT_F64; dtype++) {
        weft_tensor *x = comm_test_vector((weft_dtype)dtype, 50, 0), *sum;
        bool         right = true;
        for (int64_t i = 0; i < x->count; i++)
            weft_tensor_set(x, i, 1.0 / (double)(i + rank + 1));
        sum = weft_tensor_copy(x);
        assert_ok(weft_comm_allreduce(comm, sum, WEFT_REDUCE_SUM, "sum"));
        assert_ok(weft_comm_allreduce(comm, x, WEFT_REDUCE_MEAN, "mean"));
        for (int64_t i = 0; i < x->count; i++) {
            const double mean = weft_tensor_get(sum, i) / size;
            right &= weft_tensor_get(x, i) == (dtype == WEFT_F32 ? (double)(float)mean : mean);
        }
        assert_everywhere(right);
        weft_tensor_destroy(x);
        weft_tensor_destroy(sum);
    }
}

/* Sums of thirds round differently in every order; the ranks still agree. */
static void all_ranks_get_the_same_bits(void **state)
{
    (void)state;
    for (int64_t n = 1; n < 300000; n *= 17) {
        weft_tensor *x = weft_tensor_create(WEFT_F32, 1, &n), *first;
        for (int64_t i = 0; i < n; i++)
            weft_tensor_set(x, i, pow(-1.3, rank) / (double)(3 * i + rank + 1));
        assert_ok(weft_comm_allreduce(comm, x, WEFT_REDUCE_SUM, "sum"));
        first = weft_tensor_copy(x);
        assert_ok(weft_comm_bcast(comm, first, 0, "rank 0's sum"));
        assert_everywhere(memcmp(first->data, x->data, (size_t)weft_tensor_bytes(x)) == 0);
        weft_tensor_destroy(x);
        weft_tensor_destroy(first);
    }
}

/* ---- copies ---- */

static void bcast_gives_what_the_root_alone_has(void **state)
{
    (void)state;
    for (int root = 0; root < size; root++)
        for (int dtype = 0; dtype < COMM_TEST_DTYPES; dtype++)
            for (int s = 0; s < COMM_TEST_SHAPES; s++) {
                weft_tensor *x = comm_test_tensor((weft_dtype)dtype, comm_test_shape[s].ndim,
                                                  comm_test_shape[s].shape, rank == root ? 5 : 0);
                assert_ok(weft_comm_bcast(comm, x, root, "x"));
                assert_everywhere(comm_test_counts_from(x, 5));
                weft_tensor_destroy(x);
            }
}

/* Rank k's tensor in the tests below: another length on every rank if uneven. */
static weft_tensor *of_rank(weft_dtype dtype, bool uneven, int k, int value)
{
    return comm_test_vector(dtype, uneven ? k * 40 : 4, value);
}

static void check_gather(weft_dtype dtype, bool uneven, int root)
{
    weft_tensor *x = of_rank(dtype, uneven, rank, rank);
    bool         right = true;

    for (int k = 0; k < size; k++)
        all[k] = of_rank(dtype, uneven, k, 99);
    assert_ok(weft_comm_gather(comm, x, rank == root ? all : NULL, root, "x"));
    for (int k = 0; k < size; k++)
        right &= comm_test_counts_from(all[k], rank == root ? k : 99);
    assert_everywhere(right);
    assert_ok(weft_comm_allgather(comm, x, all, "x"));
    for (int k = 0; k < size; k++)
        right &= comm_test_counts_from(all[k], k);
    assert_everywhere(right);
    end_all(all);
    weft_tensor_destroy(x);
}

static void gather_and_allgather_come_in_the_order_of_ranks(void **state)
{
    (void)state;
    for (int root = 0; root < size; root++)
        for (int dtype = 0; dtype < COMM_TEST_DTYPES; dtype++) {
            check_gather((weft_dtype)dtype, false, root);
            check_gather((weft_dtype)dtype, true, root);
        }
}

static void check_scatter(weft_dtype dtype, bool uneven, int root)
{
    weft_tensor *x = of_rank(dtype, uneven, rank, 99);

    for (int k = 0; k < size; k++)
        all[k] = rank == root ? of_rank(dtype, uneven, k, 10 + k) : NULL;
    assert_ok(weft_comm_scatter(comm, rank == root ? (const weft_tensor *const *)all : NULL, x,
                                root, "x"));
    assert_everywhere(comm_test_counts_from(x, 10 + rank));
    end_all(all);
    weft_tensor_destroy(x);
}

static void scatter_gives_each_rank_its_own(void **state)
{
    (void)state;
    for (int root = 0; root < size; root++)
        for (int dtype = 0; dtype < COMM_TEST_DTYPES; dtype++) {
            check_scatter((weft_dtype)dtype, false, root);
            check_scatter((weft_dtype)dtype, true, root);
        }
}

/* From rank r to k: a vector of 4, or of 10 r + k, beginning with 8 r + k. */
static void check_alltoall(weft_dtype dtype, bool uneven)
{
    bool right = true;
    for (int k = 0; k < size; k++) {
        all[k] = comm_test_vector(dtype, uneven ? 10 * rank + k : 4, 8 * rank + k);
        other[k] = comm_test_vector(dtype, uneven ? 10 * k + rank : 4, 99);
    }
    assert_ok(weft_comm_alltoall(comm, (const weft_tensor *const *)all, other, "x"));
    for (int k = 0; k < size; k++)
        right &= comm_test_counts_from(other[k], 8 * k + rank);
    assert_everywhere(right);
    end_all(all);
    end_all(other);
}

static void alltoall_is_a_transpose(void **state)
{
    (void)state;
    for (int dtype = 0; dtype < COMM_TEST_DTYPES; dtype++) {
        check_alltoall((weft_dtype)dtype, false);
        check_alltoall((weft_dtype)dtype, true);
    }
}

/* One tensor of shape s through each; rank k's begins with k. */
static void check_all(weft_dtype dtype, int s)
{
    const int      ndim = comm_test_shape[s].ndim;
    const int64_t *shape = comm_test_shape[s].shape;
    weft_tensor   *x = comm_test_tensor(dtype, ndim, shape, rank), *own = weft_tensor_copy(x);
    bool           right = true;

    for (int k = 0; k < size; k++) {
        all[k] = comm_test_tensor(dtype, ndim, shape, 99);
        other[k] = comm_test_tensor(dtype, ndim, shape, 99);
    }
    const weft_tensor *const *read = (const weft_tensor *const *)all;

    assert_ok(weft_comm_gather(comm, x, rank == size - 1 ? all : NULL, size - 1, "x"));
    for (int k = 0; k < size; k++)
        right &= comm_test_counts_from(all[k], rank == size - 1 ? k : 99);
    assert_ok(weft_comm_allgather(comm, x, all, "x"));
    for (int k = 0; k < size; k++)
        right &= comm_test_counts_from(all[k], k);
    assert_ok(weft_comm_alltoall(comm, read, other, "x")); /* from each the one of this rank */
    for (int k = 0; k < size; k++)
        right &= comm_test_counts_from(other[k], rank);
    weft_tensor_fill(x, 99);
    assert_ok(weft_comm_scatter(comm, rank == 0 ? read : NULL, x, 0, "x"));
    right &= comm_test_counts_from(x, rank);
    assert_ok(weft_comm_bcast(comm, own, size - 1, "x"));
    right &= comm_test_counts_from(own, size - 1);
    weft_tensor_fill(x, 1);
    assert_ok(weft_comm_allreduce(comm, x, WEFT_REDUCE_SUM, "x"));
    right &= comm_test_counts_from(x, size);
    assert_everywhere(right);
    end_all(all);
    end_all(other);
    weft_tensor_destroy(own);
    weft_tensor_destroy(x);
}

static void scalars_and_empty_tensors_go_through_all(void **state) /* C60, C61 */
{
    (void)state;
    for (int s = 1; s <= 2; s++) /* (), (0, 3) */
        for (int dtype = 0; dtype < COMM_TEST_DTYPES; dtype++)
            check_all((weft_dtype)dtype, s);
}

/* ---- what does not fit ---- */

static void a_shape_that_does_not_fit_is_named_with_both_sides(void **state)
{
    (void)state;
    weft_tensor *x = comm_test_vector(WEFT_F32, 5, rank);
    for (int k = 0; k < size; k++)
        all[k] = comm_test_vector(WEFT_F32, k == size - 1 ? 6 : 5, 99);

    if (rank != 0)
        assert_ok(weft_comm_gather(comm, x, NULL, 0, "losses"));
    else {
        assert_fails(WEFT_E_SHAPE, weft_comm_gather(comm, x, all, 0, "losses"));
        assert_message_has("'losses'");
        assert_message_has("(5) f32");
        assert_message_has("(6) f32");
    }
    assert_ok(weft_comm_allreduce(comm, x, WEFT_REDUCE_SUM, "still in step"));
    end_all(all);
    weft_tensor_destroy(x);
}

/* A communicator whose ranks stopped half-way keeps the memory that MPI may still use. */
static int close_lost(void **state)
{
    (void)state;
    weft_comm_destroy(comm);
    return 0;
}

/* Pairs of ranks, of which the first has one element more: long tensors, of which
 * both hear from each other, and short ones, of which the first hears first. */
static void a_sum_of_different_lengths_is_refused(void **state)
{
    (void)state;
    for (int64_t n = 5; n < 100000; n *= 10000) {
        weft_comm   *own = weft_comm_split(comm, rank / 2, 0);
        weft_tensor *x = comm_test_vector(WEFT_F32, rank % 2 == 0 ? n + 1 : n, rank);
        assert_non_null(own);
        const bool paired = weft_comm_size(own) == 2, hears = rank % 2 == 0 || n > 5;

        if (paired && !hears)
            weft_comm_deadline_set(own, 0.5);
        const weft_status got = weft_comm_allreduce(own, x, WEFT_REDUCE_SUM, "conv1/W");
        if (paired && hears) {
            assert_int_equal(WEFT_E_SHAPE, got);
            assert_message_has(rank % 2 == 0 ? "with rank 1: rank 1's allreduce 'conv1/W'"
                                             : "with rank 0: rank 0's allreduce 'conv1/W'");
        } else
            assert_int_equal(paired ? WEFT_E_TIMEOUT : WEFT_OK, got);
        MPI_Barrier(MPI_COMM_WORLD);
        weft_comm_destroy(own);
        weft_tensor_destroy(x);
    }
}

static void ranks_in_different_collectives_are_told_so(void **state)
{
    (void)state;
    weft_tensor *x = comm_test_vector(WEFT_F32, 5, rank);
    for (int k = 0; k < size; k++)
        all[k] = comm_test_vector(WEFT_F32, 5, 99);
    if (rank == 0) {
        assert_fails(WEFT_E_STATE,
                     weft_comm_alltoall(comm, (const weft_tensor *const *)all, all, "shares"));
        assert_message_has("alltoall 'shares' with rank 1: rank 1's allgather 'losses' (operation "
                           "1) came instead");
    } else {
        assert_fails(WEFT_E_STATE, weft_comm_allgather(comm, x, all, "losses"));
        assert_message_has("allgather 'losses' of 5 f32 with rank 0: rank 0's alltoall 'shares' "
                           "(operation 1) came "
                           "instead");
    }
    end_all(all);
    weft_tensor_destroy(x);
}

/* Nobody leaves before the last has come; one node has one clock. */
static void a_barrier_holds_everyone_back(void **state)
{
    (void)state;
    weft_tensor *came = weft_tensor_create(WEFT_F64, 0, NULL);
    for (int late = 0; late < size; late++) {
        const double begun = weft_seconds();
        while (rank == late && weft_seconds() - begun < 0.05) {
        }
        weft_tensor_set(came, 0, weft_seconds());
        assert_ok(weft_comm_barrier(comm, "meet"));
        const double left = weft_seconds();
        assert_ok(weft_comm_bcast(comm, came, late, "when the last came"));
        assert_everywhere(left >= weft_tensor_get(came, 0));
    }
    weft_tensor_destroy(came);
}

/* Of bcasts from two roots a rank learns that has its tensor from the wrong one: the
 * fourth, which the third passes it on to. */
static void bcasts_from_two_roots_are_no_pair(void **state)
{
    weft_tensor *x = comm_test_vector(WEFT_F32, 3, 0);
    (void)state;

    if (size >= 4) {
        weft_comm_deadline_set(comm, 1);
        const weft_status got = weft_comm_bcast(comm, x, rank == 2 ? 2 : 0, "weights");
        assert_everywhere(got == (rank == 3 ? WEFT_E_STATE : WEFT_OK));
        if (rank == 3)
            assert_message_has("rank 2's bcast 'weights' (operation 1) has root 2, this rank's 0");
    }
    weft_tensor_destroy(x);
}

int main(int argc, char **argv)
{
    int alone;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &alone);

    const struct CMUnitTest tests[] = {
        comm_test(a_sum_is_the_sum_in_every_dtype),
        comm_test_with(a_sum_is_the_sum_in_every_dtype, small_chunks),
        comm_test(a_maximum_is_the_maximum_and_a_scalar_is_reduced_too),
        comm_test(a_mean_is_the_sum_divided_once),
        comm_test(all_ranks_get_the_same_bits),
        comm_test(bcast_gives_what_the_root_alone_has),
        comm_test_with(bcast_gives_what_the_root_alone_has, small_chunks),
        comm_test(gather_and_allgather_come_in_the_order_of_ranks),
        comm_test_with(gather_and_allgather_come_in_the_order_of_ranks, small_chunks),
        comm_test(scatter_gives_each_rank_its_own),
        comm_test_with(scatter_gives_each_rank_its_own, small_chunks),
        comm_test(alltoall_is_a_transpose),
        comm_test_with(alltoall_is_a_transpose, small_chunks),
        comm_test(scalars_and_empty_tensors_go_through_all),
        comm_test(a_barrier_holds_everyone_back),
        comm_test(a_shape_that_does_not_fit_is_named_with_both_sides),
        comm_test(ranks_in_different_collectives_are_told_so),
        cmocka_unit_test_setup_teardown(a_sum_of_different_lengths_is_refused, comm_test_open,
                                        close_lost),
        cmocka_unit_test_setup_teardown(bcasts_from_two_roots_are_no_pair, comm_test_open,
                                        close_lost),
    };
    const size_t n = sizeof tests / sizeof *tests;
    const int    status = mpi_test_run("collectives", tests, alone > 1 ? n : n - 4);
    MPI_Finalize();
    return status;
}
