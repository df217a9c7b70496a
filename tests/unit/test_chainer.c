/* The files that Chainer wrote, see tests/golden/chainer: all that is in them is read. */
#include "weft_test.h"
#include "weft/io.h"

#include <stdio.h>
#include <stdlib.h>

static weft_snapshot *opened(const char *name)
{
    const char *const root = getenv("WEFT_ROOT");
    char              path[1000];

    snprintf(path, sizeof path, "%s/tests/golden/chainer/%s", root != NULL ? root : ".", name);
    weft_snapshot *const snapshot = weft_snapshot_open(path);
    if (snapshot == NULL)
        print_error("%s\n", weft_error_message());
    assert_non_null(snapshot);
    return snapshot;
}

/* A tensor of f32 there, of this shape, whose first element and sum are these. */
static void holds(weft_snapshot *snapshot, const char *path, const char *shape, double first,
                  double sum)
{
    weft_tensor *x = weft_snapshot_read_tensor(snapshot, path);

    assert_non_null(x);
    assert_string_equal(weft_shape_text(x), shape);
    assert_near(first, weft_tensor_get(x, 0), 1e-8);
    for (int64_t i = 0; i < x->count; i++)
        sum -= weft_tensor_get(x, i);
    assert_near(0, sum, 1e-6);
    weft_tensor_destroy(x);
}

static void holds_int(weft_snapshot *snapshot, const char *path, int64_t expected)
{
    int64_t n = 0;

    assert_ok(weft_snapshot_get_int(snapshot, path, &n));
    assert_int_equal(n, expected);
}

static void holds_real(weft_snapshot *snapshot, const char *path, double expected)
{
    double x = 0;

    assert_ok(weft_snapshot_get_real(snapshot, path, &x));
    assert_near(expected, x, 0);
}

static void the_model_is_read(void **state)
{
    weft_snapshot *snapshot = opened("model_adam.h5");
    (void)state;

    holds_int(snapshot, "/bn/N", 0);
    holds(snapshot, "/bn/avg_mean", "(3) f32", 0.0699529201, 0.156484235);
    holds(snapshot, "/bn/avg_var", "(3) f32", 0.813324094, 2.44148004);
    holds(snapshot, "/bn/beta", "(3) f32", 0.000986742205, 0.00097431516);
    holds(snapshot, "/bn/gamma", "(3) f32", 0.998027027, 2.99797052);
    holds(snapshot, "/l1/W", "(3, 4) f32", -0.0796914622, 1.78760342);
    holds(snapshot, "/l1/b", "(3) f32", 0.000906505506, 0.00299622884);
    holds(snapshot, "/l2/W", "(2, 3) f32", 0.341455013, 0.838051077);
    holds(snapshot, "/l2/b", "(2) f32", 0.000985222636, 0);
    weft_snapshot_close(snapshot);
}

static void the_optimizer_is_read(void **state)
{
    weft_snapshot *snapshot = opened("opt_adam.h5");
    (void)state;

    holds_int(snapshot, "/epoch", 0);
    holds(snapshot, "/predictor/bn/beta/m", "(3) f32", 0.000415053219, 0.000242732232);
    holds_int(snapshot, "/predictor/bn/beta/t", 2);
    holds(snapshot, "/predictor/bn/beta/v", "(3) f32", 5.42863781e-05, 8.40377321e-05);
    holds(snapshot, "/predictor/bn/gamma/m", "(3) f32", 0.0593300685, 0.0847330322);
    holds_int(snapshot, "/predictor/bn/gamma/t", 2);
    holds(snapshot, "/predictor/bn/gamma/v", "(3) f32", 0.000205881457, 0.000268273352);
    holds(snapshot, "/predictor/l1/W/m", "(3, 4) f32", -0.0146541558, -0.0849344112);
    holds_int(snapshot, "/predictor/l1/W/t", 2);
    holds(snapshot, "/predictor/l1/W/v", "(3, 4) f32", 0.000384148501, 0.000761002617);
    holds(snapshot, "/predictor/l1/b/m", "(3) f32", -3.93390636e-08, -0.00571580904);
    holds_int(snapshot, "/predictor/l1/b/t", 2);
    holds(snapshot, "/predictor/l1/b/v", "(3) f32", 8.87610061e-17, 4.02929891e-06);
    holds(snapshot, "/predictor/l2/W/m", "(2, 3) f32", 0.0903142169, -1.49011612e-08);
    holds_int(snapshot, "/predictor/l2/W/t", 2);
    holds(snapshot, "/predictor/l2/W/v", "(2, 3) f32", 0.000476780406, 0.00188728064);
    holds(snapshot, "/predictor/l2/b/m", "(2) f32", 0.000704443082, 0);
    holds_int(snapshot, "/predictor/l2/b/t", 2);
    holds(snapshot, "/predictor/l2/b/v", "(2) f32", 0.000125856619, 0.000251713253);
    holds_int(snapshot, "/t", 2);
    weft_snapshot_close(snapshot);
}

