/* Operators: every check runs on every row of the table in ops_table.h. What is
 * special to one operator is in test_ops_cases.c, test_ops_classes.c and
 * test_dropout.c.
 */
#include "ops_table.h"
#include "weft_test.h"

#include <fenv.h>
#include <stdio.h>

/* ---- running a row ----------------------------------------------------------------- */

/* One evaluation. The inputs that have as many rows as the first have `times` as many
 * here, in which the golden ones come again and again. */
typedef struct {
    const row   *row;
    int64_t      times;
    weft_dtype   dtype;
    weft_tape   *tape;
    weft_tensor *in[3];
    weft_tensor *g;
    weft_vars    x;
    weft_var    *y, *L;
} run;

static weft_tensor *repeat(const numbers *from, weft_dtype dtype, int64_t times)
{
    int64_t shape[4] = { 0 }, count = 1;
    memcpy(shape, from->shape, sizeof shape);
    for (int k = 0; k < from->ndim; k++)
        count *= shape[k];
    if (from->ndim > 0)
        shape[0] *= times;

    weft_tensor *x = weft_tensor_create(dtype, from->ndim, shape);
    assert_non_null(x);
    for (int64_t i = 0; i < x->count; i++)
        weft_tensor_set(x, i, from->at[i % count]);
    return x;
}

static bool is_label(const row *r, int i)
{
    return r->golden->labels && i == r->golden->n - 1;
}

static weft_dtype labels_of(const row *r)
{
    return r->kind & I32_LABELS ? WEFT_I32 : WEFT_I64;
}

static bool is_random(const run *r)
{
    return (r->row->kind & RANDOM) != 0;
}

static int64_t times_of(const run *r, int i)
{
    const numbers *in = r->row->golden->in;
    return in[i].shape[0] == in[0].shape[0] && in[i].ndim > 0 ? r->times : 1;
}

static run prepare(const row *of, weft_dtype dtype, int64_t times, weft_mode mode)
{
    run r = { .row = of, .times = times, .dtype = dtype, .tape = weft_tape_create() };

    assert_non_null(r.tape);
    assert_ok(weft_tape_mode_set(r.tape, mode));
    r.x.n = of->golden->n;
    for (int i = 0; i < r.x.n; i++)
        r.in[i] =
            repeat(&of->golden->in[i], is_label(of, i) ? labels_of(of) : dtype, times_of(&r, i));
    return r;
}

/* Anything that is not constant along an axis will do for a larger y. */
static weft_tensor *weights(const run *r)
{
    if (r->times == 1 && !is_random(r))
        return repeat(&r->row->golden->g, r->dtype, 1);
    weft_tensor *g = weft_tensor_create(r->dtype, r->y->value.ndim, r->y->value.shape);
    for (int64_t i = 0; i < g->count; i++)
        weft_tensor_set(g, i, sin(1.0 + (double)(i % 1013)));
    return g;
}

static void forward(run *r)
{
    for (int i = 0; i < r->x.n; i++) {
        r->x.at[i] = weft_input(r->tape, r->in[i]);
        assert_non_null(r->x.at[i]);
        r->x.at[i]->needs_grad =
            weft_dtype_is_real(r->in[i]->dtype) && weft_tape_mode(r->tape) == WEFT_TRAIN;
    }
    r->y = r->row->apply(r->x);
}

static void backward(run *r)
{
    if (r->g == NULL)
        r->g = weights(r);
    r->L = weft_sum(weft_multiply(r->y, weft_input(r->tape, r->g)));
    assert_ok(weft_backward(r->L));
}

static run play(const row *of, weft_dtype dtype, int64_t times)
{
    run r = prepare(of, dtype, times, WEFT_TRAIN);
    forward(&r);
    if (r.y == NULL)
        print_error("%s\n", weft_error_message());
    assert_non_null(r.y);
    backward(&r);
    return r;
}

static void end(run *r)
{
    for (int i = 0; i < r->x.n; i++)
        weft_tensor_destroy(r->in[i]);
    weft_tensor_destroy(r->g);
    weft_tape_destroy(r->tape);
}

/* ---- comparing ---------------------------------------------------------------------- */

static double gradient(const weft_var *x, int64_t i)
{
    return x->has_grad ? weft_tensor_get(&x->grad, i) : 0;
}

static void assert_near_numbers(const run *r, double tolerance)
{
    const golden *expected = r->row->golden;

    for (int64_t j = 0; j < r->y->value.count && !is_random(r); j++) {
        const double e = expected->y.at[j];
        assert_near(e, weft_tensor_get(&r->y->value, j), tolerance * (1 + fabs(e)));
    }
    for (int i = 0; i < r->x.n && !is_random(r); i++)
        for (int64_t j = 0; j < r->in[i]->count && !is_label(r->row, i); j++) {
            const double e = expected->gin[i].at[j];
            assert_near(e, gradient(r->x.at[i], j), tolerance * (1 + fabs(e)));
        }
}

