/* Messages as operators: values, gradients, order, counts, on 2 to 4 ranks. The
 * undivided computation is made on every rank and compared with. */
#include "mpi_test.h"
#include "weft/nn.h"
#include "weft/ops.h"
#include "weft/parallel.h"

static weft_comm *comm;
static weft_tape *tape;
static int        rank, size;

static int setup(void **state)
{
    (void)state;
    comm = weft_comm_create(MPI_COMM_WORLD, &(weft_comm_options){ .deadline = 20 });
    tape = weft_tape_create();
    rank = weft_comm_rank(comm);
    size = weft_comm_size(comm);
    weft_error_clear();
    return comm == NULL || tape == NULL;
}

static int teardown(void **state)
{
    (void)state;
    const weft_status cleared = weft_tape_clear(tape);
    weft_tape_destroy(tape);
    weft_comm_destroy(comm);
    return cleared != WEFT_OK;
}

/* ---- pieces ------------------------------------------------------------------------ */

static weft_var *variable(weft_tape *on, int n, const double *values)
{
    weft_var *x = weft_variable(on, WEFT_F64, 1, (int64_t[]){ n }, true);
    for (int i = 0; i < n; i++)
        weft_tensor_set(&x->value, i, values[i]);
    return x;
}

static weft_var *number(double value)
{
    return variable(tape, 1, &value);
}

static double grad_at(const weft_var *x, int index)
{
    return x->has_grad ? weft_tensor_get(&x->grad, index) : (double)NAN;
}

static double grad_sum(const weft_var *x)
{
    double sum = 0;
    for (int64_t i = 0; i < x->grad.count; i++)
        sum += weft_tensor_get(&x->grad, i);
    return sum;
}

static bool same_bits(const weft_tensor *a, const weft_tensor *b)
{
    return weft_tensor_same_shape(a, b) && a->dtype == b->dtype &&
           memcmp(a->data, b->data, (size_t)weft_tensor_bytes(a)) == 0;
}

static weft_var *recv_one(int from, weft_var *delegate)
{
    const weft_vars y = weft_recv(comm, tape, from, delegate);
    return y.n == 1 ? y.at[0] : NULL;
}

/* ---- the ring of C1 ------------------------------------------------------------------ */

enum { N = 10 };

static weft_var *ring_weights(weft_tape *on, int stage)
{
    weft_var *W = weft_variable(on, WEFT_F64, 2, (int64_t[]){ N, N }, true);
    for (int i = 0; i < N * N; i++)
        weft_tensor_set(&W->value, i, i / ((stage + 1) * 100.0));
    return W;
}

static weft_var *ring_input(weft_tape *on)
{
    weft_var *x = weft_variable(on, WEFT_F64, 2, (int64_t[]){ 1, N }, false);
    for (int i = 0; i < N; i++)
        weft_tensor_set(&x->value, i, 0.1 * i);
    return x;
}

static weft_var *stage(weft_var *x, weft_var *W)
{
    return weft_sigmoid(weft_affine(x, W, NULL));
}

/* All stages here. @return the loss; W filled. */
static weft_var *whole_ring(weft_tape *on, weft_var **W)
{
    weft_var *x = ring_input(on), *y = x;
    for (int l = 0; l < size; l++)
        y = stage(y, W[l] = ring_weights(on, l));
    return weft_mean_squared_error(y, x);
}

static void a_ring_has_the_gradients_of_one_process(void **state) /* C1 */
{
    weft_tape *alone = weft_tape_create();
    weft_var  *whole[8], *W = ring_weights(tape, rank), *y, *loss;
    (void)state;

    assert_ok(weft_backward(whole_ring(alone, whole)));
    y = stage(rank == 0 ? ring_input(tape) : recv_one(rank - 1, NULL), W);
    loss = rank == size - 1 ? weft_mean_squared_error(y, ring_input(tape))
                            : weft_send(comm, weft_one(y), rank + 1);
    assert_ok(weft_backward(loss));
    assert_everywhere(same_bits(&W->grad, &whole[rank]->grad));

    if (size == 2 && rank == 0)
        assert_near(0.0617418841, grad_sum(W), 1e-10);
    if (size == 2 && rank == 1) {
        assert_near(0.179055313, weft_item(loss), 1e-9);
        assert_near(0.552461267, weft_tensor_get(&y->value, 0), 1e-9);
        assert_near(0.654362048, weft_tensor_get(&y->value, 1), 1e-9);
        assert_near(0.743819791, weft_tensor_get(&y->value, 2), 1e-9);
        assert_near(0.962742457, grad_sum(W), 1e-9);
    }
    weft_tape_destroy(alone);
}

