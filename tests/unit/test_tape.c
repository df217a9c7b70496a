/* The tape: what is recorded, in which order it is played, how gradients meet. */
#include "weft_test.h"
#include "weft/autograd.h"

#include <stdio.h>

static weft_tape *tape;
static char       said[256]; /* what operators did, in order */

static int setup(void **state)
{
    (void)state;
    said[0] = '\0';
    weft_error_clear();
    tape = weft_tape_create();
    return tape == NULL;
}

static int teardown(void **state)
{
    (void)state;
    weft_tape_destroy(tape);
    return weft_memory_now().blocks != 0;
}

static void say(const char *word)
{
    const size_t n = strlen(said);
    snprintf(said + n, sizeof said - n, "%s%s", n > 0 ? " " : "", word);
}

/* ---- operators for these tests -------------------------------------------------- */

/* y = factor (x0 + x1 + ...), elements of f64; says its name when it is played. */
typedef struct {
    double      factor;
    const char *name;
    bool        gives[4]; /* whether input i is given something */
} weighing;

static weft_status weigh_backward(const weft_node *node)
{
    const weighing *w = node->state;

    say(w->name);
    for (int i = 0; i < node->n_in; i++) {
        if (!w->gives[i])
            node->gin[i] = NULL;
        if (node->gin[i] == NULL)
            continue;
        for (int64_t k = 0; k < node->gin[i]->count; k++)
            weft_tensor_set(node->gin[i], k, w->factor * weft_tensor_get(&node->out[0]->grad, k));
    }
    return WEFT_OK;
}

static const weft_op weigh_op = { .name = "weigh", .backward = weigh_backward };

static weft_node *last_weighed;

static weft_var *weigh(const char *name, double factor, weft_vars x)
{
    weft_var *y = weft_apply_like(&weigh_op, x, x.n > 0 && x.at[0] != NULL ? &x.at[0]->value : NULL,
                                  sizeof(weighing), &last_weighed);
    if (y == NULL)
        return NULL;
    *(weighing *)last_weighed->state = (weighing){ factor, name, { true, true, true, true } };
    for (int64_t k = 0; weft_has_data(y) && k < y->value.count; k++) {
        double sum = 0;
        for (int i = 0; i < x.n; i++)
            sum += weft_tensor_get(&x.at[i]->value, k);
        weft_tensor_set(&y->value, k, factor * sum);
    }
    return y;
}

static weft_var *weigh1(const char *name, double factor, weft_var *x)
{
    return weigh(name, factor, weft_one(x));
}

/* A message: remote, with something to wait for. */
static weft_status finish_result;

static weft_status message_backward(const weft_node *node)
{
    const weft_var *y = node->n_out > 0 ? node->out[0] : NULL;
    say(y != NULL && y->has_grad ? "message" : "message(zero)");
    for (int i = 0; i < node->n_in; i++)
        if (node->gin[i] != NULL)
            weft_tensor_fill(node->gin[i], 5);
    return WEFT_OK;
}

static weft_status message_finish(const weft_node *node)
{
    say(node->state != NULL ? *(const char *const *)node->state : "finish");
    return finish_result;
}

static const weft_op message_op = {
    .name = "message",
    .backward = message_backward,
    .finish = message_finish,
    .remote = true,
};

static weft_node *message(const char *name, weft_vars in, weft_vars out)
{
    weft_node *node = weft_record(tape, &message_op, in, out, sizeof name);
    if (node != NULL)
        *(const char **)node->state = name;
    return node;
}

static weft_var *number(double value)
{
    weft_var *x = weft_variable(tape, WEFT_F64, 0, NULL, true);
    if (weft_has_data(x))
        weft_tensor_set(&x->value, 0, value);
    return x;
}

static double grad(const weft_var *x)
{
    return x->has_grad ? weft_tensor_get(&x->grad, 0) : (double)NAN;
}

/* A parameter as a layer would own it. */
static weft_var parameter(double *value, double *gradient)
{
    return (weft_var){
        .value = weft_tensor_wrap(WEFT_F64, 0, NULL, value),
        .grad = weft_tensor_wrap(WEFT_F64, 0, NULL, gradient),
        .needs_grad = true,
    };
}

static const weft_vars none = { 0 };

/* ---- order ------------------------------------------------------------------------ */

static void plays_strictly_in_reverse(void **state)
{
    (void)state;
    weft_var *x = number(1);
    weft_var *a = weigh1("a", 2, x), *b = weigh1("b", 3, x), *c = weigh("c", 1, weft_two(b, a));

    assert_ok(weft_backward(c));
    assert_string_equal("c b a", said);
    assert_near(5, grad(x), 0);
}