static void assert_close(const weft_tensor *a, const weft_tensor *b, double tolerance)
{
    assert_true(weft_tensor_same_shape(a, b));
    if (tolerance == 0) {
        assert_memory_equal(a->data, b->data, (size_t)weft_tensor_bytes(a));
        return;
    }
    for (int64_t j = 0; j < a->count; j++) {
        const double e = weft_tensor_get(a, j);
        assert_near(e, weft_tensor_get(b, j), tolerance * (1 + fabs(e)));
    }
}

/* Tolerance 0: the same bits. */
static void assert_same(const run *a, const run *b, double tolerance)
{
    assert_close(&a->y->value, &b->y->value, tolerance);
    for (int i = 0; i < a->x.n; i++) {
        assert_int_equal(a->x.at[i]->has_grad, b->x.at[i]->has_grad);
        if (a->x.at[i]->has_grad)
            assert_close(&a->x.at[i]->grad, &b->x.at[i]->grad, tolerance);
    }
}

/* ---- the checks ------------------------------------------------------------------------ */

enum { MANY = 1000 }; /* times: several chunks */

static weft_var *formula(weft_vars x, void *context)
{
    run *r = context;
    if (r->row->golden->labels)
        x.at[1] = weft_input(x.at[0]->tape, r->in[1]);
    x.n = r->x.n;
    return weft_sum(weft_multiply(r->row->apply(x), weft_input(x.at[0]->tape, r->g)));
}

static void gradients_are_the_derivatives(void **state)
{
    run       r = play(*state, WEFT_F64, 1);
    const int n = r.x.n - r.row->golden->labels;
    double    worst = 1;

    assert_ok(weft_gradcheck(formula, &r, n, r.in, 1e-5, &worst));
    assert_near(0, worst, 1e-8);
    end(&r);
}

static void agrees_with_pytorch(void **state)
{
    run r = play(*state, WEFT_F64, 1);
    assert_int_equal(r.row->golden->y.ndim, r.y->value.ndim);
    for (int k = 0; k < r.y->value.ndim; k++)
        assert_int_equal(r.row->golden->y.shape[k], r.y->value.shape[k]);
    assert_near_numbers(&r, 1e-14);
    end(&r);
}

static void float_is_near_double(void **state)
{
    run r = play(*state, WEFT_F32, 1);
    assert_int_equal(WEFT_F32, r.y->value.dtype);
    assert_near_numbers(&r, 2e-6);
    end(&r);
}

static void float_is_near_double_in_a_long_batch(void **state)
{
    run single = play(*state, WEFT_F32, MANY), twice = play(*state, WEFT_F64, MANY);
    for (int i = 0; i < single.x.n; i++)
        for (int64_t j = 0; j < single.in[i]->count && single.x.at[i]->has_grad; j++) {
            const double e = gradient(twice.x.at[i], j);
            assert_near(e, gradient(single.x.at[i], j), 1e-4 * (1 + fabs(e)));
        }
    end(&single);
    end(&twice);
}

static void kernels_give_the_same_bits(void **state)
{
    const weft_dtype dtypes[] = { WEFT_F32, WEFT_F64 };

    for (int i = 0; i < 2; i++) {
        assert_ok(weft_kernels_choose("baseline"));
        run baseline = play(*state, dtypes[i], MANY);
        assert_ok(weft_kernels_choose(NULL));
        run chosen = play(*state, dtypes[i], MANY);
        assert_same(&baseline, &chosen, 0);
        end(&baseline);
        end(&chosen);
    }
}

static void two_threads_give_the_same_bits(void **state)
{
    const row *const r = *state;

    weft_threads_set(1);
    run one = play(r, WEFT_F64, MANY);
    weft_threads_set(2);
    run two = play(r, WEFT_F64, MANY);
    weft_threads_set(1);
    assert_same(&one, &two, r->kind & PRODUCT ? 1e-11 : 0);
    end(&one);
    end(&two);
}

static void inference_gives_the_same_and_a_dry_run_the_shapes(void **state)
{
    run train = play(*state, WEFT_F32, 1);
    run infer = prepare(*state, WEFT_F32, 1, WEFT_INFER),
        dry = prepare(*state, WEFT_F32, 1, WEFT_DRY);

    forward(&infer);
    forward(&dry);
    assert_close(is_random(&train) ? &train.x.at[0]->value : &train.y->value, &infer.y->value, 0);
    assert_false(infer.y->needs_grad);
    assert_true(weft_tensor_same_shape(&train.y->value, &dry.y->value));
    assert_int_equal(train.y->value.dtype, dry.y->value.dtype);
    assert_null(dry.y->value.data);
    end(&train);
    end(&infer);
    end(&dry);
}