static void a_ring_closed_back_to_rank_0_has_them_too(void **state) /* C2 */
{
    weft_tape *alone = weft_tape_create();
    weft_var  *whole[8], *W = ring_weights(tape, rank), *loss, *sent;
    (void)state;

    assert_ok(weft_backward(whole_ring(alone, whole)));
    if (rank == 0) {
        sent = weft_send(comm, weft_one(stage(ring_input(tape), W)), 1);
        loss = weft_mean_squared_error(recv_one(size - 1, sent), ring_input(tape));
    } else {
        loss = weft_send(comm, weft_one(stage(recv_one(rank - 1, NULL), W)), (rank + 1) % size);
    }
    assert_ok(weft_backward(loss));
    assert_everywhere(same_bits(&W->grad, &whole[rank]->grad));
    weft_tape_destroy(alone);
}

/* ---- tuples ------------------------------------------------------------------------------ */

static void a_tuple_arrives_with_as_many_parts(void **state) /* C3 */
{
    (void)state;
    for (int n = 1; n <= WEFT_MAX_VARS; n *= 2) {
        weft_vars x = { .n = n };
        bool      equal = true;
        for (int i = 0; i < n; i++)
            x.at[i] = number(10 * n + i);
        if (rank == 0)
            assert_non_null(weft_send(comm, x, 1));
        if (rank == 1) {
            const weft_vars y = weft_recv(comm, tape, 0, NULL);
            equal = y.n == n;
            for (int i = 0; i < y.n; i++)
                equal = equal && same_bits(&x.at[i]->value, &y.at[i]->value);
        }
        assert_everywhere(equal);
    }
}

static void a_forwarded_tuple_brings_each_gradient_to_its_source(void **state) /* C4 */
{
    weft_var *a = number(3), *b = number(4), *end;
    (void)state;

    if (rank == 0) { /* there and back through rank 1, then 2 a + 5 b */
        weft_send(comm, weft_two(a, b), 1);
        const weft_vars y = weft_recv(comm, tape, 1, NULL);
        end = weft_add(weft_scale(y.at[0], 2), weft_scale(y.at[1], 5));
    } else if (rank == 1) {
        end = weft_send(comm, weft_recv(comm, tape, 0, NULL), 0);
    } else {
        end = number(0);
    }
    assert_ok(weft_backward(end));
    assert_everywhere(rank != 0 || (grad_at(a, 0) == 2 && grad_at(b, 0) == 5));
}

static void a_part_that_needs_no_gradient_still_takes_its_message(void **state) /* C5 */
{
    const double six = 6;
    weft_tensor  raw = weft_tensor_wrap(WEFT_F64, 1, (int64_t[]){ 1 }, (void *)(uintptr_t)&six);
    weft_var    *w = number(2), *end = w;
    (void)state;

    for (int k = 0; k < 2; k++) { /* the second round would meet what the first left */
        assert_ok(weft_tape_clear(tape));
        w = number(2);
        if (rank == 0) {
            weft_var *sent = weft_send(comm, weft_one(weft_input(tape, &raw)), 1);
            end = weft_scale(weft_pseudo_connect(sent, weft_one(w)).at[0], 7);
        } else if (rank == 1) {
            end = weft_multiply(recv_one(0, NULL), w);
        }
        assert_ok(weft_backward(rank < 2 ? end : w));
        assert_everywhere(rank > 1 || grad_at(w, 0) == (rank == 0 ? 7 : 6));
        assert_everywhere(rank != 0 || weft_comm_traffic(comm).messages_received == k + 1);
    }
}

