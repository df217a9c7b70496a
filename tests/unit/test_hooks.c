/* Hooks: what happens to gradients before the rule. */
#include "weft_test.h"
#include "weft/optim.h"

static weft_layer  *net;
static weft_params *params;
static weft_optim  *sgd; /* with rate 1: theta shows the gradient */
static weft_tensor *W, *b, *gW, *gb;

static int setup(void **state)
{
    (void)state;
    weft_linear_options ones = weft_linear_defaults();
    ones.W = ones.b = (weft_initial){ WEFT_CONSTANT, 1 };
    weft_error_clear();
    net = weft_linear_create(2, 2, &ones);
    params = weft_params_create(net, &(weft_params_options){ .dtype = WEFT_F64 });
    sgd = weft_sgd_create(params, &(weft_sgd_options){ 1 });
    W = weft_params_values(params).at[0];
    b = weft_params_values(params).at[1];
    gW = weft_params_grads(params).at[0];
    gb = weft_params_grads(params).at[1];
    return sgd == NULL;
}

static int teardown(void **state)
{
    (void)state;
    weft_optim_destroy(sgd);
    weft_params_destroy(params);
    weft_layer_destroy(net);
    return weft_memory_now().blocks != 0;
}

/* W's gradient is (w, 0, 0, 0), b's (0, v); NaN for v: b has none. */
static void gradients(double w, double v)
{
    weft_tensor_fill(gW, 0);
    weft_tensor_set(gW, 0, w);
    weft_params_find(params, "W")->has_grad = true;
    if (isnan(v))
        return;
    weft_tensor_fill(gb, 0);
    weft_tensor_set(gb, 1, v);
    weft_params_find(params, "b")->has_grad = true;
}

static void assert_moved(double w0, double w1, double b0, double b1)
{
    assert_near(w0, weft_tensor_get(W, 0), 1e-15);
    assert_near(w1, weft_tensor_get(W, 1), 1e-15);
    assert_near(b0, weft_tensor_get(b, 0), 1e-15);
    assert_near(b1, weft_tensor_get(b, 1), 1e-15);
}

static void decay_adds_rate_times_theta(void **state)
{
    (void)state;
    assert_ok(weft_optim_add_decay(sgd, 0.25));
    gradients(0.5, (double)NAN); /* b has no gradient: it decays all the same */
    assert_ok(weft_optim_step(sgd));
    assert_moved(0.25, 0.75, 0.75, 0.75);
}

static void clip_value_bounds_every_element(void **state)
{
    (void)state;
    assert_ok(weft_optim_add_clip_value(sgd, 0.5));
    gradients(7, -7);
    assert_ok(weft_optim_step(sgd));
    assert_moved(0.5, 1, 1, 1.5);
    gradients(0.125, (double)-INFINITY);
    assert_ok(weft_optim_step(sgd));
    assert_moved(0.375, 1, 1, 2);
}

static void clip_value_keeps_what_is_not_a_number(void **state)
{
    (void)state;
    assert_ok(weft_optim_add_clip_value(sgd, 0.5));
    gradients((double)NAN, 0);
    assert_ok(weft_optim_step(sgd));
    assert_true(isnan(weft_tensor_get(W, 0)));
}

static void clip_norm_scales_all_together(void **state)
{
    (void)state;
    assert_ok(weft_optim_add_clip_norm(sgd, 1));
    gradients(3, 4); /* norm 5 */
    assert_ok(weft_optim_step(sgd));
    assert_moved(1 - 0.6, 1, 1, 1 - 0.8);
    gradients(0.3, 0.4); /* below: left alone */
    assert_ok(weft_optim_step(sgd));
    assert_moved(1 - 0.9, 1, 1, 1 - 1.2);
}

static void clip_norm_sees_what_is_there_only(void **state)
{
    (void)state;
    weft_tensor_fill(gb, 1e9); /* left over in memory, but cleared */
    assert_ok(weft_optim_add_clip_norm(sgd, 1));
    gradients(0.5, (double)NAN);
    assert_ok(weft_optim_step(sgd));
    assert_moved(0.5, 1, 1, 1);
}

