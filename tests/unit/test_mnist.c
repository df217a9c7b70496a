/* MNIST's folder: both spellings, raw and packed. */
#include "test_folder.h"
#include "weft/data.h"

static const uint8_t pictures[16 + 2 * 784] = { 0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 28, 0, 0, 0, 28 };
static const uint8_t small[] = { 0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 1, 51, 255 };
static const uint8_t labels[] = { 0, 0, 8, 1, 0, 0, 0, 2, 3, 4 };

static int write_labels(void **state)
{
    (void)state;
    test_write(test_path("train-labels-idx1-ubyte"), labels, sizeof labels);
    return 0;
}

static int clear_folder(void **state)
{
    (void)state;
    unlink(test_path("train-labels-idx1-ubyte"));
    unlink(test_path("train-images-idx3-ubyte"));
    unlink(test_path("train-images.idx3-ubyte"));
    unlink(test_path("train-images.idx3-ubyte.gz"));
    return 0;
}

static void opens(const char *images)
{
    test_write(test_path(images), pictures, sizeof pictures);
    weft_dataset *d = weft_mnist_open(test_folder, "train", WEFT_F32);
    if (d == NULL)
        assert_string_equal("", weft_error_message());
    assert_int_equal(2, weft_dataset_length(d));
    weft_dataset_destroy(d);
}

static void both_spellings_are_found(void **state)
{
    (void)state;
    opens("train-images-idx3-ubyte");
    unlink(test_path("train-images-idx3-ubyte"));
    opens("train-images.idx3-ubyte");
    unlink(test_path("train-images.idx3-ubyte"));
    opens("train-images.idx3-ubyte.gz"); /* though it is not packed */
}

static void fails(const char *folder, const char *part, weft_status status, const char *words)
{
    assert_null(weft_mnist_open(folder, part, WEFT_F32));
    assert_int_equal(status, weft_error_status());
    assert_message_has(words);
}

static void what_is_missing_is_named(void **state)
{
    (void)state;
    fails(test_folder, "train", WEFT_E_IO,
          "/train-images-idx3-ubyte: no such file, nor "
          "train-images.idx3-ubyte, nor either with .gz");
    fails(test_folder, "test", WEFT_E_IO, "/t10k-images-idx3-ubyte: no such file");
    fails("/nowhere/at/all", "train", WEFT_E_IO, "/nowhere/at/all: No such file or directory");
    fails(test_folder, "validation", WEFT_E_ARG, "\"validation\"");
}

static void labels_are_missed_too(void **state)
{
    (void)state;
    test_write(test_path("train-images-idx3-ubyte"), pictures, sizeof pictures);
    fails(test_folder, "train", WEFT_E_IO, "/train-labels-idx1-ubyte: no such file");
}

static void a_folder_is_wanted(void **state)
{
    (void)state;
    fails(test_path("train-labels-idx1-ubyte"), "train", WEFT_E_IO,
          "/train-labels-idx1-ubyte: not a folder");
    fails("", "train", WEFT_E_ARG, "the name of the folder of images is empty");
    fails(NULL, "train", WEFT_E_ARG, "the name of the folder of images is empty");
    fails(test_folder, NULL, WEFT_E_ARG, "no part of MNIST");
}

static void images_have_28_rows_and_columns(void **state)
{
    (void)state;
    test_write(test_path("train-images-idx3-ubyte"), small, sizeof small);
    fails(test_folder, "train", WEFT_E_FORMAT,
          "/train-images-idx3-ubyte, offset 8: images of 1 x 1, expected 28 x 28");
}

static void labels_are_0_to_9(void **state)
{
    static const uint8_t wrong[] = { 0, 0, 8, 1, 0, 0, 0, 2, 9, 10 };
    (void)state;
    test_write(test_path("train-images-idx3-ubyte"), pictures, sizeof pictures);
    test_write(test_path("train-labels-idx1-ubyte"), wrong, sizeof wrong);
    fails(test_folder, "train", WEFT_E_FORMAT,
          "/train-labels-idx1-ubyte, offset 9: sample 1 has label 10, expected 0 to 9");
}

static void the_folder_is_what_was_named_first(void **state)
{
    (void)state;
    setenv("WEFT_DATA", "/from/environment", 1);
    assert_string_equal("/from/argument", weft_mnist_folder("/from/argument"));
    assert_string_equal("/from/environment", weft_mnist_folder(NULL));
    setenv("WEFT_DATA", "", 1);
    assert_null(weft_mnist_folder(NULL)); /* nothing, with or without Debian's package */
    assert_string_equal("/from/argument", weft_mnist_folder("/from/argument"));
    unsetenv("WEFT_DATA");
}

static void nothing_is_left_in_memory(void **state)
{
    (void)state;
    assert_int_equal(0, weft_memory_now().blocks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(both_spellings_are_found, write_labels, clear_folder),
        cmocka_unit_test_setup_teardown(what_is_missing_is_named, write_labels, clear_folder),
        cmocka_unit_test_teardown(labels_are_missed_too, clear_folder),
        cmocka_unit_test_setup_teardown(a_folder_is_wanted, write_labels, clear_folder),
        cmocka_unit_test_setup_teardown(images_have_28_rows_and_columns, write_labels,
                                        clear_folder),
        cmocka_unit_test_teardown(labels_are_0_to_9, clear_folder),
        cmocka_unit_test(the_folder_is_what_was_named_first),
        cmocka_unit_test(nothing_is_left_in_memory),
    };
    return cmocka_run_group_tests(tests, test_folder_begin, test_folder_end);
}
