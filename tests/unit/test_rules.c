/* Update rules: against PyTorch's numbers, against plain loops, and against
 * themselves inside backward. */
#include "weft_test.h"
#include "weft/optim.h"

#include "../golden/optim.h"

static int teardown(void **state)
{
    (void)state;
    return weft_memory_now().blocks != 0;
}

/* ---- one vector of parameters ------------------------------------------------------- */

static const weft_layer_kind bare = { .name = "bare" };

static weft_layer  *layer;
static weft_params *params;
static weft_var    *theta;

static void open_vector(int64_t n, weft_dtype dtype)
{
    layer = weft_layer_create(&bare);
    theta = weft_layer_param(layer, "theta", 1, &n, (weft_initial){ WEFT_HE_NORMAL, 1 });
    params = weft_params_create(layer, &(weft_params_options){ .dtype = dtype });
    assert_non_null(params);
}

static void close_vector(weft_optim *optim)
{
    weft_optim_destroy(optim);
    weft_params_destroy(params);
    weft_layer_destroy(layer);
}

/* ---- outside numbers --------------------------------------------------------------------- */

static void check_golden(weft_optim *optim, const double expected[][GOLDEN_N])
{
    assert_non_null(optim);
    for (int i = 0; i < GOLDEN_N; i++)
        weft_tensor_set(&theta->value, i, golden_theta0[0][i]);
    for (int t = 0; t < GOLDEN_STEPS; t++) {
        for (int i = 0; i < GOLDEN_N; i++)
            weft_tensor_set(&theta->grad, i, golden_g[t][i]);
        theta->has_grad = true;
        assert_ok(weft_optim_step(optim));
        assert_false(theta->has_grad);
        for (int i = 0; i < GOLDEN_N; i++)
            assert_near(expected[t][i], weft_tensor_get(&theta->value, i), 1e-14);
    }
    assert_int_equal(GOLDEN_STEPS, weft_optim_steps(optim));
    close_vector(optim);
}

static void move_as_pytorch_moves(void **state)
{
    (void)state;
    open_vector(GOLDEN_N, WEFT_F64);
    check_golden(weft_sgd_create(params, &(weft_sgd_options){ 0.1 }), golden_sgd);

    const weft_momentum_options momentum = { 0.05, 0.8 };
    open_vector(GOLDEN_N, WEFT_F64);
    check_golden(weft_momentum_create(params, &momentum), golden_momentum);
    open_vector(GOLDEN_N, WEFT_F64);
    check_golden(weft_nesterov_create(params, &momentum), golden_nesterov);

    weft_adam_options adam = { 0.02, 0.85, 0.99, 1e-30, 0 };
    open_vector(GOLDEN_N, WEFT_F64);
    check_golden(weft_adam_create(params, &adam), golden_adam);
    adam.eps = 1e-4;
    adam.decay = 0.3;
    open_vector(GOLDEN_N, WEFT_F64);
    check_golden(weft_adamw_create(params, &adam), golden_adamw);
}

/* ---- plain loops --------------------------------------------------------------------------- */

/* One element as the header writes it: x[0] is theta, x[1] and x[2] the slots. */
typedef void formula(double g, int t, double *x);

static void sgd(double g, int t, double *x)
{
    (void)t;
    x[0] -= 0.01 * g;
}

static void momentum(double g, int t, double *x)
{
    (void)t;
    x[1] = 0.9 * x[1] - 0.01 * g;
    x[0] += x[1];
}

static void nesterov(double g, int t, double *x)
{
    (void)t;
    x[1] = 0.9 * x[1] - 0.01 * g;
    x[0] += 0.9 * x[1] - 0.01 * g;
}

static void adam(double g, int t, double *x)
{
    x[1] = 0.9 * x[1] + (1 - 0.9) * g;
    x[2] = 0.999 * x[2] + (1 - 0.999) * g * g;
    x[0] -= 0.001 * sqrt(1 - pow(0.999, t)) / (1 - pow(0.9, t)) * x[1] / (sqrt(x[2]) + 1e-8);
}

static void adamw(double g, int t, double *x)
{
    x[1] = 0.9 * x[1] + (1 - 0.9) * g;
    x[2] = 0.999 * x[2] + (1 - 0.999) * g * g;
    const double mh = x[1] / (1 - pow(0.9, t)), vh = x[2] / (1 - pow(0.999, t));
    x[0] -= 0.001 * (mh / (sqrt(vh) + 1e-8) + 0.01 * x[0]);
}