static void skips_what_got_no_gradient(void **state)
{
    (void)state;
    weft_var *x = number(1);
    weft_var *a = weigh1("a", 2, x);
    weigh1("aside", 3, a);

    assert_ok(weft_backward(a));
    assert_string_equal("a", said);
    assert_near(2, grad(x), 0);
}

static void records_nothing_where_nothing_needs_a_gradient(void **state)
{
    (void)state;
    const double      one = 1;
    const weft_tensor data = weft_tensor_wrap(WEFT_F64, 0, NULL, (void *)(uintptr_t)&one);
    weft_var         *y = weigh1("a", 2, weft_input(tape, &data));

    assert_false(y->needs_grad);
    assert_ok(weft_backward(y));
    assert_string_equal("", said);
}

static void plays_a_message_even_without_gradient(void **state)
{
    (void)state;
    weft_var *x = number(1), *received = number(2);
    weft_var *loss = weigh1("loss", 1, x);
    assert_non_null(message("", none, weft_one(received)));
    assert_non_null(message("", weft_one(x), none));

    assert_ok(weft_backward(loss));
    assert_string_equal("message(zero) message(zero) loss", said);
    assert_near(6, grad(x), 0); /* 5 from the peer, then 1 */
}

static void plays_everything_from_a_delegate(void **state)
{
    (void)state;
    weft_var *x = number(1), *y = weigh1("a", 2, x);
    weft_var *delegate = weft_variable(tape, WEFT_F32, 1, (int64_t[]){ 0 }, false);
    assert_non_null(message("", weft_one(y), weft_one(delegate)));
    assert_true(delegate->needs_grad);

    assert_ok(weft_backward(delegate));
    assert_string_equal("message(zero) a", said);
    assert_near(10, grad(x), 0);
}

static void plays_without_any_loss(void **state)
{
    (void)state;
    weft_var *x = number(1);
    assert_non_null(message("", weft_one(x), none));
    assert_ok(weft_tape_backward(tape, 0, NULL));
    assert_near(5, grad(x), 0);
}

/* ---- how gradients meet --------------------------------------------------------------- */

static void adds_in_the_order_in_which_it_plays(void **state)
{
    (void)state;
    weft_var *x = number(1);
    weft_var *a = weigh1("a", 1, x), *b = weigh1("b", -1e16, x), *c = weigh1("c", 1e16, x);

    assert_ok(weft_backward(weigh("L", 1, (weft_vars){ 3, { a, b, c } })));
    assert_near(1, grad(x), 0); /* (c + b) + a; any other order gives 0 or 2 */
}

static void adds_a_variable_that_is_taken_twice(void **state)
{
    (void)state;
    weft_var *x = number(1);
    assert_ok(weft_backward(weigh("a", 3, weft_two(x, x))));
    assert_near(6, grad(x), 0);
}

static void counts_no_contribution_where_an_operator_gives_none(void **state)
{
    (void)state;
    weft_var *x = number(1), *y = number(2);
    weft_var *a = weigh("a", 3, weft_two(x, y));
    ((weighing *)last_weighed->state)->gives[1] = false;

    assert_ok(weft_backward(a));
    assert_near(3, grad(x), 0);
    assert_false(y->has_grad);
}

static void takes_the_second_contribution_where_the_first_is_not_given(void **state)
{
    (void)state;
    weft_var *x = number(1);
    weft_var *a = weigh("a", 3, weft_two(x, x));
    ((weighing *)last_weighed->state)->gives[0] = false;

    assert_ok(weft_backward(a));
    assert_near(3, grad(x), 0);
}

static void adds_seeds(void **state)
{
    (void)state;
    weft_var *x = number(1), *a = weigh1("a", 2, x), *b = weigh1("b", 10, a);

    assert_ok(weft_tape_backward(tape, 3, (weft_var *[]){ b, a, b }));
    assert_near(21, grad(a), 0);
    assert_near(42, grad(x), 0);
}

static void long_gradients_are_added_too(void **state)
{
    (void)state;
    const int64_t n = 40001;
    weft_var     *x = weft_variable(tape, WEFT_F32, 1, &n, true);
    weft_tensor_fill(&x->value, 1);
    weft_var  *y = weigh("a", 2, (weft_vars){ 3, { x, x, x } });
    weft_node *end = weft_record(tape, &message_op, weft_one(y), none, 0);
    assert_non_null(end);

    assert_ok(weft_tape_backward(tape, 0, NULL));
    for (int64_t i = 0; i < n; i++)
        assert_near(30, weft_tensor_get(&x->grad, i), 0);
}

