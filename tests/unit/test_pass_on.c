/* Makers that are handed NULL by a maker that failed pass its failure on, so that
 * makers can be nested and the first cause is the one reported. */
#include "weft/data.h"
#include "weft/nn.h"
#include "weft/optim.h"
#include "weft/ops.h"
#include "weft_test.h"

/* ---- the makers; each gives NULL for nothing ------------------------------------- */

static const void *batches(void)
{
    return weft_batches_create(NULL, &(weft_batches_options){ .batch = 1 });
}

static const void *tensor_dataset(void)
{
    return weft_tensor_dataset(1, (const char *[]){ "x" }, (const weft_tensor *[]){ NULL });
}

static const void *slice(void)
{
    return weft_tensor_slice(NULL, 0, 1);
}

static const void *copy(void)
{
    return weft_tensor_copy(NULL);
}

static const void *reshape(void)
{
    return weft_tensor_reshape(NULL, 1, (int64_t[]){ 1 });
}

static const void *convert(void)
{
    return weft_tensor_convert(NULL, WEFT_F32);
}

static const void *input(void)
{
    return weft_input(NULL, &(weft_tensor){ .dtype = WEFT_F32 });
}

static const void *params(void)
{
    return weft_params_create(NULL, NULL);
}

static const void *param(void)
{
    return weft_layer_param(NULL, "W", 1, (int64_t[]){ 1 }, (weft_initial){ WEFT_CONSTANT, 0 });
}

static const void *forward(void)
{
    return weft_forward(NULL, NULL);
}

static const void *variables(void)
{
    return weft_layer_forward(NULL, weft_one(NULL)).at[0];
}

static const void *sgd(void)
{
    return weft_sgd_create(NULL, NULL);
}

static const void *momentum(void)
{
    return weft_momentum_create(NULL, NULL);
}

static const void *nesterov(void)
{
    return weft_nesterov_create(NULL, NULL);
}

static const void *adam(void)
{
    return weft_adam_create(NULL, NULL);
}

static const void *adamw(void)
{
    return weft_adamw_create(NULL, NULL);
}

/* ---- doers that give something to what a maker made; not NULL if they succeed ---- */

static const void *result(weft_status done)
{
    return done == WEFT_OK ? "success" : NULL;
}

static const void *chain_add(void)
{
    return result(weft_chain_add(NULL, "l1", weft_linear_create(2, 1, NULL)));
}

static const void *chain_add_nothing(void)
{
    weft_layer *const chain = weft_chain_create();
    const weft_status done = weft_chain_add(chain, "l1", NULL);
    weft_layer_destroy(chain);
    return result(done);
}

static const void *decay(void)
{
    return result(weft_optim_add_decay(NULL, 0.1));
}

static const void *clip(void)
{
    return result(weft_optim_add_clip_norm(NULL, 1));
}

static const struct {
    const char *name;
    const void *(*call)(void);
} table[] = {
    { "weft_batches_create", batches },
    { "weft_tensor_dataset", tensor_dataset },
    { "weft_tensor_slice", slice },
    { "weft_tensor_copy", copy },
    { "weft_tensor_reshape", reshape },
    { "weft_tensor_convert", convert },
    { "weft_input", input },
    { "weft_params_create", params },
    { "weft_layer_param", param },
    { "weft_forward", forward },
    { "weft_layer_forward", variables },
    { "weft_sgd_create", sgd },
    { "weft_momentum_create", momentum },
    { "weft_nesterov_create", nesterov },
    { "weft_adam_create", adam },
    { "weft_adamw_create", adamw },
    { "weft_chain_add to nothing", chain_add },
    { "weft_chain_add of nothing", chain_add_nothing },
    { "weft_optim_add_decay", decay },
    { "weft_optim_add_clip_norm", clip },
};

static void check(int i, weft_status status, const char *message)
{
    const void *const got = table[i].call();

    if (got != NULL || weft_error_status() != status ||
        strstr(weft_error_message(), message) == NULL)
        print_error("%s: %s\n", table[i].name, weft_error_message());
    assert_null(got);
    assert_int_equal(status, weft_error_status());
    assert_message_has(message);
    assert_int_equal(0, weft_memory_now().blocks);
}