static void only_the_part_used_has_a_gradient_the_other_zeros(void **state) /* C14 */
{
    const double two[] = { 1, 2 };
    weft_var    *a = number(3), *b = variable(tape, 2, two), *end = a;
    (void)state;

    if (rank == 0)
        end = weft_send(comm, weft_two(a, b), 1);
    if (rank == 1)
        end = weft_scale(weft_recv(comm, tape, 0, NULL).at[0], 4);
    assert_ok(weft_backward(end));
    assert_everywhere(rank != 0 ||
                      (grad_at(a, 0) == 4 && grad_at(b, 0) == 0 && grad_at(b, 1) == 0));
}

static void a_received_value_that_nothing_uses_gives_zeros_back(void **state) /* C13 */
{
    weft_var *a = number(3), *end = a;
    (void)state;

    if (rank == 0)
        end = weft_send(comm, weft_one(a), 1);
    if (rank == 1) {
        assert_non_null(recv_one(0, NULL));
        end = number(1);
    }
    assert_ok(weft_backward(end));
    assert_everywhere(rank != 0 || grad_at(a, 0) == 0);
}

static void one_variable_twice_in_a_tuple_gets_both_gradients(void **state)
{
    weft_var *a = number(3), *end = a;
    (void)state;

    if (rank == 0)
        end = weft_send(comm, weft_two(a, a), 1);
    if (rank == 1) {
        const weft_vars y = weft_recv(comm, tape, 0, NULL);
        end = weft_add(weft_scale(y.at[0], 2), weft_scale(y.at[1], 5));
    }
    assert_ok(weft_backward(end));
    assert_everywhere(rank != 0 || grad_at(a, 0) == 7);
}

/* ---- dtypes and shapes --------------------------------------------------------------------- */

static void every_dtype_and_shape_arrives_as_it_was(void **state) /* C7, C8, C11 */
{
    const int64_t shapes[][4] = { { 18 }, { 0, 3 }, { 50, 20 }, { 50, 20, 5, 3 }, { 0 } };
    const int     axes[] = { 1, 2, 2, 4, 0 };
    (void)state;

    for (int dtype = WEFT_F32; dtype <= WEFT_U8; dtype++) {
        for (int s = 0; s < 5; s++) {
            weft_tensor *mine = weft_tensor_create((weft_dtype)dtype, axes[s], shapes[s]);
            weft_var    *end = NULL;
            weft_tensor_fill(mine, rank);
            if (rank < size - 1)
                end = weft_send(comm, weft_one(weft_input(tape, mine)), rank + 1);
            if (rank > 0) {
                const weft_var *y = recv_one(rank - 1, end);
                weft_tensor_fill(mine, rank - 1);
                assert_non_null(y);
                assert_true(same_bits(mine, &y->value));
                weft_tensor_fill(mine, rank); /* it may still be on its way */
            }
            assert_ok(weft_tape_clear(tape));
            weft_tensor_destroy(mine);
        }
    }
    assert_everywhere(true);
}

static void labels_travel_with_images_and_give_no_gradient(void **state) /* C9 */
{
    weft_tensor *t = weft_tensor_zeros(WEFT_I32, 1, (int64_t[]){ 3 });
    weft_var    *x = number(2), *end = x;
    (void)state;

    if (rank == 0)
        end = weft_send(comm, weft_two(weft_input(tape, t), x), 1);
    if (rank == 1) {
        const weft_vars y = weft_recv(comm, tape, 0, NULL);
        assert_int_equal(WEFT_I32, y.at[0]->value.dtype);
        assert_false(y.at[0]->needs_grad);
        end = weft_scale(y.at[1], 5);
    }
    assert_ok(weft_backward(end));
    assert_everywhere(rank != 0 || grad_at(x, 0) == 5);
    assert_everywhere(rank != 0 || weft_comm_traffic(comm).bytes_received == 8);

    /* Integers alone: no message comes back. */
    assert_ok(weft_tape_clear(tape));
    if (rank == 0)
        end = weft_send(comm, weft_one(weft_input(tape, t)), 1);
    else
        end = rank == 1 ? weft_pseudo_connect(recv_one(0, NULL), weft_one(number(1))).at[0]
                        : number(1);
    assert_ok(weft_backward(end));
    assert_everywhere(rank > 1 || weft_comm_traffic(comm).messages_sent == (rank == 0 ? 2 : 1));
    assert_ok(weft_tape_clear(tape));
    weft_tensor_destroy(t);
}

