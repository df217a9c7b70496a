/* Messages between ranks: every dtype and shape, tuples, edges, chunks, and both
 * sides sending first. On 2 ranks and more. */
#include "comm_test.h"

static weft_comm_options small_chunks = { .deadline = 20, .chunk_bytes = 1000 };

static weft_route to(int peer)
{
    return (weft_route){ .peer = peer, .edge = 3, .label = "l1 to l2" };
}

/* Rank 0 sends x to every other, which receives into a tensor like it. */
static void check_arrives(int n, const weft_tensor *const *x)
{
    weft_tensor *got[WEFT_MAX_PARTS];
    bool         right = true;

    for (int peer = 1; rank == 0 && peer < size; peer++) {
        const weft_route route = to(peer);
        assert_ok(weft_comm_send(comm, &route, n, x));
    }
    for (int i = 0; rank != 0 && i < n; i++)
        got[i] = weft_tensor_zeros(x[i]->dtype, x[i]->ndim, x[i]->shape);
    if (rank != 0) {
        const weft_route route = to(0);
        assert_ok(weft_comm_recv(comm, &route, n, got));
    }
    for (int i = 0; rank != 0 && i < n; i++) {
        right &= comm_test_counts_from(got[i], 7 + i);
        weft_tensor_destroy(got[i]);
    }
    assert_everywhere(right);
}

/* Rank 0 sends x to rank 1, which receives what comes. */
static void *take(void *arena, int64_t bytes)
{
    return weft_arena_take(arena, bytes);
}

static void check_any(int n, const weft_tensor *const *x)
{
    weft_arena      *arena = weft_arena_create(1 << 20, NULL);
    weft_tensor      got[WEFT_MAX_PARTS];
    int              n_got = 0;
    bool             right = true;
    const weft_route away = to(1), back = to(0);

    if (rank == 0)
        assert_ok(weft_comm_send(comm, &away, n, x));
    if (rank == 1) {
        assert_ok(weft_comm_recv_any(comm, &back, take, arena, &n_got, got));
        right = n_got == n;
    }
    for (int i = 0; rank == 1 && right && i < n; i++)
        right = got[i].dtype == x[i]->dtype && weft_tensor_same_shape(&got[i], x[i]) &&
                comm_test_counts_from(&got[i], 7 + i) &&
                (uintptr_t)got[i].data % WEFT_ALIGNMENT == 0;
    weft_arena_destroy(arena);
    assert_everywhere(right);
}

static void every_dtype_and_shape_arrives(void **state)
{
    (void)state;
    for (int dtype = 0; dtype < COMM_TEST_DTYPES; dtype++)
        for (int s = 0; s < COMM_TEST_SHAPES; s++) {
            weft_tensor *x = comm_test_tensor((weft_dtype)dtype, comm_test_shape[s].ndim,
                                              comm_test_shape[s].shape, 7);
            check_arrives(1, (const weft_tensor *[]){ x });
            weft_tensor_destroy(x);
        }
}

/* Parts of 1, 3, 9, ... bytes, so that there is padding everywhere. */
static void a_tuple_of_all_dtypes_is_one_message(void **state)
{
    (void)state;
    weft_tensor *x[WEFT_MAX_PARTS];
    for (int i = 0; i < WEFT_MAX_PARTS; i++)
        x[i] = comm_test_vector((weft_dtype)(i % COMM_TEST_DTYPES), i * 37 % 100, 7 + i);

    const weft_tensor *const *read = (const weft_tensor *const *)x;
    for (int n = 1; n <= WEFT_MAX_PARTS; n++)
        check_arrives(n, read);
    const int64_t sent = rank == 0 ? (int64_t)WEFT_MAX_PARTS * (size - 1) : 0;
    assert_everywhere(weft_comm_traffic(comm).messages_sent == sent);
    for (int i = 0; i < WEFT_MAX_PARTS; i++)
        weft_tensor_destroy(x[i]);
}

/* Around the length of one chunk, where one message becomes several. */
static void messages_around_a_chunk_arrive(void **state)
{
    (void)state;
    for (int64_t n = 995; n < 1005; n++) {
        weft_tensor *x = comm_test_vector(WEFT_U8, n, 7), *y = comm_test_vector(WEFT_F64, n, 8);
        check_arrives(1, (const weft_tensor *[]){ x });
        check_arrives(2, (const weft_tensor *[]){ x, y });
        weft_tensor_destroy(x);
        weft_tensor_destroy(y);
    }
}