static void accumulates_in_parameters_over_tapes(void **state)
{
    (void)state;
    double   w = 1, gw = (double)NAN;
    weft_var W = parameter(&w, &gw);

    for (int i = 1; i <= 3; i++) {
        assert_ok(weft_backward(weigh1("a", i, weft_on(tape, &W))));
        assert_ok(weft_tape_clear(tape));
    }
    assert_true(W.has_grad);
    assert_near(6, gw, 0);
    W.has_grad = false; /* cleared: the next one writes */
    assert_ok(weft_backward(weigh1("a", 7, weft_on(tape, &W))));
    assert_near(7, gw, 0);
}

/* ---- when a parameter's gradient is complete -------------------------------------------- */

static weft_status tell(void *context, weft_var *W)
{
    char word[64];
    snprintf(word, sizeof word, "%s%d=%g", (const char *)context, W->index, grad(W));
    say(word);
    return WEFT_OK;
}

static void tells_when_a_gradient_is_complete(void **state)
{
    (void)state;
    double   w[3] = { 1, 1, 1 }, gw[3];
    weft_var W[3];
    for (int i = 0; i < 3; i++) {
        W[i] = parameter(&w[i], &gw[i]);
        W[i].index = i;
    }
    weft_var *x = number(1);
    weft_var *a = weigh("a", 1, weft_two(x, &W[0]));
    weft_var *b = weigh("b", 2, (weft_vars){ 3, { a, &W[1], &W[1] } });
    weft_var *c = weigh("c", 3, weft_two(b, &W[0]));
    weigh("aside", 1, weft_two(x, &W[2]));
    weft_tape_on_grad(tape, tell, (void *)(uintptr_t) "W");

    assert_true(weft_tape_has_on_grad(tape));
    assert_ok(weft_backward(c));
    assert_string_equal("W2=nan c b W1=12 a W0=9", said);
}

/* Two micro-batches in flight: forward, forward, backward, backward. */
static void counts_uses_tape_by_tape(void **state)
{
    (void)state;
    double     w = 1, gw;
    weft_var   W = parameter(&w, &gw);
    weft_tape *first = weft_tape_create();
    weft_tape_on_grad(first, tell, (void *)(uintptr_t) "first");
    weft_tape_on_grad(tape, tell, (void *)(uintptr_t) "second");

    weft_var *a = weigh("a", 1, weft_two(weft_on(first, &W), &W));
    weft_var *b = weigh("b", 2, weft_two(weft_on(tape, &W), &W));
    a = weigh("a", 1, weft_two(a, &W));
    weft_var *unplayed = weft_on(tape, &W);
    assert_non_null(unplayed);

    assert_ok(weft_backward(a));
    assert_string_equal("a a first0=3", said);
    said[0] = '\0';
    assert_ok(weft_backward(b));
    assert_string_equal("b second0=7", said);
    weft_tape_destroy(first);
}

static weft_status refuse(void *context, weft_var *W)
{
    (void)context;
    return WEFT_FAIL(WEFT_E_VALUE, "parameter %d is not wanted", W->index);
}

static void ends_where_the_one_who_is_told_fails(void **state)
{
    (void)state;
    double   w = 1, gw;
    weft_var W = parameter(&w, &gw);
    weft_tape_on_grad(tape, refuse, NULL);
    assert_fails(WEFT_E_VALUE, weft_backward(weigh1("a", 1, weft_on(tape, &W))));
    assert_message_has("parameter 0 is not wanted");
}

/* ---- ends ---------------------------------------------------------------------------- */

static void finishes_messages_in_order_when_cleared(void **state)
{
    (void)state;
    weft_var *x = number(1);
    message("first", weft_one(x), none);
    message("second", weft_one(x), none);

    finish_result = WEFT_FAIL(WEFT_E_TIMEOUT, "rank 3 is late");
    assert_fails(WEFT_E_TIMEOUT, weft_tape_clear(tape));
    assert_string_equal("first", said);
    assert_near(1, weft_item(x), 0); /* still there */
    finish_result = WEFT_OK;
    assert_ok(weft_tape_clear(tape));
    assert_string_equal("first first second", said);
    assert_ok(weft_tape_clear(tape));
    assert_string_equal("first first second", said);
}

