/* Bundles: tensors found by name, and counted. */
#include "weft_test.h"
#include "weft/tensor.h"

static weft_tensor  W = { .ndim = 2, .shape = { 3, 4 }, .count = 12 };
static weft_tensor  b = { .ndim = 1, .shape = { 3 }, .count = 3 };
static weft_tensor *both[] = { &W, &b };
static const char  *names[] = { "l1/W", "l1/b" };

static const weft_bundle bundle = { .n = 2, .name = names, .at = both };

static void tensors_are_found_by_name(void **state)
{
    (void)state;
    assert_ptr_equal(&W, weft_bundle_find(&bundle, "l1/W"));
    assert_ptr_equal(&b, weft_bundle_find(&bundle, "l1/b"));
}

static void a_name_that_is_not_there_is_no_failure(void **state)
{
    (void)state;
    weft_error_clear();
    assert_null(weft_bundle_find(&bundle, "l1"));
    assert_null(weft_bundle_find(&bundle, "l1/W2"));
    assert_null(weft_bundle_find(&(weft_bundle){ 0 }, "l1/W"));
    assert_int_equal(WEFT_OK, weft_error_status());
}

static void elements_are_counted(void **state)
{
    (void)state;
    assert_int_equal(15, weft_bundle_count(&bundle));
    assert_int_equal(0, weft_bundle_count(&(weft_bundle){ 0 }));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_are_found_by_name),
        cmocka_unit_test(a_name_that_is_not_there_is_no_failure),
        cmocka_unit_test(elements_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
