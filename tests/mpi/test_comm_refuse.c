/* What does not fit is refused: before it is sent where one side can see it, else
 * with both sides named; and the next message then arrives. On 2 ranks. */
#include "comm_test.h"

static weft_comm_options small_chunks = { .deadline = 20, .chunk_bytes = 1000 };

static weft_route to(int peer)
{
    return (weft_route){ .peer = peer, .edge = 3, .label = "l1 to l2" };
}

/* Rank 0 sends one thing, rank 1 waits for another. */
typedef struct clash {
    weft_dtype  sent, wanted;
    int64_t     n_sent, n_wanted;
    int         parts_sent, parts_wanted;
    int         mode, micro_batch; /* rank 0's; rank 1 has 0 */
    weft_status status;
    const char *says[3];
} clash;

static const clash list[] = {
    { WEFT_F32, WEFT_F32, 10, 12, 1, 1, 0, 0, WEFT_E_SHAPE, { "(10) f32", "(12) f32", "rank 0" } },
    { WEFT_F32,
      WEFT_F32,
      12,
      10,
      1,
      1,
      0,
      0,
      WEFT_E_SHAPE,
      { "(12) f32", "(10) f32", "rank 0's send 'l1 to l2' (operation" } },
    { WEFT_F32,
      WEFT_F32,
      5000,
      10,
      1,
      1,
      0,
      0,
      WEFT_E_SHAPE,
      { "(5000) f32", "(10) f32", "edge 3" } },
    { WEFT_F32, WEFT_F32, 10, 5000, 1, 1, 0, 0, WEFT_E_SHAPE, { "(10) f32", "(5000) f32", "" } },
    { WEFT_F32,
      WEFT_F32,
      5000,
      6000,
      1,
      1,
      0,
      0,
      WEFT_E_SHAPE,
      { "(5000) f32", "(6000) f32", "" } },
    { WEFT_F32, WEFT_I32, 12, 12, 1, 1, 0, 0, WEFT_E_DTYPE, { "(12) f32", "(12) i32", "rank 0" } },
    { WEFT_U8, WEFT_F64, 12, 12, 1, 1, 0, 0, WEFT_E_DTYPE, { "(12) u8", "(12) f64", "" } },
    { WEFT_F64, WEFT_F32, 6, 12, 1, 1, 0, 0, WEFT_E_SHAPE, { "(6) f64", "(12) f32", "" } },
    { WEFT_F32, WEFT_F32, 5, 5, 2, 1, 0, 0, WEFT_E_SHAPE, { "has 2 tensors", "takes 1", "" } },
    { WEFT_F32, WEFT_F32, 5, 5, 1, 3, 0, 0, WEFT_E_SHAPE, { "has 1 tensors", "takes 3", "" } },
    { WEFT_F32, WEFT_F32, 5, 5, 1, 1, 1, 0, WEFT_E_STATE, { "WEFT_INFER", "WEFT_TRAIN", "" } },
    { WEFT_F32,
      WEFT_F32,
      5,
      5,
      1,
      1,
      0,
      2,
      WEFT_E_STATE,
      { "is of micro-batch 2", "micro-batch 0", "" } },
    { WEFT_F32,
      WEFT_F32,
      500000,
      10,
      2,
      1,
      0,
      0,
      WEFT_E_SHAPE,
      { "has 2 tensors", "takes 1", "" } },
    { WEFT_F32,
      WEFT_F32,
      500000,
      500001,
      2,
      2,
      0,
      0,
      WEFT_E_SHAPE,
      { "(500000) f32", "(500001) f32", "" } },
    { WEFT_F32,
      WEFT_F32,
      10,
      500000,
      1,
      1,
      0,
      0,
      WEFT_E_SHAPE,
      { "(10) f32", "(500000) f32", "" } },
    { WEFT_F32, WEFT_F32, 5, 5000, 1, 1, 0, 2, WEFT_E_STATE, { "is of micro-batch 2", "", "" } },
};
enum { CLASHES = sizeof list / sizeof *list };

static void send_one(const clash *c)
{
    weft_tensor       *x = comm_test_vector(c->sent, c->n_sent, 0);
    const weft_tensor *parts[] = { x, x, x };
    weft_route         route = to(1);

    route.mode = c->mode;
    route.micro_batch = c->micro_batch;
    assert_ok(weft_comm_send(comm, &route, c->parts_sent, parts));
    weft_tensor_destroy(x);
}

