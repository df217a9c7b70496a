/* pseudo_connect: the identity, with an order that is seen only in backward. */
#include "mpi_test.h"
#include "weft/ops.h"
#include "weft/parallel.h"

static weft_comm *comm;
static weft_tape *tape;
static int        rank;

static int setup(void **state)
{
    (void)state;
    comm = weft_comm_create(MPI_COMM_WORLD, &(weft_comm_options){ .deadline = 20 });
    tape = weft_tape_create();
    rank = weft_comm_rank(comm);
    weft_error_clear();
    return comm == NULL || tape == NULL;
}

static int teardown(void **state)
{
    (void)state;
    weft_tape_destroy(tape);
    weft_comm_destroy(comm);
    return 0;
}

static weft_var *filled(weft_dtype dtype, int ndim, const int64_t *shape, double first)
{
    weft_var *x = weft_variable(tape, dtype, ndim, shape, true);
    for (int64_t i = 0; i < x->value.count; i++)
        weft_tensor_set(&x->value, i, first + (double)i);
    return x;
}

static bool same_value(const weft_var *a, const weft_var *b)
{
    return a != NULL && b != NULL && a->value.dtype == b->value.dtype &&
           weft_tensor_same_shape(&a->value, &b->value) &&
           memcmp(a->value.data, b->value.data, (size_t)weft_tensor_bytes(&a->value)) == 0;
}

/* C20, C21, C22: delegates and variables of any shapes, one dtype. */
static void check(weft_dtype dtype, int delegate_axes)
{
    const int64_t shape[][2] = { { 3, 2 }, { 4, 5 } };
    weft_var     *delegate = filled(dtype, delegate_axes, shape[0], 1);
    weft_vars     x = { 3,
                        { filled(dtype, 2, shape[1], 2), filled(dtype, 2, shape[0], 3),
                          filled(dtype, 0, NULL, 4) } };
    weft_vars     y = weft_pseudo_connect(delegate, x);
    weft_var     *L = NULL;

    assert_int_equal(x.n, y.n);
    for (int i = 0; i < y.n; i++) {
        assert_true(same_value(x.at[i], y.at[i]) &&
                    x.at[i]->value.data == y.at[i]->value.data); /* no copy */
        weft_var *square = weft_sum(weft_multiply(y.at[i], y.at[i]));
        L = L == NULL ? square : weft_add(L, square);
    }
    assert_ok(weft_backward(L));
    for (int i = 0; i < x.n; i++)
        for (int64_t k = 0; k < x.at[i]->value.count; k++)
            assert_near(2 * weft_tensor_get(&x.at[i]->value, k), weft_tensor_get(&x.at[i]->grad, k),
                        0);
    assert_true(delegate->has_grad && weft_tensor_same_shape(&delegate->value, &delegate->grad));
    for (int64_t k = 0; k < delegate->grad.count; k++)
        assert_near(0, weft_tensor_get(&delegate->grad, k), 0);
    assert_ok(weft_tape_clear(tape));
}

static void it_is_the_identity_and_gives_zeros_to_the_delegate(void **state)
{
    (void)state;
    for (int axes = 0; axes <= 2; axes += 2) {
        check(WEFT_F32, axes);
        check(WEFT_F64, axes);
    }
}

static void one_variable_gives_a_tuple_of_one(void **state) /* C22 */
{
    weft_var *x = filled(WEFT_F32, 0, NULL, 1);
    (void)state;
    assert_int_equal(1, weft_pseudo_connect(x, weft_one(filled(WEFT_F32, 0, NULL, 2))).n);
    assert_int_equal(1, weft_pseudo_connect(NULL, weft_one(x)).n);
    assert_int_equal(0, weft_pseudo_connect(x, (weft_vars){ 0 }).n);
}

static void without_a_delegate_there_is_no_edge(void **state) /* C23 */
{
    weft_var *x = filled(WEFT_F64, 0, NULL, 3);
    (void)state;
    assert_ok(weft_backward(weft_scale(weft_pseudo_connect(NULL, weft_one(x)).at[0], 5)));
    assert_near(5, weft_tensor_get(&x->grad, 0), 0);
}

static void integers_pass_and_as_many_as_a_tuple_holds(void **state)
{
    weft_var *delegate = filled(WEFT_F64, 0, NULL, 1);
    weft_vars x = { .n = WEFT_MAX_VARS };
    (void)state;
    for (int i = 0; i < x.n; i++)
        x.at[i] = filled(i % 2 ? WEFT_I64 : WEFT_U8, 1, (int64_t[]){ 2 }, i);
    const weft_vars y = weft_pseudo_connect(delegate, x);
    assert_int_equal(WEFT_MAX_VARS, y.n);
    for (int i = 0; i < y.n; i++) {
        assert_true(same_value(x.at[i], y.at[i]));
        assert_false(y.at[i]->needs_grad);
    }
}

static void a_failure_is_passed_on(void **state)
{
    weft_var *x = filled(WEFT_F64, 0, NULL, 1), *wrong = weft_matmul(x, x);
    (void)state;
    assert_null(weft_pseudo_connect(x, weft_two(x, wrong)).at[0]);
    assert_int_equal(WEFT_E_SHAPE, weft_error_status());
}

/* C24: the message behind the delegate goes back, though the gradient there is 0. */
static void what_is_behind_the_delegate_runs_in_backward(void **state)
{
    weft_var *a = filled(WEFT_F64, 0, NULL, 2), *end = a;
    (void)state;

    if (rank == 0) {
        weft_var *deep = weft_tanh(a);
        weft_var *sent = weft_send(comm, weft_one(deep), 1);
        end = weft_pseudo_connect(sent, weft_one(weft_scale(a, 1))).at[0];
    }
    if (rank == 1)
        end = weft_scale(weft_recv(comm, tape, 0, NULL).at[0], 3);
    assert_ok(weft_backward(end));

    const double t = tanh(2);
    assert_everywhere(rank != 0 ||
                      fabs(weft_tensor_get(&a->grad, 0) - (1 + 3 * (1 - t * t))) < 1e-14);
    assert_everywhere(rank > 1 || weft_comm_traffic(comm).messages_received == 1);
}

#define with(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        with(it_is_the_identity_and_gives_zeros_to_the_delegate),
        with(one_variable_gives_a_tuple_of_one),
        with(without_a_delegate_there_is_no_edge),
        with(integers_pass_and_as_many_as_a_tuple_holds),
        with(a_failure_is_passed_on),
        with(what_is_behind_the_delegate_runs_in_backward),
    };
    MPI_Init(&argc, &argv);
    const int status = mpi_test_main(tests);
    MPI_Finalize();
    return status;
}
