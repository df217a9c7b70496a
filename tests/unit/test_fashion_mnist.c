/* Debian's Fashion-MNIST, all of it. Skipped (77) where its package is not installed. */
#include "weft/data.h"
#include "weft_test.h"

#include <stdlib.h>

static const char *folder;

static void check_part(const char *part, int64_t n, int64_t each)
{
    int64_t       of_label[10] = { 0 };
    weft_dataset *d = weft_mnist_open(folder, part, WEFT_F32);
    weft_tensor  *t = weft_tensor_create(WEFT_I32, 1, (int64_t[]){ 1 });

    if (d == NULL)
        assert_string_equal("", weft_error_message());
    assert_int_equal(n, weft_dataset_length(d));
    assert_int_equal(784, weft_dataset_field(d, 0)->shape[0]);
    for (int64_t i = 0; i < n; i++) {
        assert_ok(weft_dataset_read(d, 1, 1, &i, t));
        assert_in_range(*(int32_t *)t->data, 0, 9);
        of_label[*(int32_t *)t->data]++;
    }
    for (int i = 0; i < 10; i++)
        assert_int_equal(each, of_label[i]);
    weft_tensor_destroy(t);
    weft_dataset_destroy(d);
}

static void fashion_mnist_is_read(void **state)
{
    (void)state;
    assert_string_equal("/usr/share/datasets/fashion-mnist", folder);
    check_part("train", 60000, 6000);
    check_part("test", 10000, 1000);
}

static void nothing_is_left_in_memory(void **state)
{
    (void)state;
    assert_int_equal(0, weft_memory_now().blocks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fashion_mnist_is_read),
        cmocka_unit_test(nothing_is_left_in_memory),
    };
    unsetenv("WEFT_DATA");
    folder = weft_mnist_folder(NULL);
    if (folder == NULL) {
        print_message("skipped: the package dataset-fashion-mnist is not installed\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