enum { SOME = 40013 }; /* three chunks, the last a broken one */

static double gradient(int64_t i, int t)
{
    return sin((double)i * 0.37 + t) * exp(-(double)(i % 23));
}

static void check_formula(weft_optim *optim, formula *move, double tolerance)
{
    double *x = weft_alloc_zeroed((int64_t)sizeof(double[SOME][3]));
    assert_non_null(optim);
    for (int64_t i = 0; i < SOME; i++)
        x[3 * i] = weft_tensor_get(&theta->value, i);
    for (int t = 1; t <= 4; t++) {
        for (int64_t i = 0; i < SOME; i++) {
            weft_tensor_set(&theta->grad, i, gradient(i, t));
            move(weft_tensor_get(&theta->grad, i), t, &x[3 * i]);
        }
        theta->has_grad = true;
        assert_ok(weft_optim_step(optim));
    }
    const weft_bundle slots = weft_optim_slots(optim);
    for (int64_t i = 0; i < SOME; i++) {
        assert_near(x[3 * i], weft_tensor_get(&theta->value, i), tolerance);
        for (int k = 0; k < slots.n; k++)
            assert_near(x[3 * i + 1 + k], weft_tensor_get(slots.at[k], i), tolerance);
    }
    weft_free(x);
    close_vector(optim);
}

static weft_optim *create(int rule)
{
    switch (rule) {
    case 0:
        return weft_sgd_create(params, NULL);
    case 1:
        return weft_momentum_create(params, NULL);
    case 2:
        return weft_nesterov_create(params, NULL);
    case 3:
        return weft_adam_create(params, NULL);
    default:
        return weft_adamw_create(params, NULL);
    }
}

static formula *const formulas[] = { sgd, momentum, nesterov, adam, adamw };

enum { RULES = 5 };

static void move_as_their_formulas_say(void **state)
{
    (void)state;
    for (int rule = 0; rule < RULES; rule++) {
        open_vector(SOME, WEFT_F64);
        check_formula(create(rule), formulas[rule], 1e-15);
        open_vector(SOME, WEFT_F32);
        check_formula(create(rule), formulas[rule], 2e-6);
    }
}

/* All kernels and any number of threads give the same bits. */
static uint32_t sum_of_bits(int rule, weft_dtype dtype)
{
    open_vector(SOME, dtype);
    weft_optim *optim = create(rule);
    for (int t = 1; t <= 3; t++) {
        for (int64_t i = 0; i < SOME; i++)
            weft_tensor_set(&theta->grad, i, gradient(i, t));
        theta->has_grad = true;
        assert_ok(weft_optim_step(optim));
    }
    uint32_t             sum = 0;
    const unsigned char *bytes = theta->value.data;
    for (int64_t i = 0; i < weft_tensor_bytes(&theta->value); i++)
        sum = sum * 31 + bytes[i];
    close_vector(optim);
    return sum;
}

static void have_the_same_bits_with_all_kernels_and_threads(void **state)
{
    (void)state;
    for (int rule = 0; rule < RULES; rule++)
        for (int d = WEFT_F32; d <= WEFT_F64; d++) {
            const uint32_t expected = sum_of_bits(rule, (weft_dtype)d);
            weft_threads_set(3);
            assert_int_equal(expected, sum_of_bits(rule, (weft_dtype)d));
            weft_threads_set(1);
            assert_ok(weft_kernels_choose("baseline"));
            assert_int_equal(expected, sum_of_bits(rule, (weft_dtype)d));
            assert_ok(weft_kernels_choose(NULL));
        }
}

/* ---- what can be asked ------------------------------------------------------------------------
 */