static void finishes_messages_of_inference_too(void **state)
{
    (void)state;
    assert_ok(weft_tape_mode_set(tape, WEFT_INFER));
    message("sent", weft_one(number(1)), none);
    assert_ok(weft_tape_clear(tape));
    assert_string_equal("sent", said);
    assert_int_equal(WEFT_INFER, weft_tape_mode(tape));

    assert_ok(weft_tape_mode_set(tape, WEFT_DRY));
    message("never sent", weft_one(number(1)), none);
    assert_ok(weft_tape_clear(tape));
    assert_string_equal("sent", said);
}

static void finishes_messages_when_it_ends(void **state)
{
    (void)state;
    message("sent", weft_one(number(1)), none);
    weft_tape_destroy(tape);
    tape = NULL;
    assert_string_equal("sent", said);
}

/* ---- modes --------------------------------------------------------------------------- */

static void needs_no_gradient_in_inference(void **state)
{
    (void)state;
    assert_ok(weft_tape_mode_set(tape, WEFT_INFER));
    weft_var *x = number(3), *y = weigh1("a", 2, x);

    assert_false(x->needs_grad);
    assert_false(y->needs_grad);
    assert_near(6, weft_item(y), 0);
    assert_fails(WEFT_E_STATE, weft_backward(y));
    assert_message_has("inference");
}

static void computes_nothing_in_a_dry_run(void **state)
{
    (void)state;
    assert_ok(weft_tape_mode_set(tape, WEFT_DRY));
    double            data[6] = { 1 };
    const weft_tensor value = weft_tensor_wrap(WEFT_F64, 2, (int64_t[]){ 2, 3 }, data);
    weft_var         *y = weigh1("a", 2, weft_input(tape, &value));

    assert_non_null(y);
    assert_null(y->value.data);
    assert_false(weft_has_data(y));
    assert_string_equal("(2, 3) f64", weft_shape_text(&y->value));
    assert_true(isnan(weft_item(y)));
    assert_fails(WEFT_E_STATE, weft_backward(y));
    assert_message_has("dry");
}

static void keeps_its_mode_while_it_holds_something(void **state)
{
    (void)state;
    assert_int_equal(WEFT_TRAIN, weft_tape_mode(tape));
    number(1);
    assert_fails(WEFT_E_STATE, weft_tape_mode_set(tape, WEFT_INFER));
    assert_ok(weft_tape_clear(tape));
    assert_fails(WEFT_E_ARG, weft_tape_mode_set(tape, (weft_mode)7));
    assert_ok(weft_tape_mode_set(tape, WEFT_INFER));
}

static void remembers_the_step(void **state)
{
    (void)state;
    const int64_t sample[] = { 7, 5 };
    assert_int_equal(0, weft_tape_step(tape)->rows);
    weft_tape_step_set(tape, &(weft_step){ .seed = 3, .step = 9, .rows = 2, .sample = sample });
    assert_ok(weft_tape_clear(tape));
    assert_int_equal(9, weft_tape_step(tape)->step);
    assert_int_equal(5, weft_tape_step(tape)->sample[1]);
}

/* ---- refusals ------------------------------------------------------------------------- */

static void passes_a_failure_on(void **state)
{
    (void)state;
    weft_var *wrong = weft_variable(tape, WEFT_F32, 1, (int64_t[]){ -4 }, true);

    assert_null(wrong);
    assert_null(weigh1("a", 2, wrong));
    assert_null(weft_on(tape, wrong));
    assert_fails(WEFT_E_ARG, weft_backward(weigh1("a", 2, wrong)));
    assert_message_has("-4");
}

static void refuses_a_loss_from_nowhere(void **state)
{
    (void)state;
    assert_fails(WEFT_E_ARG, weft_backward(NULL));
}

static void refuses_a_loss_of_several_elements(void **state)
{
    (void)state;
    weft_var *x = weft_variable(tape, WEFT_F64, 2, (int64_t[]){ 2, 3 }, true);
    assert_fails(WEFT_E_SHAPE, weft_backward(x));
    assert_message_has("(2, 3) f64");
}

static void refuses_to_play_twice(void **state)
{
    (void)state;
    weft_var *y = weigh1("a", 2, number(1));
    assert_ok(weft_backward(y));
    assert_fails(WEFT_E_STATE, weft_backward(y));
    assert_ok(weft_tape_clear(tape));
    assert_ok(weft_backward(weigh1("a", 2, number(1))));
}

