/* The gradient check: finds right gradients right and wrong ones wrong. */
#include "weft_test.h"
#include "weft/autograd.h"

/* L = sum over k of a_k^2 b_k;   the gradients off by a factor, on purpose. */
static double lie;

static weft_status backward(const weft_node *node)
{
    const double  g = weft_tensor_get(&node->out[0]->grad, 0);
    const double *a = node->in[0]->value.data, *b = node->in[1]->value.data;

    for (int64_t k = 0; k < node->in[0]->value.count; k++) {
        if (node->gin[0] != NULL)
            weft_tensor_set(node->gin[0], k, g * 2 * a[k] * b[k]);
        if (node->gin[1] != NULL)
            weft_tensor_set(node->gin[1], k, g * a[k] * a[k] + (k == 2 ? lie : 0));
    }
    return WEFT_OK;
}

static const weft_op op = { .name = "cubic", .backward = backward };

static weft_var *cubic(weft_vars x, void *context)
{
    weft_var *y = weft_apply(&op, x, 0, NULL);
    if (y == NULL)
        return NULL;
    *(int *)context += 1;
    double sum = 0;
    for (int64_t k = 0; k < x.at[0]->value.count; k++) {
        const double a = weft_tensor_get(&x.at[0]->value, k);
        sum += a * a * weft_tensor_get(&x.at[1]->value, k);
    }
    weft_tensor_set(&y->value, 0, sum);
    return y;
}

static double       a[] = { 0.5, -1, 2 }, b[] = { 3, 0.25, -0.75 };
static weft_tensor  ta, tb;
static weft_tensor *x[] = { &ta, &tb };

static int setup(void **state)
{
    (void)state;
    ta = weft_tensor_wrap(WEFT_F64, 1, (int64_t[]){ 3 }, a);
    tb = weft_tensor_wrap(WEFT_F64, 1, (int64_t[]){ 3 }, b);
    lie = 0;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    return weft_memory_now().blocks != 0;
}

static void finds_right_gradients_right(void **state)
{
    (void)state;
    double worst = (double)NAN;
    int    calls = 0;
    assert_ok(weft_gradcheck(cubic, &calls, 2, x, 1e-4, &worst));
    assert_true(worst < 1e-8);
    assert_int_equal(1 + 2 * 6, calls);
    assert_near(2, a[2], 0); /* as it was */
    assert_near(-0.75, b[2], 0);
}

static void finds_wrong_gradients_wrong(void **state)
{
    (void)state;
    double worst = 0;
    int    calls = 0;
    lie = 0.5;
    assert_ok(weft_gradcheck(cubic, &calls, 2, x, 1e-4, &worst));
    assert_near(0.5 / 4, worst, 1e-6); /* the true one is 4 */
}

static void tells_what_is_not_a_number(void **state)
{
    (void)state;
    double worst = 0;
    int    calls = 0;
    lie = (double)NAN;
    assert_ok(weft_gradcheck(cubic, &calls, 2, x, 1e-4, &worst));
    assert_true(isnan(worst));
}

static weft_var *constant(weft_vars in, void *context)
{
    (void)context;
    const weft_var *some = in.at[0];
    weft_var       *y = weft_variable(some->tape, WEFT_F64, 0, NULL, false);
    weft_tensor_set(&y->value, 0, 3);
    return y;
}

static void takes_no_gradient_as_zero(void **state)
{
    (void)state;
    double worst = (double)NAN;
    assert_ok(weft_gradcheck(constant, NULL, 2, x, 1e-4, &worst));
    assert_near(0, worst, 0);
}

static weft_var *broken(weft_vars in, void *context)
{
    int *calls = context;
    if (++*calls == 4)
        return WEFT_FAIL_NULL(WEFT_E_VALUE, "call %d", *calls);
    return cubic(in, &(int){ 0 });
}

static void restores_what_it_moved_after_a_failure(void **state)
{
    (void)state;
    double worst;
    int    calls = 0;
    assert_fails(WEFT_E_VALUE, weft_gradcheck(broken, &calls, 2, x, 1e-4, &worst));
    assert_near(0.5, a[0], 0);
    assert_near(-1, a[1], 0);
}

static void wants_double(void **state)
{
    (void)state;
    double worst;
    float  f[3] = { 0 };
    tb = weft_tensor_wrap(WEFT_F32, 1, (int64_t[]){ 3 }, f);
    assert_fails(WEFT_E_DTYPE, weft_gradcheck(cubic, NULL, 2, x, 1e-4, &worst));
    assert_message_has("(3) f32");
    assert_fails(WEFT_E_ARG, weft_gradcheck(cubic, NULL, 17, x, 1e-4, &worst));
}

#define test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(finds_right_gradients_right),
        test(finds_wrong_gradients_wrong),
        test(tells_what_is_not_a_number),
        test(takes_no_gradient_as_zero),
        test(restores_what_it_moved_after_a_failure),
        test(wants_double),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