static void the_trainer_is_read(void **state)
{
    weft_snapshot *snapshot = opened("tr_adam.h5");
    bool           flag = true;
    (void)state;

    holds_real(snapshot, "/_snapshot_elapsed_time", 0.0084181610000086948);
    holds_real(snapshot, "/stop_trigger/previous_epoch_detail", 0.80000000000000004);
    holds_int(snapshot, "/stop_trigger/previous_iteration", 2);
    holds_int(snapshot, "/updater/iteration", 2);
    holds_int(snapshot, "/updater/iterator:main/current_position", 8);
    holds_int(snapshot, "/updater/iterator:main/epoch", 0);
    assert_ok(weft_snapshot_get_bool(snapshot, "/updater/iterator:main/is_new_epoch", &flag));
    assert_false(flag);
    holds(snapshot, "/updater/iterator:main/order", "(10) i64", 2, 45);
    holds_real(snapshot, "/updater/iterator:main/previous_epoch_detail", 0.40000000000000002);
    holds_int(snapshot, "/updater/model:main/predictor/bn/N", 0);
    holds(snapshot, "/updater/model:main/predictor/bn/avg_mean", "(3) f32", 0.0699529201,
          0.156484235);
    holds(snapshot, "/updater/model:main/predictor/bn/avg_var", "(3) f32", 0.813324094, 2.44148004);
    holds(snapshot, "/updater/model:main/predictor/bn/beta", "(3) f32", 0.000986742205,
          0.00097431516);
    holds(snapshot, "/updater/model:main/predictor/bn/gamma", "(3) f32", 0.998027027, 2.99797052);
    holds(snapshot, "/updater/model:main/predictor/l1/W", "(3, 4) f32", -0.0796914622, 1.78760342);
    holds(snapshot, "/updater/model:main/predictor/l1/b", "(3) f32", 0.000906505506, 0.00299622884);
    holds(snapshot, "/updater/model:main/predictor/l2/W", "(2, 3) f32", 0.341455013, 0.838051077);
    holds(snapshot, "/updater/model:main/predictor/l2/b", "(2) f32", 0.000985222636, 0);
    holds_int(snapshot, "/updater/optimizer:main/epoch", 0);
    holds(snapshot, "/updater/optimizer:main/predictor/bn/beta/m", "(3) f32", 0.000415053219,
          0.000242732232);
    holds_int(snapshot, "/updater/optimizer:main/predictor/bn/beta/t", 2);
    holds(snapshot, "/updater/optimizer:main/predictor/bn/beta/v", "(3) f32", 5.42863781e-05,
          8.40377321e-05);
    holds(snapshot, "/updater/optimizer:main/predictor/bn/gamma/m", "(3) f32", 0.0593300685,
          0.0847330322);
    holds_int(snapshot, "/updater/optimizer:main/predictor/bn/gamma/t", 2);
    holds(snapshot, "/updater/optimizer:main/predictor/bn/gamma/v", "(3) f32", 0.000205881457,
          0.000268273352);
    holds(snapshot, "/updater/optimizer:main/predictor/l1/W/m", "(3, 4) f32", -0.0146541558,
          -0.0849344112);
    holds_int(snapshot, "/updater/optimizer:main/predictor/l1/W/t", 2);
    holds(snapshot, "/updater/optimizer:main/predictor/l1/W/v", "(3, 4) f32", 0.000384148501,
          0.000761002617);
    holds(snapshot, "/updater/optimizer:main/predictor/l1/b/m", "(3) f32", -3.93390636e-08,
          -0.00571580904);
    holds_int(snapshot, "/updater/optimizer:main/predictor/l1/b/t", 2);
    holds(snapshot, "/updater/optimizer:main/predictor/l1/b/v", "(3) f32", 8.87610061e-17,
          4.02929891e-06);
    holds(snapshot, "/updater/optimizer:main/predictor/l2/W/m", "(2, 3) f32", 0.0903142169,
          -1.49011612e-08);
    holds_int(snapshot, "/updater/optimizer:main/predictor/l2/W/t", 2);
    holds(snapshot, "/updater/optimizer:main/predictor/l2/W/v", "(2, 3) f32", 0.000476780406,
          0.00188728064);
    holds(snapshot, "/updater/optimizer:main/predictor/l2/b/m", "(2) f32", 0.000704443082, 0);
    holds_int(snapshot, "/updater/optimizer:main/predictor/l2/b/t", 2);
    holds(snapshot, "/updater/optimizer:main/predictor/l2/b/v", "(2) f32", 0.000125856619,
          0.000251713253);
    holds_int(snapshot, "/updater/optimizer:main/t", 2);
    weft_snapshot_close(snapshot);
}

static void a_model_goes_into_tensors_of_double(void **state)
{
    weft_snapshot *snapshot = opened("model_adam.h5");
    weft_tensor   *W = weft_tensor_zeros(WEFT_F64, 2, (int64_t[]){ 3, 4 });
    weft_tensor   *there = weft_snapshot_read_tensor(snapshot, "/l1/W");
    (void)state;

    assert_ok(weft_snapshot_get_tensor(snapshot, "/l1/W", W));
    for (int64_t i = 0; i < W->count; i++)
        assert_true(((double *)W->data)[i] == (double)((float *)there->data)[i]);
    weft_tensor_destroy(there);
    weft_tensor_destroy(W);
    weft_snapshot_close(snapshot);
}

/* The optimizer has a group at the path at which the model has the tensor. */
static void a_group_where_a_tensor_was_wanted_is_named(void **state)
{
    weft_snapshot *snapshot = opened("opt_adam.h5");
    weft_tensor   *W = weft_tensor_zeros(WEFT_F32, 2, (int64_t[]){ 3, 4 });
    (void)state;

    assert_fails(WEFT_E_FORMAT, weft_snapshot_get_tensor(snapshot, "/predictor/l1/W", W));
    assert_message_has("opt_adam.h5: /predictor/l1/W is a group, wanted (3, 4) f32");
    assert_fails(WEFT_E_FORMAT, weft_snapshot_get_tensor(snapshot, "/predictor/l1/V", W));
    assert_message_has("there is no /predictor/l1/V; the group /predictor/l1 has W, b");
    weft_tensor_destroy(W);
    weft_snapshot_close(snapshot);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_model_is_read),
        cmocka_unit_test(the_optimizer_is_read),
        cmocka_unit_test(the_trainer_is_read),
        cmocka_unit_test(a_model_goes_into_tensors_of_double),
        cmocka_unit_test(a_group_where_a_tensor_was_wanted_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