static void refuses_variables_of_two_tapes(void **state)
{
    (void)state;
    weft_tape *other = weft_tape_create();
    weft_var  *x = number(1), *y = weft_variable(other, WEFT_F64, 0, NULL, true);

    assert_null(weigh("a", 1, weft_two(x, y)));
    assert_int_equal(WEFT_E_STATE, weft_error_status());
    assert_message_has("two tapes");
    assert_fails(WEFT_E_STATE, weft_tape_backward(tape, 1, &y));
    weft_tape_destroy(other);
}

static void refuses_parameters_alone_or_without_memory(void **state)
{
    (void)state;
    double   w = 1, gw;
    weft_var W = parameter(&w, &gw);

    assert_null(weigh("a", 1, weft_two(&W, &W)));
    assert_message_has("weft_on");
    assert_null(weft_apply(&weigh_op, none, 0, NULL));
    assert_fails(WEFT_E_STATE, weft_backward(&W));
    W.value.data = NULL;
    assert_null(weigh("a", 1, weft_two(number(1), &W)));
    assert_int_equal(WEFT_E_STATE, weft_error_status());
    assert_message_has("no memory");
}

static void refuses_an_input_without_data(void **state)
{
    (void)state;
    weft_tensor value = weft_tensor_wrap(WEFT_F32, 1, (int64_t[]){ 3 }, NULL);
    assert_null(weft_input(tape, &value));
    assert_message_has("(3) f32");
    value = weft_tensor_wrap(WEFT_F32, 1, (int64_t[]){ 0 }, NULL);
    assert_true(weft_has_data(weft_input(tape, &value))); /* there is nothing to have */
}

static weft_status fail_backward(const weft_node *node)
{
    return WEFT_FAIL(WEFT_E_COMM, "%s broke", node->op->name);
}

static void says_which_node_failed(void **state)
{
    (void)state;
    static const weft_op bad = { .name = "bad_wire", .backward = fail_backward };
    weft_var            *x = number(1);
    assert_fails(WEFT_E_COMM, weft_backward(weft_apply(&bad, weft_one(x), 0, NULL)));
    assert_message_has("bad_wire broke");
    assert_non_null(strstr(weft_error_where(), "bad_wire"));
}

/* ---- memory ---------------------------------------------------------------------------- */

static void takes_no_new_memory_once_it_is_warm(void **state)
{
    (void)state;
    const int64_t n = 50000;
    int64_t       before = 0;

    for (int step = 0; step < 5; step++) {
        if (step == 2)
            before = weft_memory_now().allocations;
        weft_var *x = weft_variable(tape, WEFT_F32, 1, &n, true), *y = x;
        weft_tensor_fill(&x->value, 1);
        for (int i = 0; i < 10; i++)
            y = weigh("a", 0.5, weft_two(y, x));
        message("", weft_one(y), none);
        assert_ok(weft_tape_backward(tape, 0, NULL));
        assert_ok(weft_tape_clear(tape));
    }
#if !WEFT_PLAIN_ARENAS
    assert_int_equal(before, weft_memory_now().allocations);
#else
    assert_true(before > 0);
#endif
}

#define test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(plays_strictly_in_reverse),
        test(skips_what_got_no_gradient),
        test(records_nothing_where_nothing_needs_a_gradient),
        test(plays_a_message_even_without_gradient),
        test(plays_everything_from_a_delegate),
        test(plays_without_any_loss),
        test(adds_in_the_order_in_which_it_plays),
        test(adds_a_variable_that_is_taken_twice),
        test(counts_no_contribution_where_an_operator_gives_none),
        test(takes_the_second_contribution_where_the_first_is_not_given),
        test(adds_seeds),
        test(long_gradients_are_added_too),
        test(accumulates_in_parameters_over_tapes),
        test(tells_when_a_gradient_is_complete),
        test(counts_uses_tape_by_tape),
        test(ends_where_the_one_who_is_told_fails),
        test(finishes_messages_in_order_when_cleared),
        test(finishes_messages_of_inference_too),
        test(finishes_messages_when_it_ends),
        test(needs_no_gradient_in_inference),
        test(computes_nothing_in_a_dry_run),
        test(keeps_its_mode_while_it_holds_something),
        test(remembers_the_step),
        test(passes_a_failure_on),
        test(refuses_a_loss_from_nowhere),
        test(refuses_a_loss_of_several_elements),
        test(refuses_to_play_twice),
        test(refuses_variables_of_two_tapes),
        test(refuses_parameters_alone_or_without_memory),
        test(refuses_an_input_without_data),
        test(says_which_node_failed),
        test(takes_no_new_memory_once_it_is_warm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
