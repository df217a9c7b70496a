/* Initial values: spread by fan in and out; by (seed, full name, index) and nothing else. */
#include "weft_test.h"
#include "weft/nn.h"

enum { IN = 300, OUT = 200 };

static int teardown(void **state)
{
    (void)state;
    return weft_memory_now().blocks != 0;
}

static weft_layer *linear(weft_initial W)
{
    weft_linear_options options = weft_linear_defaults();
    options.W = W;
    options.b = (weft_initial){ WEFT_CONSTANT, -0.25 };
    return weft_linear_create(IN, OUT, &options);
}

static weft_params *params_of(weft_layer *layer, uint64_t seed, weft_dtype dtype)
{
    return weft_params_create(layer, &(weft_params_options){ .seed = seed, .dtype = dtype });
}

/* ---- moments -------------------------------------------------------------------------- */

typedef struct {
    double mean, deviation, largest, fourth; /* fourth: E x^4 / (E x^2)^2 */
} moments;

static moments moments_of(const weft_tensor *x)
{
    double sum = 0, sum2 = 0, sum4 = 0, largest = 0;
    for (int64_t i = 0; i < x->count; i++) {
        const double v = weft_tensor_get(x, i);
        sum += v;
        sum2 += v * v;
        sum4 += v * v * v * v;
        largest = fmax(largest, fabs(v));
    }
    const double n = (double)x->count;
    return (moments){ sum / n, sqrt(sum2 / n), largest, sum4 * n / (sum2 * sum2) };
}

/* 60,000 draws: four standard errors of the deviation are about 1 percent. */
static void check_moments(weft_initial_kind kind, bool normal, double s)
{
    weft_layer   *layer = linear((weft_initial){ kind, 2 });
    weft_params  *params = params_of(layer, 3, WEFT_F64);
    const moments m = moments_of(&weft_params_find(params, "W")->value);
    const double  deviation = 2 * (normal ? s : s / sqrt(3));

    assert_near(0, m.mean / deviation, 0.02);
    assert_near(1, m.deviation / deviation, 0.012);
    assert_near(normal ? 3 : 1.8, m.fourth, normal ? 0.1 : 0.03);
    if (!normal)
        assert_true(m.largest <= 2 * s && m.largest > 1.99 * s);
    weft_params_destroy(params);
    weft_layer_destroy(layer);
}

static void spread_as_their_papers_say(void **state)
{
    (void)state;
    check_moments(WEFT_LECUN_NORMAL, true, sqrt(1.0 / IN));
    check_moments(WEFT_LECUN_UNIFORM, false, sqrt(3.0 / IN));
    check_moments(WEFT_GLOROT_NORMAL, true, sqrt(2.0 / (IN + OUT)));
    check_moments(WEFT_GLOROT_UNIFORM, false, sqrt(6.0 / (IN + OUT)));
    check_moments(WEFT_HE_NORMAL, true, sqrt(2.0 / IN));
    check_moments(WEFT_HE_UNIFORM, false, sqrt(6.0 / IN));
}

static void are_constant_where_asked(void **state)
{
    (void)state;
    weft_layer     *layer = linear((weft_initial){ WEFT_CONSTANT, 0.5 });
    weft_params    *params = params_of(layer, 3, WEFT_F32);
    const weft_var *W = weft_params_find(params, "W"), *b = weft_params_find(params, "b");
    for (int64_t i = 0; i < W->value.count; i++)
        assert_near(0.5, weft_tensor_get(&W->value, i), 0);
    for (int64_t i = 0; i < b->value.count; i++)
        assert_near(-0.25, weft_tensor_get(&b->value, i), 0);
    weft_params_destroy(params);
    weft_layer_destroy(layer);
}

static void are_lecun_normal_and_zero_by_default(void **state)
{
    (void)state;
    const weft_linear_options o = weft_linear_defaults();
    assert_int_equal(WEFT_LECUN_NORMAL, o.W.kind);
    assert_near(1, o.W.scale, 0);
    assert_int_equal(WEFT_CONSTANT, o.b.kind);
    assert_near(0, o.b.scale, 0);
}

