/* A training step, once warm, takes no memory; and it learns. */
#include "weft_test.h"
#include "weft/optim.h"

enum { ROWS = 32, IN = 20, UNITS = 100, CLASSES = 4 };

typedef struct {
    weft_layer  *net, *classifier, *whole;
    weft_params *params;
    weft_optim  *optim;
    weft_tape   *tape;
    weft_tensor *x, *t;
} training;

static training begin(weft_dtype dtype)
{
    weft_linear_options relu = weft_linear_defaults();
    relu.relu = true;
    training m = { .net = weft_chain_create(), .whole = weft_chain_create() };
    assert_ok(weft_chain_add(m.net, "l1", weft_linear_create(IN, UNITS, &relu)));
    assert_ok(weft_chain_add(m.net, "drop", weft_dropout_create(0.1)));
    assert_ok(weft_chain_add(m.net, "l2", weft_linear_create(UNITS, UNITS, &relu)));
    assert_ok(weft_chain_add(m.net, "l3", weft_linear_create(UNITS, CLASSES, NULL)));
    assert_ok(weft_chain_add(m.whole, "net", m.net));
    assert_ok(weft_chain_add(m.whole, "classifier", m.classifier = weft_classifier_create()));
    m.params = weft_params_create(m.whole, &(weft_params_options){ .dtype = dtype });
    m.optim = weft_adam_create(m.params, NULL);
    m.tape = weft_tape_create();
    m.x = weft_tensor_create(dtype, 2, (int64_t[]){ ROWS, IN });
    m.t = weft_tensor_create(WEFT_I32, 1, (int64_t[]){ ROWS });
    for (int64_t i = 0; i < ROWS * IN; i++)
        weft_tensor_set(m.x, i, sin((double)(i * i)));
    for (int64_t r = 0; r < ROWS; r++)
        weft_tensor_set(m.t, r, (double)(r * r % CLASSES));
    return m;
}

static void end(training *m)
{
    weft_tensor_destroy(m->t);
    weft_tensor_destroy(m->x);
    weft_tape_destroy(m->tape);
    weft_optim_destroy(m->optim);
    weft_params_destroy(m->params);
    weft_layer_destroy(m->whole);
    assert_int_equal(0, weft_memory_now().blocks);
}

static weft_vars forward(training *m, int64_t step)
{
    weft_tape_step_set(m->tape, &(weft_step){ .step = step, .rows = ROWS });
    weft_var *y = weft_forward(m->net, weft_input(m->tape, m->x));
    return weft_layer_forward(m->classifier, weft_two(y, weft_input(m->tape, m->t)));
}

/* One way to make a step. @return the loss. */
typedef double way(training *m, int64_t step);

static double by_minimize(training *m, int64_t step)
{
    const weft_vars y = forward(m, step);
    assert_ok(weft_optim_minimize(m->optim, y.at[0]));
    const double loss = weft_item(y.at[0]);
    assert_ok(weft_tape_clear(m->tape));
    return loss;
}

static double by_two_micro_batches(training *m, int64_t step)
{
    double loss = 0;
    for (int i = 0; i < 2; i++) {
        const weft_vars y = forward(m, 2 * step + i);
        assert_ok(weft_backward(y.at[0]));
        loss += weft_item(y.at[0]) / 2;
        assert_ok(weft_tape_clear(m->tape));
    }
    assert_ok(weft_optim_step(m->optim));
    return loss;
}

static double by_backward_and_hooks(training *m, int64_t step)
{
    if (step == 0)
        assert_ok(weft_optim_add_clip_norm(m->optim, 1));
    return by_minimize(m, step);
}

static void check(way *step, weft_dtype dtype)
{
    training     m = begin(dtype);
    const double loss = step(&m, 0);
    step(&m, 1);
    const int64_t before = weft_memory_now().allocations;
    double        now = 0;
    for (int i = 2; i < 30; i++)
        now = step(&m, i);
#if !WEFT_PLAIN_ARENAS
    assert_int_equal(before, weft_memory_now().allocations);
#else
    assert_true(before > 0);
#endif
    assert_true(now < loss / 2);
    end(&m);
}

static void takes_no_memory_by_minimize(void **state)
{
    (void)state;
    check(by_minimize, WEFT_F32);
    check(by_minimize, WEFT_F64);
}

static void takes_no_memory_by_micro_batches(void **state)
{
    (void)state;
    check(by_two_micro_batches, WEFT_F32);
    check(by_two_micro_batches, WEFT_F64);
}

static void takes_no_memory_by_hooks(void **state)
{
    (void)state;
    check(by_backward_and_hooks, WEFT_F32);
    check(by_backward_and_hooks, WEFT_F64);
}

/* Inference between the steps, as in an evaluation. */
static void takes_no_memory_in_inference(void **state)
{
    (void)state;
    training m = begin(WEFT_F32);
    double   loss[6];
    int64_t  before = 0;
    assert_ok(weft_tape_mode_set(m.tape, WEFT_INFER));
    for (int i = 0; i < 6; i++) {
        if (i == 2)
            before = weft_memory_now().allocations;
        loss[i] = weft_item(forward(&m, i).at[0]);
        assert_ok(weft_tape_clear(m.tape));
    }
    assert_near(loss[0], loss[5], 0); /* no dropout */
#if !WEFT_PLAIN_ARENAS
    assert_int_equal(before, weft_memory_now().allocations);
#else
    assert_true(before > 0);
#endif
    end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_no_memory_by_minimize),
        cmocka_unit_test(takes_no_memory_by_micro_batches),
        cmocka_unit_test(takes_no_memory_by_hooks),
        cmocka_unit_test(takes_no_memory_in_inference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