static void rows_of_a_batch_are_sent_without_a_copy(void **state) /* C10 */
{
    const double six[] = { 1, 2, 3, 4, 5, 6 };
    weft_var    *x = variable(tape, 6, six), *end = x;
    (void)state;

    if (rank == 0)
        end = weft_send(comm, weft_one(weft_slice(x, 2, 4)), 1);
    if (rank == 1) {
        weft_var *y = recv_one(0, NULL);
        assert_int_equal(2, y->value.count);
        assert_near(3, weft_tensor_get(&y->value, 0), 0);
        end = weft_sum(weft_multiply(y, y));
    }
    if (rank < 2)
        assert_ok(weft_backward(end));
    assert_everywhere(rank != 0 || (grad_at(x, 1) == 0 && grad_at(x, 2) == 6 &&
                                    grad_at(x, 3) == 8 && grad_at(x, 4) == 0));
}

/* ---- order ------------------------------------------------------------------------------------
 */

static void both_may_send_first_whatever_the_size(void **state) /* C12 */
{
    const int peer = rank ^ 1;
    (void)state;

    for (int64_t n = 1; n <= 1000000; n *= 1000) {
        weft_var *x = weft_variable(tape, WEFT_F64, 1, &n, true), *end = number(1);
        weft_tensor_fill(&x->value, rank);
        if (peer < size) {
            weft_var *sent = weft_send(comm, weft_one(x), peer);
            weft_var *y = recv_one(peer, sent);
            assert_near(peer, weft_tensor_get(&y->value, n - 1), 0);
            end = weft_sum(weft_scale(y, 3 + rank));
        }
        assert_ok(weft_backward(end));
        assert_everywhere(peer >= size || grad_at(x, (int)n - 1) == 3 + peer);
        assert_ok(weft_tape_clear(tape));
    }
}

/* The identity, by a graph as deep as one likes. */
static weft_var *deepen(weft_var *x, int layers)
{
    for (int i = 0; i < layers; i++)
        x = weft_scale(x, 1);
    return x;
}

/* Two messages from rank 0, their sub-graphs of different depth; the gradients are 2
 * and 5. The delegate of either may be the root of backward. */
static void two_messages(int first_depth, int second_depth, int root)
{
    assert_ok(weft_tape_clear(tape));
    weft_var *a = number(1), *b = number(1), *end = a;

    if (rank == 0) {
        weft_var *sent[2];
        weft_var *deep_a = deepen(a, first_depth), *deep_b = deepen(b, second_depth);
        sent[0] = weft_send(comm, weft_one(deep_a), 1);
        sent[1] = weft_send(comm, weft_one(deep_b), 1);
        end = sent[root];
    }
    if (rank == 1) {
        weft_var *x = recv_one(0, NULL), *y = recv_one(0, NULL);
        end = weft_add(weft_scale(x, 2), weft_scale(y, 5));
    }
    assert_ok(weft_backward(end));
    assert_everywhere(rank != 0 || (grad_at(a, 0) == 2 && grad_at(b, 0) == 5));
}

static void gradients_return_to_their_own_message_in_both_depth_orders(void **state) /* C16, C18 */
{
    (void)state;
    for (int root = 0; root < 2; root++) {
        two_messages(1, 6, root);
        two_messages(6, 1, root);
        two_messages(3, 3, root);
    }
}

