/* Layers: what they compute, how they are put together, what they refuse. */
#include "weft_test.h"
#include "weft/nn.h"

static weft_tape *tape;

static int setup(void **state)
{
    (void)state;
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

static weft_var *matrix(int64_t rows, int64_t cols, const double *values)
{
    weft_var *x = weft_variable(tape, WEFT_F64, 2, (int64_t[]){ rows, cols }, false);
    for (int64_t i = 0; weft_has_data(x) && i < rows * cols; i++)
        weft_tensor_set(&x->value, i, values[i]);
    return x;
}

static weft_params *in_double(weft_layer *layer)
{
    return weft_params_create(layer, &(weft_params_options){ .seed = 1, .dtype = WEFT_F64 });
}

static void fill(weft_params *params, const char *name, int n, const double *values)
{
    weft_tensor *x = &weft_params_find(params, name)->value;
    assert_int_equal(n, x->count);
    for (int i = 0; i < n; i++)
        weft_tensor_set(x, i, values[i]);
}

/* ---- kinds ------------------------------------------------------------------------ */

static const double W23[] = { 1, 2, 3, -1, 0, -2 }, b2[] = { 0.5, -0.5 }, x13[] = { 1, 10, 100 };

static void check_linear(const weft_linear_options *options, double y0, double y1)
{
    weft_layer  *linear = weft_linear_create(3, 2, options);
    weft_params *params = in_double(linear);
    fill(params, "W", 6, W23);
    if (options == NULL || !options->no_bias)
        fill(params, "b", 2, b2);

    weft_var *y = weft_forward(linear, matrix(1, 3, x13));
    assert_string_equal("(1, 2) f64", weft_shape_text(&y->value));
    assert_near(y0, weft_tensor_get(&y->value, 0), 0);
    assert_near(y1, weft_tensor_get(&y->value, 1), 0);
    weft_params_destroy(params);
    weft_layer_destroy(linear);
}

static void linear_is_x_times_W_transposed_plus_b(void **state)
{
    (void)state;
    weft_linear_options o = weft_linear_defaults();
    check_linear(NULL, 321.5, -201.5);
    o.relu = true;
    check_linear(&o, 321.5, 0);
    o.no_bias = true;
    check_linear(&o, 321, 0);
    o.relu = false;
    check_linear(&o, 321, -201);
}

static void a_function_is_a_layer(void **state)
{
    (void)state;
    weft_layer  *relu = weft_function_create("relu", weft_relu);
    weft_params *params = in_double(relu);
    assert_int_equal(0, weft_params_n(params));
    assert_string_equal("relu", weft_layer_kind_name(relu));

    weft_var *y = weft_forward(relu, matrix(1, 3, (double[]){ -1, 2, -3 }));
    assert_near(0, weft_tensor_get(&y->value, 0), 0);
    assert_near(2, weft_tensor_get(&y->value, 1), 0);
    weft_params_destroy(params);
    weft_layer_destroy(relu);
}

static void dropout_draws_by_its_full_name(void **state)
{
    (void)state;
    double ones[256];
    for (int i = 0; i < 256; i++)
        ones[i] = 1;
    weft_layer *chain = weft_chain_create(), *drop = weft_dropout_create(0.5);
    assert_ok(weft_chain_add(chain, "d", drop));
    weft_params *params = in_double(chain);
    assert_string_equal("d", weft_layer_name(drop));

    weft_tape_step_set(tape, &(weft_step){ .seed = 4, .step = 1, .rows = 4 });
    const weft_var *x = matrix(4, 64, ones);
    const weft_var *y = weft_forward(chain, matrix(4, 64, ones));
    const weft_var *z = weft_dropout(matrix(4, 64, ones), 0.5, "d");
    const weft_var *other = weft_dropout(matrix(4, 64, ones), 0.5, "e");
    assert_memory_equal(z->value.data, y->value.data, 256 * sizeof(double));
    assert_memory_not_equal(z->value.data, other->value.data, 256 * sizeof(double));
    assert_memory_not_equal(z->value.data, x->value.data, 256 * sizeof(double));
    weft_params_destroy(params);
    weft_layer_destroy(chain);

    assert_null(weft_dropout_create(1));
    assert_message_has("rate 1");
    assert_null(weft_dropout_create((double)NAN));
}

static void a_classifier_gives_loss_and_accuracy(void **state)
{
    (void)state;
    const int32_t     label[] = { 1, 0 };
    const weft_tensor labels =
        weft_tensor_wrap(WEFT_I32, 1, (int64_t[]){ 2 }, (void *)(uintptr_t)label);
    weft_layer  *classifier = weft_classifier_create();
    weft_params *params = in_double(classifier);

    weft_var *x = matrix(2, 2, (double[]){ 0, 1, 0, 2 });
    weft_vars y = weft_layer_forward(classifier, weft_two(x, weft_input(tape, &labels)));
    assert_int_equal(2, y.n);
    assert_near((log(1 + exp(-1)) + log(1 + exp(2))) / 2, weft_item(y.at[0]), 1e-15);
    assert_near(0.5, weft_item(y.at[1]), 0);
    y = weft_layer_forward(classifier, weft_one(x));
    assert_null(y.at[0]);
    assert_message_has("takes 2 variables, not 1");
    weft_params_destroy(params);
    weft_layer_destroy(classifier);
}

/* ---- chains ---------------------------------------------------------------------------- */

static weft_layer *two_layers(void)
{
    weft_layer *chain = weft_chain_create();
    assert_ok(weft_chain_add(chain, "l1", weft_linear_create(3, 2, NULL)));
    assert_ok(weft_chain_add(chain, NULL, weft_function_create("tanh", weft_tanh)));
    assert_ok(weft_chain_add(chain, NULL, weft_linear_create(2, 1, NULL)));
    return chain;
}

static void a_chain_runs_its_layers_in_order(void **state)
{
    (void)state;
    weft_layer  *chain = two_layers();
    weft_params *params = in_double(chain);
    fill(params, "l1/W", 6, (double[]){ 0.1, 0, 0, 0, 0.01, 0 });
    fill(params, "2/W", 2, (double[]){ 2, 3 });
    fill(params, "2/b", 1, (double[]){ 1 });

    const double y = weft_item(weft_forward(chain, matrix(1, 3, x13)));
    assert_near(2 * tanh(0.1) + 3 * tanh(0.1) + 1, y, 1e-15);
    weft_params_destroy(params);
    weft_layer_destroy(chain);
}

static void an_empty_chain_is_the_identity(void **state)
{
    (void)state;
    weft_layer  *chain = weft_chain_create();
    weft_params *params = in_double(chain);
    weft_var    *x = matrix(1, 3, x13);
    assert_ptr_equal(x, weft_forward(chain, x));
    assert_int_equal(0, weft_layer_param_count(chain));
    weft_params_destroy(params);
    weft_layer_destroy(chain);
}

static void a_tree_can_be_walked(void **state)
{
    (void)state;
    weft_layer *chain = two_layers();
    assert_int_equal(3, weft_layer_children(chain));
    assert_string_equal("chain", weft_layer_kind_name(chain));
    assert_string_equal("linear", weft_layer_kind_name(weft_layer_child_at(chain, 2)));
    assert_string_equal("", weft_layer_name(weft_layer_child_at(chain, 2)));
    assert_int_equal(3 * 2 + 2 + 2 + 1, weft_layer_param_count(chain));
    weft_layer_destroy(chain);
    weft_layer_destroy(NULL);
}

/* ---- refusals ---------------------------------------------------------------------------- */

static weft_layer *small(void)
{
    return weft_linear_create(1, 1, NULL);
}

static void names_are_unique_and_without_slash(void **state)
{
    (void)state;
    weft_layer *chain = weft_chain_create();
    assert_ok(weft_chain_add(chain, "a", small()));
    assert_fails(WEFT_E_ARG, weft_chain_add(chain, "a", small()));
    assert_message_has("\"a\"");
    assert_fails(WEFT_E_ARG, weft_chain_add(chain, "a/b", small()));
    assert_message_has("a/b");
    assert_fails(WEFT_E_ARG, weft_chain_add(chain, "", small()));
    assert_fails(WEFT_E_ARG, weft_chain_add(chain, "..", small()));
    assert_ok(weft_chain_add(chain, "2", small()));
    assert_fails(WEFT_E_ARG, weft_chain_add(chain, NULL, small())); /* its place is taken */
    weft_layer_destroy(chain);
}

static void a_missing_layer_passes_its_failure_on(void **state)
{
    (void)state;
    weft_layer *chain = weft_chain_create();
    assert_fails(WEFT_E_ARG, weft_chain_add(chain, "l", weft_linear_create(0, 5, NULL)));
    assert_message_has("from 0 to 5");
    assert_int_equal(0, weft_layer_children(chain));
    weft_layer_destroy(chain);
}

static void a_layer_can_be_in_one_place_only(void **state)
{
    (void)state;
    weft_layer *a = weft_chain_create(), *b = weft_chain_create();
    assert_ok(weft_chain_add(a, "b", b));
    assert_fails(WEFT_E_ARG, weft_chain_add(a, "again", b));
    assert_fails(WEFT_E_ARG, weft_chain_add(b, "loop", a));
    assert_fails(WEFT_E_ARG, weft_chain_add(a, "self", a));
    assert_message_has("one place");
    weft_layer_destroy(a);
}

static void nothing_is_added_once_there_is_memory(void **state)
{
    (void)state;
    weft_layer  *chain = two_layers();
    weft_params *params = weft_params_create(chain, NULL);
    assert_fails(WEFT_E_STATE, weft_chain_add(chain, "late", small()));
    assert_message_has("late");

    weft_layer *outer = weft_chain_create();
    assert_null(weft_layer_param(chain, "W", 0, NULL, (weft_initial){ WEFT_CONSTANT, 0 }));
    weft_layer  *inner = small();
    weft_params *theirs = weft_params_create(inner, NULL);
    assert_null(weft_params_create(inner, NULL));
    assert_message_has("already");
    weft_params_destroy(theirs);
    weft_layer_destroy(inner);
    weft_layer_destroy(outer);
    weft_params_destroy(params);
    assert_ok(weft_chain_add(chain, "late", small()));
    weft_layer_destroy(chain);
}

static void a_layer_without_memory_runs_only_dry(void **state)
{
    (void)state;
    weft_layer *chain = two_layers();
    assert_null(weft_forward(chain, matrix(4, 3, (double[12]){ 0 })));
    assert_int_equal(WEFT_E_STATE, weft_error_status());
    assert_message_has("a linear layer without memory");

    assert_ok(weft_tape_clear(tape));
    assert_ok(weft_tape_mode_set(tape, WEFT_DRY));
    const weft_dtype dtypes[] = { WEFT_F64, WEFT_F32 };
    for (int i = 0; i < 2; i++) {
        const weft_tensor x = weft_tensor_wrap(dtypes[i], 2, (int64_t[]){ 4, 3 }, NULL);
        const weft_var   *y = weft_forward(chain, weft_input(tape, &x));
        assert_non_null(y);
        assert_string_equal(i == 0 ? "(4, 1) f64" : "(4, 1) f32", weft_shape_text(&y->value));
    }
    const weft_tensor wrong = weft_tensor_wrap(WEFT_F32, 2, (int64_t[]){ 4, 7 }, NULL);
    assert_null(weft_forward(chain, weft_input(tape, &wrong)));
    assert_int_equal(WEFT_E_SHAPE, weft_error_status());
    weft_layer_destroy(chain);
}

static void a_layer_without_parameters_needs_no_memory(void **state)
{
    (void)state;
    weft_layer     *chain = weft_chain_create();
    const weft_var *y;
    assert_ok(weft_chain_add(chain, "relu", weft_function_create("relu", weft_relu)));
    y = weft_forward(chain, matrix(1, 3, (double[]){ -1, 2, 3 }));
    assert_near(0, weft_tensor_get(&y->value, 0), 0);

    assert_ok(weft_chain_add(chain, "drop", weft_dropout_create(0.5)));
    assert_null(weft_forward(chain, matrix(1, 3, x13))); /* but a name, to draw by */
    assert_int_equal(WEFT_E_STATE, weft_error_status());
    assert_message_has("dropout");
    assert_ok(weft_tape_clear(tape));
    assert_ok(weft_tape_mode_set(tape, WEFT_INFER));
    assert_non_null(weft_forward(chain, matrix(1, 3, x13)));
    weft_layer_destroy(chain);
}

static void a_failure_before_is_passed_on(void **state)
{
    (void)state;
    weft_layer  *chain = two_layers();
    weft_params *params = in_double(chain);
    weft_var    *x = weft_reshape(matrix(1, 3, x13), 1, (int64_t[]){ 7 });
    assert_null(x);
    assert_null(weft_forward(chain, x));
    assert_int_equal(WEFT_E_SHAPE, weft_error_status());
    assert_null(weft_forward(weft_layer_child_at(chain, 0), NULL));

    weft_layer *child = weft_layer_child_at(chain, 0);
    x = matrix(1, 3, x13);
    assert_null(weft_layer_forward(child, weft_two(x, x)).at[0]);
    assert_message_has("linear layer \"l1\" takes 1 variables, not 2");
    weft_params_destroy(params);
    weft_layer_destroy(chain);
}

/* ---- a layer of one's own ------------------------------------------------------------------- */

typedef struct {
    weft_var *shift;
    char     *note;
} shifter;

static weft_vars shift(weft_layer *self, weft_vars in)
{
    const shifter *s = weft_layer_state(self);
    for (int i = 0; i < in.n; i++)
        in.at[i] = weft_add(weft_forward(weft_layer_child_at(self, 0), in.at[i]), s->shift);
    return in;
}

static void forget(void *state)
{
    shifter *s = state;
    weft_free(s->note);
}

static const weft_layer_kind shift_kind = {
    .name = "shift",
    .state = sizeof(shifter),
    .forward = shift,
    .destroy = forget,
};

static void a_user_can_write_a_layer(void **state)
{
    (void)state;
    weft_layer *layer = weft_layer_create(&shift_kind);
    shifter    *s = weft_layer_state(layer);
    assert_null(s->note);
    s->note = weft_text_copy("mine");
    s->shift =
        weft_layer_param(layer, "shift", 1, (int64_t[]){ 3 }, (weft_initial){ WEFT_CONSTANT, 7 });
    assert_ok(weft_layer_child(layer, "f", weft_function_create("relu", weft_relu)));
    assert_fails(WEFT_E_ARG, weft_layer_child(layer, "shift", small())); /* a parameter's name */
    assert_null(weft_layer_param(layer, "f", 0, NULL, (weft_initial){ WEFT_CONSTANT, 0 }));
    weft_params *params = in_double(layer);

    weft_var       *x = matrix(1, 3, (double[]){ -1, 0, 1 });
    const weft_vars y = weft_layer_forward(layer, weft_two(x, x));
    assert_int_equal(2, y.n);
    assert_near(7, weft_tensor_get(&y.at[1]->value, 0), 0);
    assert_near(8, weft_tensor_get(&y.at[1]->value, 2), 0);
    assert_ok(weft_backward(weft_sum(weft_add(y.at[0], y.at[1]))));
    assert_near(2, weft_tensor_get(&s->shift->grad, 1), 0);
    weft_params_destroy(params);
    weft_layer_destroy(layer);
}

static void parameters_that_cannot_be_are_refused(void **state)
{
    (void)state;
    weft_layer        *layer = weft_layer_create(&shift_kind);
    const weft_initial zero = { WEFT_CONSTANT, 0 };
    assert_null(weft_layer_param(layer, "W", 1, (int64_t[]){ -1 }, zero));
    assert_null(weft_layer_param(layer, "W", 9, (int64_t[9]){ 0 }, zero));
    assert_null(weft_layer_param(layer, "W", 2, (int64_t[]){ 1 << 20, 1 << 20 }, zero));
    assert_message_has("\"W\"");
    assert_null(weft_layer_param(layer, "W", 0, NULL, (weft_initial){ (weft_initial_kind)99, 0 }));
    assert_message_has("99");
    for (int i = 0; i < WEFT_MAX_PARAMS; i++)
        assert_non_null(weft_layer_param(layer, (char[]){ (char)('a' + i), '\0' }, 0, NULL, zero));
    assert_null(weft_layer_param(layer, "z", 0, NULL, zero));
    assert_message_has("17");
    weft_layer_destroy(layer);
}

#define test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(linear_is_x_times_W_transposed_plus_b),
        test(a_function_is_a_layer),
        test(dropout_draws_by_its_full_name),
        test(a_classifier_gives_loss_and_accuracy),
        test(a_chain_runs_its_layers_in_order),
        test(an_empty_chain_is_the_identity),
        test(a_tree_can_be_walked),
        test(names_are_unique_and_without_slash),
        test(a_missing_layer_passes_its_failure_on),
        test(a_layer_can_be_in_one_place_only),
        test(nothing_is_added_once_there_is_memory),
        test(a_layer_without_memory_runs_only_dry),
        test(a_layer_without_parameters_needs_no_memory),
        test(a_failure_before_is_passed_on),
        test(a_user_can_write_a_layer),
        test(parameters_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