/* Around a MiB, where the header begins to travel alone. */
static void messages_around_the_longest_short_one_arrive(void **state)
{
    (void)state;
    for (int64_t n = (1 << 20) - 1; n <= (1 << 20) + 1; n++) {
        weft_tensor *x = comm_test_vector(WEFT_U8, n, 7), *y = comm_test_vector(WEFT_U8, 10, 8);
        weft_tensor *z = comm_test_vector(WEFT_U8, 0, 9);
        check_arrives(1, (const weft_tensor *[]){ x });
        check_arrives(3, (const weft_tensor *[]){ x, y, z });
        check_any(1, (const weft_tensor *[]){ x });
        check_any(3, (const weft_tensor *[]){ x, y, z });
        weft_tensor_destroy(x);
        weft_tensor_destroy(y);
        weft_tensor_destroy(z);
    }
}

/* Rank k > 0 receives what rank k - 1 filled with its number. */
static void a_chain_of_ranks_passes_numbers_on(void **state)
{
    (void)state;
    const int64_t shape[] = { 50, 20, 5, 3 };
    for (int ndim = 1; ndim <= 4; ndim++) {
        weft_tensor     *x = weft_tensor_create(WEFT_F32, ndim, shape);
        weft_tensor     *y = weft_tensor_zeros(WEFT_F32, ndim, shape);
        const weft_route next = to(rank + 1), last = to(rank - 1);
        weft_request    *sent = NULL;

        weft_tensor_fill(x, rank);
        if (rank + 1 < size)
            assert_non_null(sent =
                                weft_comm_send_start(comm, &next, 1, (const weft_tensor *[]){ x }));
        if (rank > 0)
            assert_ok(weft_comm_recv(comm, &last, 1, &y));
        if (sent != NULL)
            assert_ok(weft_comm_wait(comm, sent));
        assert_everywhere(rank == 0 || weft_tensor_get(y, y->count - 1) == rank - 1);
        weft_tensor_destroy(x);
        weft_tensor_destroy(y);
    }
}

/* Everybody sends to everybody, then receives. */
static void all_send_first(int64_t n)
{
    weft_tensor  *x = weft_tensor_create(WEFT_F32, 1, &n), *y = weft_tensor_zeros(WEFT_F32, 1, &n);
    weft_request *sent[8] = { NULL };
    bool          right = true;

    weft_tensor_fill(x, rank);
    for (int peer = 0; peer < size; peer++) {
        const weft_route route = to(peer);
        if (peer != rank)
            assert_non_null(
                sent[peer] = weft_comm_send_start(comm, &route, 1, (const weft_tensor *[]){ x }));
    }
    for (int peer = 0; peer < size; peer++) {
        const weft_route route = to(peer);
        if (peer == rank)
            continue;
        assert_ok(weft_comm_recv(comm, &route, 1, &y));
        right &= weft_tensor_get(y, 0) == peer && weft_tensor_get(y, n - 1) == peer;
    }
    for (int peer = 0; peer < size; peer++)
        if (peer != rank)
            assert_ok(weft_comm_wait(comm, sent[peer]));
    assert_everywhere(right);
    weft_tensor_destroy(x);
    weft_tensor_destroy(y);
}

static void both_may_send_first_whatever_the_size(void **state)
{
    (void)state;
    for (int64_t n = 1; n < 2000000; n *= 100)
        all_send_first(n);
}

/* Two edges and their ways back between two ranks, received in another order than
 * sent; shapes are the same, so arrival alone would not tell them apart. */
static void messages_are_matched_by_edge_and_not_by_arrival(void **state)
{
    (void)state;
    weft_request *sent[4];
    weft_tensor  *x[4], *y = comm_test_vector(WEFT_I32, 3, 0);
    const int     peer = rank == 0 ? 1 : 0;

    for (int k = 0; k < 4; k++) {
        const weft_route route = { .peer = peer, .edge = k / 2, .backward = k % 2 };
        x[k] = comm_test_vector(WEFT_I32, 3, 10 * k);
        sent[k] = NULL;
        if (rank < 2)
            assert_non_null(
                sent[k] = weft_comm_send_start(comm, &route, 1, (const weft_tensor *const *)&x[k]));
    }
    for (int k = 3; k >= 0; k--) {
        const weft_route route = { .peer = peer, .edge = k / 2, .backward = k % 2 };
        if (rank < 2)
            assert_ok(weft_comm_recv(comm, &route, 1, &y));
        assert_everywhere(rank >= 2 || comm_test_counts_from(y, 10 * k));
    }
    for (int k = 0; k < 4; k++) {
        if (sent[k] != NULL)
            assert_ok(weft_comm_wait(comm, sent[k]));
        weft_tensor_destroy(x[k]);
    }
    weft_tensor_destroy(y);
}