/* (out, in, ...): a kernel of 3 x 3 over 4 channels; a vector; a scalar. */
static void fans_count_the_axes_behind(void **state)
{
    (void)state;
    static const weft_layer_kind kind = { .name = "bare" };
    const weft_initial           glorot = { WEFT_GLOROT_UNIFORM, 1 }, he = { WEFT_HE_UNIFORM, 1 };
    weft_layer                  *layer = weft_layer_create(&kind);
    weft_var    *K = weft_layer_param(layer, "K", 4, (int64_t[]){ 500, 4, 3, 3 }, glorot);
    weft_var    *v = weft_layer_param(layer, "v", 1, (int64_t[]){ 2000 }, he);
    weft_var    *s = weft_layer_param(layer, "s", 0, NULL, he);
    weft_params *params = params_of(layer, 1, WEFT_F64);

    const double sK = sqrt(6.0 / (4 * 9 + 500 * 9)), largest = moments_of(&K->value).largest;
    assert_true(largest <= sK && largest > 0.99 * sK);
    assert_near(sqrt(6), moments_of(&v->value).largest, 0.01);
    assert_true(fabs(weft_item(s)) <= sqrt(6));
    weft_params_destroy(params);
    weft_layer_destroy(layer);
}

/* ---- what they depend on ------------------------------------------------------------------ */

static void are_the_numbers_of_their_stream(void **state)
{
    (void)state;
    weft_layer *chain = weft_chain_create();
    assert_ok(weft_chain_add(chain, "l1", linear((weft_initial){ WEFT_LECUN_NORMAL, 1 })));
    weft_params      *params = params_of(chain, 17, WEFT_F64);
    const weft_tensor W = weft_params_find(params, "l1/W")->value;
    const weft_random stream = weft_random_stream(17, "l1/W");
    for (int64_t i = 0; i < W.count; i += 997)
        assert_near(weft_random_normal(&stream, (uint64_t)i) * sqrt(1.0 / IN),
                    weft_tensor_get(&W, i), 0);
    weft_params_destroy(params);
    weft_layer_destroy(chain);
}

/* "part" alone in a model, and as the second of two with other parameters before. */
static weft_layer *model_with(const char *before)
{
    weft_layer *model = weft_chain_create(), *part = weft_chain_create();
    assert_ok(weft_chain_add(part, "l", linear((weft_initial){ WEFT_HE_NORMAL, 1 })));
    if (before != NULL)
        assert_ok(weft_chain_add(model, before, linear((weft_initial){ WEFT_HE_NORMAL, 1 })));
    assert_ok(weft_chain_add(model, "part", part));
    return model;
}

static void check_same(weft_params *a, weft_params *b, bool same)
{
    const weft_var *x = weft_params_find(a, "part/l/W"), *y = weft_params_find(b, "part/l/W");
    const size_t    bytes = (size_t)weft_tensor_bytes(&x->value);
    assert_int_equal(same, memcmp(x->value.data, y->value.data, bytes) == 0);
}

static void do_not_depend_on_what_else_there_is(void **state)
{
    (void)state;
    const weft_dtype dtypes[] = { WEFT_F32, WEFT_F64 };
    for (int d = 0; d < 2; d++) {
        weft_layer  *alone = model_with(NULL), *within = model_with("first");
        weft_params *a = params_of(alone, 5, dtypes[d]), *w = params_of(within, 5, dtypes[d]);
        check_same(a, w, true);
        weft_params_destroy(a);
        a = params_of(alone, 6, dtypes[d]);
        check_same(a, w, false); /* another seed */
        weft_params_destroy(a);
        a = params_of(alone, 5, dtypes[d]);
        check_same(a, w, true); /* made again */
        weft_params_destroy(a);
        weft_params_destroy(w);
        weft_layer_destroy(alone);
        weft_layer_destroy(within);
    }
}

static void differ_from_name_to_name(void **state)
{
    (void)state;
    weft_layer     *within = model_with("first");
    weft_params    *params = params_of(within, 5, WEFT_F64);
    const weft_var *x = weft_params_find(params, "first/W"),
                   *y = weft_params_find(params, "part/l/W");
    assert_memory_not_equal(x->value.data, y->value.data, (size_t)weft_tensor_bytes(&x->value));
    weft_params_destroy(params);
    weft_layer_destroy(within);
}

static void do_not_depend_on_threads(void **state)
{
    (void)state;
    weft_layer  *one = model_with(NULL), *three = model_with(NULL);
    weft_params *a = params_of(one, 5, WEFT_F64);
    weft_threads_set(3);
    weft_params *b = params_of(three, 5, WEFT_F64);
    weft_threads_set(1);
    check_same(a, b, true);
    weft_params_destroy(a);
    weft_params_destroy(b);
    weft_layer_destroy(one);
    weft_layer_destroy(three);
}

#define test(name) cmocka_unit_test_teardown(name, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(spread_as_their_papers_say),
        test(are_constant_where_asked),
        test(are_lecun_normal_and_zero_by_default),
        test(fans_count_the_axes_behind),
        test(are_the_numbers_of_their_stream),
        test(do_not_depend_on_what_else_there_is),
        test(differ_from_name_to_name),
        test(do_not_depend_on_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
