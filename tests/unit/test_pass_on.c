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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_failure_is_the_one_reported),
        cmocka_unit_test(nothing_for_no_reason_is_a_failure_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