static void tell_their_numbers_and_slots(void **state)
{
    (void)state;
    weft_layer *net = weft_chain_create();
    assert_ok(weft_chain_add(net, "l1", weft_linear_create(3, 2, NULL)));
    weft_params *p = weft_params_create(net, NULL);
    weft_optim  *optim = weft_adamw_create(p, NULL);

    const weft_hyper *hyper;
    assert_int_equal(5, weft_optim_hypers(optim, &hyper));
    assert_string_equal("beta2", hyper[2].name);
    assert_near(0.999, hyper[2].value, 0);
    weft_optim_rate_set(optim, 0.5);
    assert_near(0.5, weft_optim_rate(optim), 0);
    assert_near(0.5, hyper[0].value, 0);
    weft_optim_steps_set(optim, 41);
    assert_int_equal(41, weft_optim_steps(optim));
    assert_string_equal("adamw", weft_optim_name(optim));
    assert_ptr_equal(p, weft_optim_params(optim));

    const weft_bundle slots = weft_optim_slots(optim);
    assert_int_equal(4, slots.n);
    assert_string_equal("l1/W/m", slots.name[0]);
    assert_string_equal("l1/b/v", slots.name[3]);
    assert_string_equal("(2, 3) f32", weft_shape_text(slots.at[1]));
    assert_near(0, weft_tensor_get(weft_bundle_find(&slots, "l1/W/v"), 5), 0);
    weft_optim_destroy(optim);
    weft_optim_destroy(NULL);
    weft_params_destroy(p);
    weft_layer_destroy(net);
}

static void refuse_numbers_that_cannot_be(void **state)
{
    (void)state;
    open_vector(3, WEFT_F32);
    assert_null(weft_sgd_create(params, &(weft_sgd_options){ (double)INFINITY }));
    assert_message_has("sgd with rate inf");
    weft_adam_options o = weft_adam_defaults();
    o.beta2 = 1;
    assert_null(weft_adam_create(params, &o));
    assert_message_has("beta2 1");
    o = weft_adam_defaults();
    o.eps = 0;
    assert_null(weft_adamw_create(params, &o));
    assert_message_has("adamw with eps 0");
    close_vector(NULL);
}

static void move_nothing_where_there_is_nothing(void **state)
{
    (void)state;
    weft_layer  *empty = weft_chain_create();
    weft_params *p = weft_params_create(empty, NULL);
    weft_optim  *optim = weft_adam_create(p, NULL);
    assert_ok(weft_optim_step(optim));
    assert_int_equal(0, weft_optim_slots(optim).n);
    assert_int_equal(1, weft_optim_steps(optim));
    weft_optim_destroy(optim);
    weft_params_destroy(p);
    weft_layer_destroy(empty);
}

/* ---- inside backward
 * ------------------------------------------------------------------------------ */

/* A network whose "used" layers are taken twice, and whose "idle" one is not. */
typedef struct {
    weft_layer  *net;
    weft_params *params;
    weft_optim  *optim;
    weft_tape   *tape;
} trained;

static trained begin(int rule, weft_dtype dtype)
{
    trained t = { .net = weft_chain_create(), .tape = weft_tape_create() };
    assert_ok(weft_chain_add(t.net, "l1", weft_linear_create(20, 30, NULL)));
    assert_ok(weft_chain_add(t.net, "twice", weft_linear_create(30, 30, NULL)));
    assert_ok(weft_chain_add(t.net, "idle", weft_linear_create(7, 3, NULL)));
    assert_ok(weft_chain_add(t.net, "l2", weft_linear_create(30, 4, NULL)));
    t.params = weft_params_create(t.net, &(weft_params_options){ .seed = 2, .dtype = dtype });
    params = t.params;
    t.optim = create(rule);
    return t;
}

static void end(trained *t)
{
    weft_tape_destroy(t->tape);
    weft_optim_destroy(t->optim);
    weft_params_destroy(t->params);
    weft_layer_destroy(t->net);
}

static weft_var *loss_of(trained *t, int step)
{
    weft_dtype dtype = weft_params_var(t->params, 0)->value.dtype;
    weft_var  *x = weft_variable(t->tape, dtype, 2, (int64_t[]){ 5, 20 }, false);
    for (int64_t i = 0; i < x->value.count; i++)
        weft_tensor_set(&x->value, i, gradient(i, step));
    weft_layer *twice = weft_layer_child_at(t->net, 1);
    weft_var   *h = weft_tanh(weft_forward(weft_layer_child_at(t->net, 0), x));
    h = weft_tanh(weft_forward(twice, weft_tanh(weft_forward(twice, h))));
    weft_var *y = weft_forward(weft_layer_child_at(t->net, 3), h);
    return weft_mean(weft_multiply(y, y));
}

/* The gradient of an earlier tape: half of the second step's. */
static void add_a_micro_batch(trained *t, int step)
{
    if (step != 1)
        return;
    assert_ok(weft_backward(loss_of(t, step)));
    assert_ok(weft_tape_clear(t->tape));
}