static void refuse_one(const clash *c)
{
    weft_tensor     *x[3];
    const weft_route route = to(0);

    for (int i = 0; i < 3; i++)
        x[i] = comm_test_vector(c->wanted, c->n_wanted, 0);
    assert_fails(c->status, weft_comm_recv(comm, &route, c->parts_wanted, x));
    for (int i = 0; i < 3; i++)
        assert_message_has(c->says[i]);
    assert_message_has("recv of edge 3 'l1 to l2' from rank 0, micro-batch 0");
    for (int i = 0; i < 3; i++)
        weft_tensor_destroy(x[i]);
}

/* And the message behind each of them is found in order. */
static void a_message_that_does_not_fit_is_named_and_gone(void **state)
{
    (void)state;
    static const clash right = { .n_sent = 3, .n_wanted = 3, .parts_sent = 1 };
    weft_tensor       *y = comm_test_vector(WEFT_F32, 3, 50);
    const weft_route   route = to(0);

    for (int i = 0; i < CLASHES; i++) {
        if (rank == 0) {
            send_one(&list[i]);
            send_one(&right);
        } else if (rank == 1) {
            refuse_one(&list[i]);
            assert_ok(weft_comm_recv(comm, &route, 1, &y));
            assert_true(comm_test_counts_from(y, 0));
        }
    }
    weft_tensor_destroy(y);
}

static void *take(void *arena, int64_t bytes)
{
    return weft_arena_take(arena, bytes);
}

/* Receiving anything still looks at mode and micro-batch. */
static void what_comes_must_be_of_the_same_mode_and_micro_batch(void **state)
{
    (void)state;
    weft_arena      *arena = weft_arena_create(100000, NULL);
    weft_tensor      got[WEFT_MAX_PARTS];
    const weft_route route = to(0);
    int              n;

    for (int64_t length = 5; length <= 5000000; length *= 1000) {
        const clash mode = { .n_sent = length, .parts_sent = 1, .mode = 1 };
        const clash batch = { .n_sent = length, .parts_sent = 1, .micro_batch = 4 };
        if (rank == 0) {
            send_one(&mode);
            send_one(&batch);
        } else if (rank == 1) {
            assert_fails(WEFT_E_STATE, weft_comm_recv_any(comm, &route, take, arena, &n, got));
            assert_message_has("WEFT_INFER");
            assert_fails(WEFT_E_STATE, weft_comm_recv_any(comm, &route, take, arena, &n, got));
            assert_message_has("is of micro-batch 4");
        }
    }
    weft_arena_destroy(arena);
}

/* ---- before anything is sent ---- */

static void peers_and_edges_that_are_not_there_are_refused(void **state)
{
    (void)state;
    const struct {
        int         peer, edge, micro_batch;
        const char *says;
    } wrong[] = { { rank, 0, 0, "this rank itself" },
                  { -1, 0, 0, "ranks 0 to" },
                  { size, 0, 0, "ranks 0 to" },
                  { 1 - rank, -1, 0, "edges are 0 to 16000" },
                  { 1 - rank, WEFT_MAX_EDGE + 1, 0, "edges are 0 to 16000" },
                  { 1 - rank, 0, -1, "micro-batches" } };
    weft_tensor       *x = comm_test_vector(WEFT_F32, 3, 0);
    const weft_tensor *read = x;

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const weft_route route = { .peer = wrong[i].peer,
                                   .edge = wrong[i].edge,
                                   .micro_batch = wrong[i].micro_batch };
        assert_null(weft_comm_send_start(comm, &route, 1, &read));
        assert_message_has(wrong[i].says);
        assert_message_has("send");
        assert_fails(WEFT_E_ARG, weft_comm_send(comm, &route, 1, &read));
        assert_fails(WEFT_E_ARG, weft_comm_recv(comm, &route, 1, &x));
        assert_message_has("recv");
    }
    assert_int_equal(0, weft_comm_traffic(comm).operations);
    weft_tensor_destroy(x);
}