/* Rank 1 speaks to the communicator itself, second message first both ways. */
static void swap_messages(void)
{
    double       got[2];
    weft_tensor  x[2];
    weft_tensor *into[2];

    for (int edge = 1; edge >= 0; edge--) {
        x[edge] = weft_tensor_wrap(WEFT_F64, 1, (int64_t[]){ 1 }, &got[edge]);
        into[edge] = &x[edge];
        const weft_route there = { .peer = 0, .edge = edge, .label = "by the test" };
        assert_ok(weft_comm_recv(comm, &there, 1, &into[edge]));
        assert_near(1 + edge, got[edge], 0);
    }
    for (int edge = 1; edge >= 0; edge--)
        got[edge] = edge == 0 ? 2 : 5;
    for (int edge = 0; edge < 2; edge++) {
        const weft_tensor *from = &x[edge];
        const weft_route   back = {
              .peer = 0, .edge = edge, .backward = true, .label = "by the test"
        };
        assert_ok(weft_comm_send(comm, &back, 1, &from));
    }
}

static void gradients_are_matched_by_message_and_not_by_arrival(void **state) /* C16 */
{
    weft_var *a = number(1), *b = number(2);
    (void)state;

    if (rank == 0) {
        weft_send(comm, weft_one(a), 1);
        assert_ok(weft_backward(weft_send(comm, weft_one(b), 1)));
        assert_near(2, grad_at(a, 0), 0);
        assert_near(5, grad_at(b, 0), 0);
    }
    if (rank == 1)
        swap_messages();
    assert_everywhere(true);
}

static void the_tutorials_recipe_runs_both_messages(void **state) /* C17, C18 */
{
    weft_var *a = number(1), *b = number(1), *end = a;
    (void)state;

    if (rank == 0) {
        weft_var *phi1 = weft_send(comm, weft_one(a), 1);
        weft_var *phi2 = weft_send(comm, weft_pseudo_connect(phi1, weft_one(b)), 1);
        end = weft_pseudo_connect(phi1, weft_one(phi2)).at[0];
    }
    if (rank == 1) {
        weft_var *x = recv_one(0, NULL), *y = recv_one(0, x);
        end = weft_add(weft_scale(x, 2), weft_scale(y, 5));
    }
    assert_ok(weft_backward(end));
    assert_everywhere(rank != 0 || (grad_at(a, 0) == 2 && grad_at(b, 0) == 5));
}

static void steps_repeat_with_the_same_gradients(void **state)
{
    (void)state;
    for (int step = 0; step < 5; step++)
        two_messages(2, 1, 1);
}

/* One step over two ranks with W on the first: loss = 3 sum(x W^T), x = 5. */
static weft_status step_with(weft_layer *linear)
{
    const double five = 5;
    weft_var    *end = NULL;

    assert_ok(weft_tape_clear(tape));
    if (rank == 0)
        end = weft_send(comm,
                        weft_one(weft_forward(linear, weft_reshape(variable(tape, 1, &five), 2,
                                                                   (int64_t[]){ 1, 1 }))),
                        1);
    if (rank == 1)
        end = weft_sum(weft_scale(recv_one(0, NULL), 3));
    return rank < 2 ? weft_backward(end) : WEFT_OK;
}

/* Before its first gradient a parameter's buffer may hold anything; the reference
 * fills it with NaN and adds. */
static void a_gradient_never_cleared_begins_with_the_first_and_adds_the_next(void **state) /* C19 */
{
    const weft_linear_options alone = { .W = { WEFT_CONSTANT, 2 }, .no_bias = true };
    weft_layer               *linear = weft_linear_create(1, 1, &alone);
    weft_params *params = weft_params_create(linear, &(weft_params_options){ .dtype = WEFT_F64 });
    const weft_var *W = weft_params_var(params, 0);
    (void)state;

    weft_tensor_fill(weft_params_flat_grads(params), (double)NAN);
    for (int step = 1; step <= 3; step++) {
        assert_everywhere(step_with(linear) == WEFT_OK);
        assert_everywhere(rank != 0 || grad_at(W, 0) == 15 * step);
    }
    weft_params_clear_grads(params);
    assert_everywhere(step_with(linear) == WEFT_OK);
    assert_everywhere(rank != 0 || grad_at(W, 0) == 15);
    assert_ok(weft_tape_clear(tape));
    weft_params_destroy(params);
    weft_layer_destroy(linear);
}