static void check_minimize(int rule, weft_dtype dtype)
{
    trained a = begin(rule, dtype), b = begin(rule, dtype);

    for (int step = 0; step < 4; step++) {
        add_a_micro_batch(&a, step);
        add_a_micro_batch(&b, step);
        assert_ok(weft_backward(loss_of(&a, step)));
        assert_ok(weft_optim_step(a.optim));
        assert_ok(weft_optim_minimize(b.optim, loss_of(&b, step)));
        assert_ok(weft_tape_clear(a.tape));
        assert_ok(weft_tape_clear(b.tape));

        const weft_tensor *x = weft_params_flat_values(a.params);
        const weft_tensor *y = weft_params_flat_values(b.params);
        assert_memory_equal(x->data, y->data, (size_t)weft_tensor_bytes(x));
        assert_int_equal(weft_optim_steps(a.optim), weft_optim_steps(b.optim));
        assert_false(weft_params_var(b.params, 0)->has_grad);
        assert_false(weft_tape_has_on_grad(b.tape));
    }
    const weft_bundle p = weft_optim_slots(a.optim), q = weft_optim_slots(b.optim);
    for (int i = 0; i < p.n; i++)
        assert_memory_equal(p.at[i]->data, q.at[i]->data, (size_t)weft_tensor_bytes(p.at[i]));
    end(&a);
    end(&b);
}

static void move_inside_backward_with_the_same_bits(void **state)
{
    (void)state;
    for (int rule = 0; rule < RULES; rule++) {
        check_minimize(rule, WEFT_F32);
        check_minimize(rule, WEFT_F64);
    }
}

/* Proof that it happens inside: the last layer has moved when the first is played. */
static weft_var   *first, *last;
static double      last_before;
static bool        last_has_moved;
static weft_status spy_backward(const weft_node *node)
{
    last_has_moved = weft_tensor_get(&last->value, 0) != last_before;
    if (node->gin[0] != NULL)
        weft_tensor_fill(node->gin[0], 0);
    return WEFT_OK;
}

static void move_while_backward_is_still_playing(void **state)
{
    (void)state;
    static const weft_op spy = { .name = "spy", .backward = spy_backward };
    trained              t = begin(3, WEFT_F64);
    first = weft_params_find(t.params, "l1/b");
    last = weft_params_find(t.params, "l2/b");
    last_before = weft_tensor_get(&last->value, 0);

    weft_var *watched = weft_apply(&spy, weft_one(weft_on(t.tape, first)), 0, NULL);
    weft_tensor_fill(&watched->value, 0);
    assert_ok(weft_optim_minimize(t.optim, weft_add(loss_of(&t, 0), watched)));
    assert_true(last_has_moved);
    end(&t);
}

static weft_status count(void *context, weft_var *x)
{
    (void)x;
    ++*(int *)context;
    return WEFT_OK;
}

static void leave_gradients_to_whoever_waits_for_them(void **state)
{
    (void)state;
    trained t = begin(0, WEFT_F64);
    int     told = 0;
    weft_tape_on_grad(t.tape, count, &told);
    assert_ok(weft_optim_minimize(t.optim, loss_of(&t, 0)));
    assert_int_equal(6, told);
    assert_true(weft_tape_has_on_grad(t.tape));
    end(&t);
}

static void pass_a_failure_of_the_formula_on(void **state)
{
    (void)state;
    trained   t = begin(3, WEFT_F64);
    weft_var *wrong = weft_matmul(loss_of(&t, 0), loss_of(&t, 0));
    assert_fails(WEFT_E_SHAPE, weft_optim_minimize(t.optim, wrong));
    assert_fails(WEFT_E_STATE, weft_optim_minimize(t.optim, weft_params_var(t.params, 0)));
    assert_int_equal(0, weft_optim_steps(t.optim));
    end(&t);
}

#define test(name) cmocka_unit_test_teardown(name, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(move_as_pytorch_moves),
        test(move_as_their_formulas_say),
        test(have_the_same_bits_with_all_kernels_and_threads),
        test(tell_their_numbers_and_slots),
        test(refuse_numbers_that_cannot_be),
        test(move_nothing_where_there_is_nothing),
        test(move_inside_backward_with_the_same_bits),
        test(move_while_backward_is_still_playing),
        test(leave_gradients_to_whoever_waits_for_them),
        test(pass_a_failure_of_the_formula_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