static void tensors_that_are_none_are_refused(void **state)
{
    (void)state;
    weft_tensor *x = comm_test_vector(WEFT_F32, 3, 0), odd = *x, empty_handed = *x, *none = NULL;
    weft_tensor *wrong = &odd, *nowhere = &empty_handed, *many[WEFT_MAX_PARTS + 1];
    odd.dtype = (weft_dtype)9;
    empty_handed.data = NULL;
    for (int i = 0; i <= WEFT_MAX_PARTS; i++)
        many[i] = x;

    const weft_route          route = to(1 - rank);
    const weft_tensor *const *read = (const weft_tensor *const *)many;
    assert_fails(WEFT_E_ARG, weft_comm_send(comm, &route, 0, read));
    assert_fails(WEFT_E_ARG, weft_comm_send(comm, &route, WEFT_MAX_PARTS + 1, read));
    assert_fails(WEFT_E_ARG, weft_comm_send(comm, &route, 1, NULL));
    assert_fails(WEFT_E_ARG, weft_comm_send(comm, NULL, 1, read));
    assert_fails(WEFT_E_ARG, weft_comm_send(NULL, &route, 1, read));
    assert_fails(WEFT_E_ARG, weft_comm_recv(comm, &route, 1, &none));
    assert_fails(WEFT_E_ARG, weft_comm_recv(comm, &route, 1, NULL));
    assert_fails(WEFT_E_ARG, weft_comm_recv(comm, &route, -1, &x));
    assert_fails(WEFT_E_DTYPE, weft_comm_recv(comm, &route, 1, &wrong));
    assert_fails(WEFT_E_ARG, weft_comm_recv(comm, &route, 1, &nowhere));
    assert_message_has("(3) f32 has no data");
    assert_fails(WEFT_E_ARG, weft_comm_recv_any(comm, &route, NULL, NULL, NULL, NULL));
    assert_fails(WEFT_E_ARG, weft_comm_wait(comm, NULL));
    assert_int_equal(0, weft_comm_traffic(comm).operations);
    weft_tensor_destroy(x);
}

static void waiting_twice_is_refused(void **state)
{
    (void)state;
    weft_tensor       *x = comm_test_vector(WEFT_F32, 3, 0);
    const weft_tensor *read = x;
    const weft_route   route = to(1 - rank);

    weft_request *sent = weft_comm_send_start(comm, &route, 1, &read);
    assert_non_null(sent);
    assert_ok(weft_comm_wait(comm, sent));
    assert_fails(WEFT_E_STATE, weft_comm_wait(comm, sent));
    assert_message_has("waited for before");
    assert_ok(weft_comm_recv(comm, &route, 1, &x));
    weft_tensor_destroy(x);
}

static void collectives_refuse_what_is_wrong_here(void **state)
{
    (void)state;
    weft_tensor *x = comm_test_vector(WEFT_I32, 3, 0), *all[2] = { x, NULL };

    assert_fails(WEFT_E_ARG, weft_comm_bcast(comm, x, 2, "weights"));
    assert_message_has("bcast 'weights' of 3 i32: root 2 is no rank of 2");
    assert_fails(WEFT_E_ARG, weft_comm_bcast(comm, x, -1, "weights"));
    assert_fails(WEFT_E_ARG, weft_comm_bcast(comm, NULL, 0, "weights"));
    assert_fails(WEFT_E_ARG, weft_comm_bcast(NULL, x, 0, "weights"));
    assert_fails(WEFT_E_DTYPE, weft_comm_allreduce(comm, x, WEFT_REDUCE_MEAN, "gradients"));
    assert_message_has("allreduce 'gradients' of 3 i32");
    assert_fails(WEFT_E_ARG, weft_comm_allreduce(comm, x, (weft_reduction)7, "gradients"));
    assert_fails(WEFT_E_ARG, weft_comm_allgather(comm, x, NULL, "shapes"));
    assert_fails(WEFT_E_ARG, weft_comm_allgather(comm, x, all, "shapes"));
    assert_fails(WEFT_E_ARG, weft_comm_gather(comm, x, all, 5, "shapes"));
    assert_fails(WEFT_E_ARG, weft_comm_gather(comm, x, NULL, rank, "shapes"));
    assert_fails(WEFT_E_ARG, weft_comm_scatter(comm, NULL, x, rank, "shapes"));
    assert_fails(WEFT_E_ARG, weft_comm_alltoall(comm, NULL, all, "shapes"));
    assert_fails(WEFT_E_ARG, weft_comm_barrier(NULL, "end"));
    assert_fails(WEFT_E_ARG, weft_comm_agree(NULL, WEFT_OK, "end"));
    assert_int_equal(0, weft_comm_traffic(comm).operations);
    weft_tensor_destroy(x);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        comm_test(a_message_that_does_not_fit_is_named_and_gone),
        comm_test_with(a_message_that_does_not_fit_is_named_and_gone, small_chunks),
        comm_test(what_comes_must_be_of_the_same_mode_and_micro_batch),
        comm_test_with(what_comes_must_be_of_the_same_mode_and_micro_batch, small_chunks),
        comm_test(peers_and_edges_that_are_not_there_are_refused),
        comm_test(tensors_that_are_none_are_refused),
        comm_test(waiting_twice_is_refused),
        comm_test(collectives_refuse_what_is_wrong_here),
    };
    MPI_Init(&argc, &argv);
    const int status = mpi_test_main(tests);
    MPI_Finalize();
    return status;
}