/* One tensor to the same peer twice at a time: each send has its own header. */
static void one_tensor_can_be_in_two_messages_at_a_time(void **state)
{
    (void)state;
    weft_tensor       *x = comm_test_vector(WEFT_F64, 100000, 5);
    const weft_tensor *read = x;
    weft_route         route = to(1 - rank);

    if (rank == 0) {
        weft_request *first = weft_comm_send_start(comm, &route, 1, &read);
        route.micro_batch = 1;
        weft_request *second = weft_comm_send_start(comm, &route, 1, &read);
        assert_true(first != NULL && second != NULL && first != second);
        assert_ok(weft_comm_wait(comm, second));
        assert_ok(weft_comm_wait(comm, first));
    } else if (rank == 1) {
        for (; route.micro_batch < 2; route.micro_batch++) {
            weft_tensor_fill(x, 0);
            assert_ok(weft_comm_recv(comm, &route, 1, &x));
            assert_true(comm_test_counts_from(x, 5));
        }
    }
    weft_tensor_destroy(x);
}

/* ---- receiving what comes ---- */

static void what_comes_is_received_whatever_it_is(void **state)
{
    (void)state;
    weft_tensor *x[WEFT_MAX_PARTS];
    for (int i = 0; i < WEFT_MAX_PARTS; i++) {
        const int s = i % COMM_TEST_SHAPES;
        x[i] = comm_test_tensor((weft_dtype)(i * 3 % COMM_TEST_DTYPES), comm_test_shape[s].ndim,
                                comm_test_shape[s].shape, 7 + i);
    }
    for (int n = 1; n <= WEFT_MAX_PARTS; n++)
        check_any(n, (const weft_tensor *const *)x);
    for (int i = 0; i < WEFT_MAX_PARTS; i++)
        weft_tensor_destroy(x[i]);
}

static void *nothing(void *context, int64_t bytes)
{
    (void)context;
    (void)bytes;
    return weft_alloc(INT64_MAX); /* fails */
}

static void no_memory_for_what_comes_is_a_failure(void **state)
{
    (void)state;
    weft_tensor       *x = comm_test_vector(WEFT_F64, 10000, 7);
    const weft_tensor *read = x;
    weft_tensor        got[WEFT_MAX_PARTS];
    int                n;
    const weft_route   away = to(1), back = to(0);

    if (rank == 0)
        assert_ok(weft_comm_send(comm, &away, 1, &read));
    if (rank == 1) {
        assert_fails(WEFT_E_NOMEM, weft_comm_recv_any(comm, &back, nothing, NULL, &n, got));
        assert_ok(weft_comm_recv(comm, &back, 1, &x)); /* it is still there */
    }
    weft_tensor_destroy(x);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        comm_test(every_dtype_and_shape_arrives),
        comm_test(a_tuple_of_all_dtypes_is_one_message),
        comm_test_with(a_tuple_of_all_dtypes_is_one_message, small_chunks),
        comm_test_with(messages_around_a_chunk_arrive, small_chunks),
        comm_test(messages_around_the_longest_short_one_arrive),
        comm_test_with(messages_around_the_longest_short_one_arrive, small_chunks),
        comm_test(a_chain_of_ranks_passes_numbers_on),
        comm_test_with(a_chain_of_ranks_passes_numbers_on, small_chunks),
        comm_test(both_may_send_first_whatever_the_size),
        comm_test(messages_are_matched_by_edge_and_not_by_arrival),
        comm_test(one_tensor_can_be_in_two_messages_at_a_time),
        comm_test(what_comes_is_received_whatever_it_is),
        comm_test_with(what_comes_is_received_whatever_it_is, small_chunks),
        comm_test(no_memory_for_what_comes_is_a_failure),
    };
    MPI_Init(&argc, &argv);
    const int status = mpi_test_main(tests);
    MPI_Finalize();
    return status;
}