static void a_long_norm_is_summed_in_double(void **state)
{
    (void)state;
    static const weft_layer_kind bare = { .name = "bare" };
    weft_layer                  *layer = weft_layer_create(&bare);
    const int64_t                n = 50003;
    weft_var    *x = weft_layer_param(layer, "x", 1, &n, (weft_initial){ WEFT_CONSTANT, 0 });
    weft_params *p = weft_params_create(layer, NULL);
    weft_optim  *optim = weft_sgd_create(p, &(weft_sgd_options){ 1 });
    weft_tensor_fill(&x->grad, 2);
    x->has_grad = true;

    assert_ok(weft_optim_add_clip_norm(optim, sqrt((double)n)));
    assert_ok(weft_optim_step(optim));
    for (int64_t i = 0; i < n; i++)
        assert_near(-1, weft_tensor_get(&x->value, i), 1e-7);
    weft_optim_destroy(optim);
    weft_params_destroy(p);
    weft_layer_destroy(layer);
}

static void hooks_run_in_the_order_added(void **state)
{
    (void)state;
    assert_ok(weft_optim_add_decay(sgd, 10));
    assert_ok(weft_optim_add_clip_value(sgd, 0.5));
    gradients(0, 0);
    assert_ok(weft_optim_step(sgd));
    assert_moved(0.5, 0.5, 0.5, 0.5); /* the other way round it would be -9 */
}

/* ---- one's own ------------------------------------------------------------------------ */

static weft_status double_them(const void *options, weft_params *of)
{
    const char  *note = options;
    weft_tensor *g = weft_params_flat_grads(of);
    if (strcmp(note, "fail") == 0)
        return WEFT_FAIL(WEFT_E_VALUE, "told to fail");
    for (int64_t i = 0; i < g->count; i++)
        weft_tensor_set(g, i, 2 * weft_tensor_get(g, i));
    return WEFT_OK;
}

static void a_user_can_add_one(void **state)
{
    (void)state;
    char note[] = "go on";
    assert_ok(weft_optim_add_hook(sgd, double_them, note, sizeof note));
    memset(note, '?', sizeof note - 1); /* it was copied */
    gradients(0.25, 0);
    assert_ok(weft_optim_step(sgd));
    assert_moved(0.5, 1, 1, 1);
}

static void nothing_moves_after_a_failure(void **state)
{
    (void)state;
    assert_ok(weft_optim_add_hook(sgd, double_them, "fail", sizeof "fail"));
    gradients(0.25, 0);
    assert_fails(WEFT_E_VALUE, weft_optim_step(sgd));
    assert_moved(1, 1, 1, 1);
    assert_int_equal(0, weft_optim_steps(sgd));
}

/* With hooks, minimize waits for all gradients. */
static void hooks_come_before_minimize_moves_anything(void **state)
{
    (void)state;
    assert_ok(weft_optim_add_clip_norm(sgd, 1));
    weft_tape *tape = weft_tape_create();
    weft_var  *x = weft_variable(tape, WEFT_F64, 2, (int64_t[]){ 1, 2 }, false);
    weft_tensor_set(&x->value, 0, 3);
    weft_tensor_set(&x->value, 1, 4);
    assert_ok(weft_optim_minimize(sgd, weft_sum(weft_forward(net, x))));
    const double norm = sqrt(2 * 9 + 2 * 16 + 2);
    assert_moved(1 - 3 / norm, 1 - 4 / norm, 1 - 1 / norm, 1 - 1 / norm);
    weft_tape_destroy(tape);
}

static void limits_that_cannot_be_are_refused(void **state)
{
    (void)state;
    assert_fails(WEFT_E_ARG, weft_optim_add_clip_value(sgd, 0));
    assert_fails(WEFT_E_ARG, weft_optim_add_clip_norm(sgd, -1));
    assert_message_has("-1");
    assert_fails(WEFT_E_ARG, weft_optim_add_clip_norm(sgd, (double)NAN));
    assert_fails(WEFT_E_ARG, weft_optim_add_decay(sgd, (double)INFINITY));
    assert_message_has("inf");
}

#define test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(decay_adds_rate_times_theta),
        test(clip_value_bounds_every_element),
        test(clip_value_keeps_what_is_not_a_number),
        test(clip_norm_scales_all_together),
        test(clip_norm_sees_what_is_there_only),
        test(a_long_norm_is_summed_in_double),
        test(hooks_run_in_the_order_added),
        test(a_user_can_add_one),
        test(nothing_moves_after_a_failure),
        test(hooks_come_before_minimize_moves_anything),
        test(limits_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