static void the_first_failure_is_the_one_reported(void **state)
{
    (void)state;
    for (int i = 0; i < (int)(sizeof table / sizeof *table); i++) {
        (void)WEFT_FAIL(WEFT_E_IO, "cannot open weights.h5");
        check(i, WEFT_E_IO, "cannot open weights.h5");
    }
}

static void nothing_for_no_reason_is_a_failure_too(void **state)
{
    (void)state;
    for (int i = 0; i < (int)(sizeof table / sizeof *table); i++) {
        weft_error_clear();
        check(i, WEFT_E_STATE, "gave nothing and no reason");
    }
}

/* ---- what is wrong in itself ------------------------------------------------------ */

#define REFUSED(words, got)                                                                        \
    do {                                                                                           \
        assert_null(got);                                                                          \
        assert_int_equal(WEFT_E_ARG, weft_error_status());                                         \
        assert_message_has(words);                                                                 \
    } while (0)

static void data_without_a_part_of_it_is_refused(void **state)
{
    const weft_tensor  none = weft_tensor_wrap(WEFT_F32, 1, (int64_t[]){ 3 }, NULL);
    float              three[3] = { 0 };
    const weft_tensor  there = weft_tensor_wrap(WEFT_F32, 1, (int64_t[]){ 3 }, three);
    const weft_tensor *x[] = { &there };
    weft_dataset      *empty = weft_empty_dataset(3);
    (void)state;

    REFUSED("\"x\", (3) f32 without data",
            weft_tensor_dataset(1, (const char *[]){ "x" }, (const weft_tensor *[]){ &none }));
    REFUSED("(3) f32 without a name", weft_tensor_dataset(1, (const char *[]){ NULL }, x));
    REFUSED("without names", weft_tensor_dataset(1, NULL, x));
    REFUSED("without tensors", weft_tensor_dataset(1, (const char *[]){ "x" }, NULL));
    REFUSED("batches without options", weft_batches_create(empty, NULL));
    REFUSED("no part of the synthetic set", weft_synthetic_mnist(10, NULL, 0, WEFT_F32));
    REFUSED("\"best\"", weft_synthetic_mnist(10, "best", 0, WEFT_F32));
    weft_dataset_destroy(empty);
    assert_int_equal(0, weft_memory_now().blocks);
}

static void more_axes_than_possible_are_refused_by_who_checks(void **state)
{
    const int64_t     shape[9] = { 1, 1, 1, 1, 1, 1, 1, 1, 7 };
    float             one = 0;
    const weft_tensor x = weft_tensor_wrap(WEFT_F32, 9, shape, &one);
    (void)state;

    assert_int_equal(1, x.count);
    REFUSED("9 axes", weft_tensor_copy(&x));
}

static void backward_from_nothing_is_refused(void **state)
{
    weft_tape *tape = weft_tape_create();
    (void)state;

    weft_error_clear();
    assert_fails(WEFT_E_ARG, weft_tape_backward(tape, 1, NULL));
    weft_error_clear();
    assert_fails(WEFT_E_ARG, weft_tape_backward(NULL, 0, NULL));
    assert_ok(weft_tape_clear(NULL));
    weft_tape_destroy(tape);
}

static void there_is_no_parameter_behind_the_last(void **state)
{
    weft_layer  *layer = weft_linear_create(2, 1, NULL);
    weft_params *params_of = weft_params_create(layer, NULL);
    const int    n = weft_params_n(params_of);
    (void)state;

    assert_non_null(weft_params_var(params_of, n - 1));
    assert_null(weft_params_var(params_of, n));
    assert_null(weft_params_var(params_of, -1));
    assert_null(weft_params_name(params_of, n));
    assert_null(weft_params_name(params_of, -1));
    weft_params_destroy(params_of);
    weft_layer_destroy(layer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_failure_is_the_one_reported),
        cmocka_unit_test(nothing_for_no_reason_is_a_failure_too),
        cmocka_unit_test(data_without_a_part_of_it_is_refused),
        cmocka_unit_test(more_axes_than_possible_are_refused_by_who_checks),
        cmocka_unit_test(backward_from_nothing_is_refused),
        cmocka_unit_test(there_is_no_parameter_behind_the_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