static void a_tape_need_not_be_named_where_a_delegate_is(void **state)
{
    weft_var *a = number(2), *end = a;
    (void)state;

    if (rank == 0) {
        weft_var       *sent = weft_send(comm, weft_one(a), 1);
        const weft_vars y = weft_recv(comm, NULL, 1, sent);
        end = y.at[0];
    }
    if (rank == 1)
        end = weft_send(comm, weft_one(weft_scale(recv_one(0, NULL), 3)), 0);
    assert_ok(weft_backward(end));
    assert_everywhere(rank != 0 || (weft_item(end) == 6 && grad_at(a, 0) == 3));
}

/* ---- modes
 * ---------------------------------------------------------------------------------------- */

static void inference_sends_values_and_no_gradients(void **state) /* C15 */
{
    weft_var *end;
    (void)state;

    assert_ok(weft_tape_clear(tape));
    assert_ok(weft_tape_mode_set(tape, WEFT_INFER));
    for (int step = 0; step < 3; step++) {
        end = number(7);
        if (rank == 0)
            end = weft_send(comm, weft_one(end), 1);
        if (rank == 1) {
            end = recv_one(0, NULL);
            assert_false(end->needs_grad);
            assert_near(7, weft_item(end), 0);
        }
        assert_fails(WEFT_E_STATE, weft_backward(end));
        assert_ok(weft_tape_clear(tape));
    }
    const weft_traffic t = weft_comm_traffic(comm);
    assert_everywhere(t.messages_sent == (rank == 0 ? 3 : 0));
    assert_everywhere(t.messages_received == (rank == 1 ? 3 : 0));
}

static void two_ranks_in_different_modes_are_told_so(void **state) /* C15 */
{
    (void)state;
    assert_ok(weft_tape_clear(tape));
    assert_ok(weft_tape_mode_set(tape, rank == 0 ? WEFT_INFER : WEFT_TRAIN));
    if (rank == 0)
        assert_non_null(weft_send(comm, weft_one(number(1)), 1));
    if (rank == 1) {
        assert_null(recv_one(0, NULL));
        assert_int_equal(WEFT_E_STATE, weft_error_status());
        assert_message_has("mode");
    }
    assert_ok(weft_tape_clear(tape));
    assert_everywhere(true);
}

static void a_dry_run_sends_nothing(void **state)
{
    (void)state;
    assert_ok(weft_tape_clear(tape));
    assert_ok(weft_tape_mode_set(tape, WEFT_DRY));
    weft_var *x = weft_variable(tape, WEFT_F32, 1, (int64_t[]){ 3 }, true);
    assert_non_null(weft_send(comm, weft_one(x), (rank + 1) % size));
    assert_null(recv_one((rank + 1) % size, NULL));
    assert_message_has("dry run");
    assert_everywhere(weft_comm_traffic(comm).messages_sent == 0);
}

/* ---- refusals
 * --------------------------------------------------------------------------------------- */

static void ones_own_rank_and_strangers_are_refused_before_anything_is_sent(void **state) /* C6 */
{
    weft_var *x = number(1);
    (void)state;

    assert_null(weft_send(comm, weft_one(x), rank));
    assert_int_equal(WEFT_E_ARG, weft_error_status());
    assert_message_has("weft_send");
    assert_message_has("would wait for itself");
    assert_null(recv_one(rank, NULL));
    assert_int_equal(WEFT_E_ARG, weft_error_status());
    assert_message_has("weft_recv");
    assert_null(weft_send(comm, weft_one(x), size));
    assert_message_has("there is no rank");
    assert_null(weft_send(comm, weft_one(x), -1));
    assert_null(recv_one(size + 3, NULL));
    assert_null(weft_send(NULL, weft_one(x), 0));
    assert_null(weft_recv(comm, NULL, (rank + 1) % size, NULL).at[0]);
    assert_message_has("neither a tape nor a delegate");
    assert_everywhere(weft_comm_traffic(comm).operations == 0);
}