static void a_batch_without_rows_is_possible(void **state)
{
    run r = prepare(*state, WEFT_F64, 0, WEFT_TRAIN);

    weft_error_clear();
    forward(&r);
    assert_int_equal(r.row->kind & NEEDS_ROWS ? WEFT_E_SHAPE : WEFT_OK, weft_error_status());
    if (r.y != NULL)
        backward(&r);
    for (int i = 0; r.y != NULL && r.y->value.count == 0 && i < r.x.n; i++)
        for (int64_t j = 0; j < r.in[i]->count; j++)
            assert_near(0, gradient(r.x.at[i], j), 0);
    end(&r);
}

static void no_floating_point_trap_is_sprung(void **state)
{
    const int traps = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW;

    for (int i = 0; i < 2; i++) {
        feclearexcept(FE_ALL_EXCEPT);
        run r = play(*state, i == 0 ? WEFT_F32 : WEFT_F64, 1);
        assert_int_equal(0, fetestexcept(traps));
        end(&r);
    }
}

static void passes_a_failure_on(void **state)
{
    run r = prepare(*state, WEFT_F64, 1, WEFT_TRAIN);

    forward(&r);
    for (int i = 0; i < r.x.n && i < 2; i++) {
        weft_vars x = r.x;
        x.at[i] = weft_slice(r.x.at[0], 2, 1); /* there are no such rows */
        assert_null(r.row->apply(x));
        assert_fails(WEFT_E_SHAPE, weft_backward(r.row->apply(x)));
        assert_message_has("slice of");
    }
    end(&r);
}

static void refuses_integers(void **state)
{
    const row *const r = *state;
    run              wrong = prepare(r, WEFT_I32, 1, WEFT_TRAIN);
    char             name[32];

    snprintf(name, sizeof name, "%.*s of ", (int)strcspn(r->name, " ,"), r->name);
    forward(&wrong);
    if (r->kind & ANY_DTYPE) {
        assert_non_null(wrong.y);
        assert_int_equal(WEFT_I32, wrong.y->value.dtype);
    } else {
        assert_null(wrong.y);
        assert_int_equal(WEFT_E_DTYPE, weft_error_status());
        assert_message_has(name);
        assert_message_has(weft_shape_text(wrong.in[0]));
    }
    end(&wrong);
}

static void refuses_a_mixture_of_types(void **state)
{
    const row *const r = *state;

    for (int i = 1; i < r->golden->n; i++) {
        run mixed = prepare(r, WEFT_F64, 1, WEFT_TRAIN);
        weft_tensor_destroy(mixed.in[i]);
        mixed.in[i] = repeat(&r->golden->in[i], WEFT_F32, 1);
        forward(&mixed);
        assert_null(mixed.y);
        assert_int_equal(WEFT_E_DTYPE, weft_error_status());
        assert_message_has("f32");
        assert_message_has("f64");
        end(&mixed);
    }
}

static void a_steady_step_takes_no_memory(void **state)
{
    run     r = prepare(*state, WEFT_F32, 1, WEFT_TRAIN);
    int64_t before = 0;

    for (int step = 0; step < 4; step++) {
        before = weft_memory_now().allocations;
        forward(&r);
        backward(&r);
        assert_ok(weft_tape_clear(r.tape));
    }
    if (!WEFT_PLAIN_ARENAS)
        assert_int_equal(before, weft_memory_now().allocations);
    end(&r);
}

/* ---- every check on every row -------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*check)(void **state);
} checks[] = {
#define CHECK(name)                                                                                \
    {                                                                                              \
#name, name                                                                                \
    }
    CHECK(gradients_are_the_derivatives),
    CHECK(agrees_with_pytorch),
    CHECK(float_is_near_double),
    CHECK(float_is_near_double_in_a_long_batch),
    CHECK(kernels_give_the_same_bits),
    CHECK(two_threads_give_the_same_bits),
    CHECK(inference_gives_the_same_and_a_dry_run_the_shapes),
    CHECK(a_batch_without_rows_is_possible),
    CHECK(no_floating_point_trap_is_sprung),
    CHECK(passes_a_failure_on),
    CHECK(refuses_integers),
    CHECK(refuses_a_mixture_of_types),
    CHECK(a_steady_step_takes_no_memory),
};

enum { CHECKS = sizeof checks / sizeof *checks };

int main(void)
{
    static char              name[ROWS * CHECKS][128];
    static struct CMUnitTest tests[ROWS * CHECKS];

    for (int i = 0; i < ROWS * CHECKS; i++) {
        row *r = &rows[i / CHECKS];
        snprintf(name[i], sizeof name[i], "%s: %s", r->name, checks[i % CHECKS].name);
        tests[i] = (struct CMUnitTest){ .name = name[i],
                                        .test_func = checks[i % CHECKS].check,
                                        .initial_state = r };
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