static void a_failure_is_passed_on(void **state)
{
    weft_var *x = number(1), *wrong = weft_matmul(x, x);
    (void)state;

    assert_null(weft_send(comm, weft_two(x, wrong), (rank + 1) % size));
    assert_int_equal(WEFT_E_SHAPE, weft_error_status());
    assert_everywhere(weft_comm_traffic(comm).operations == 0);

    weft_tape *other = weft_tape_create();
    weft_var  *stranger = weft_variable(other, WEFT_F64, 1, (int64_t[]){ 1 }, true);
    assert_null(recv_one((rank + 1) % size, stranger));
    assert_message_has("another tape");
    assert_everywhere(weft_comm_traffic(comm).operations == 0);
    weft_tape_destroy(other);
}

/* ---- cost
 * --------------------------------------------------------------------------------------------- */

static void a_steady_step_allocates_nothing(void **state)
{
    int64_t allocations = 0;
    (void)state;

    for (int step = 0; step < 6; step++) {
        weft_var *a = number(1), *b = number(2), *end = a;
        if (step == 3)
            allocations = weft_memory_now().allocations;
        if (rank == 0)
            end = weft_send(comm, weft_two(a, b), 1);
        if (rank == 1)
            end = weft_scale(weft_recv(comm, tape, 0, NULL).at[1], 3);
        assert_ok(weft_backward(end));
        assert_ok(weft_tape_clear(tape));
    }
    if (!WEFT_PLAIN_ARENAS)
        assert_everywhere(weft_memory_now().allocations == allocations);
}

static void one_message_a_tuple_and_direction(void **state)
{
    const double three[] = { 1, 2, 3 };
    weft_var    *a = number(1), *b = variable(tape, 3, three), *end = a;
    (void)state;

    if (rank == 0)
        end = weft_send(comm, weft_two(a, b), 1);
    if (rank == 1)
        end = weft_scale(weft_recv(comm, tape, 0, NULL).at[0], 3);
    assert_ok(weft_backward(end));
    const weft_traffic t = weft_comm_traffic(comm);
    assert_everywhere(t.messages_sent == (rank < 2) && t.messages_received == (rank < 2));
    assert_everywhere(t.bytes_sent == (rank < 2 ? 32 : 0) && t.bytes_received == t.bytes_sent);
    assert_everywhere(t.collectives == 0);
}

#define with(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        with(a_ring_has_the_gradients_of_one_process),
        with(a_ring_closed_back_to_rank_0_has_them_too),
        with(a_tuple_arrives_with_as_many_parts),
        with(a_forwarded_tuple_brings_each_gradient_to_its_source),
        with(a_part_that_needs_no_gradient_still_takes_its_message),
        with(only_the_part_used_has_a_gradient_the_other_zeros),
        with(a_received_value_that_nothing_uses_gives_zeros_back),
        with(one_variable_twice_in_a_tuple_gets_both_gradients),
        with(every_dtype_and_shape_arrives_as_it_was),
        with(labels_travel_with_images_and_give_no_gradient),
        with(rows_of_a_batch_are_sent_without_a_copy),
        with(both_may_send_first_whatever_the_size),
        with(gradients_return_to_their_own_message_in_both_depth_orders),
        with(gradients_are_matched_by_message_and_not_by_arrival),
        with(the_tutorials_recipe_runs_both_messages),
        with(steps_repeat_with_the_same_gradients),
        with(a_gradient_never_cleared_begins_with_the_first_and_adds_the_next),
        with(a_tape_need_not_be_named_where_a_delegate_is),
        with(inference_sends_values_and_no_gradients),
        with(two_ranks_in_different_modes_are_told_so),
        with(a_dry_run_sends_nothing),
        with(ones_own_rank_and_strangers_are_refused_before_anything_is_sent),
        with(a_failure_is_passed_on),
        with(a_steady_step_allocates_nothing),
        with(one_message_a_tuple_and_direction),
    };
    MPI_Init(&argc, &argv);
    const int status = mpi_test_main(tests);
    MPI_Finalize();
    return status;
}
