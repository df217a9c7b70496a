/* Files that are not what they should be: none crashes, hangs or is taken for whole. */
#include "test_folder.h"
#include "weft/io.h"

#include <sys/stat.h>

static unsigned char good[20000]; /* a small snapshot */
static size_t        bytes;

static const char *write_bytes(const void *content, size_t n)
{
    test_write(test_path("x.h5"), content, n);
    return test_path("x.h5");
}

/* Change a part of x.h5 where it lies: much faster than a new file. */
static const char *overwrite(size_t at, const void *part, size_t n)
{
    FILE *const file = fopen(test_path("x.h5"), "r+b");

    assert_non_null(file);
    assert_int_equal(fseek(file, (long)at, SEEK_SET), 0);
    assert_int_equal(fwrite(part, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
    return test_path("x.h5");
}

static int make_good(void **state)
{
    weft_snapshot_writer *writer;
    float                 value[20];
    weft_tensor           x = weft_tensor_wrap(WEFT_F32, 2, (int64_t[]){ 4, 5 }, value);

    if (test_folder_begin(state) != 0)
        return 1;
    for (int i = 0; i < 20; i++)
        value[i] = (float)i / 3;
    writer = weft_snapshot_begin(test_path("good.h5"));
    weft_snapshot_put_tensor(writer, "/l1/W", &x);
    weft_snapshot_put_tensor(writer, "/l2/W", &x);
    weft_snapshot_put_int(writer, "/updater/iteration", 77);
    weft_snapshot_put_bool(writer, "/updater/flag", true);
    weft_snapshot_put_text(writer, "/weft", "plan", "l1 -> l2");
    if (weft_snapshot_commit(writer) != WEFT_OK)
        return 1;

    FILE *const file = fopen(test_path("good.h5"), "rb");
    bytes = fread(good, 1, sizeof good, file);
    fclose(file);
    return bytes == 0 || bytes == sizeof good;
}

/* Read all that is in the good file: everything as it was, or a failure of the right
 * kind with words. */
static weft_status read_all(weft_snapshot *snapshot)
{
    float       value[20] = { 0 };
    weft_tensor x = weft_tensor_wrap(WEFT_F32, 2, (int64_t[]){ 4, 5 }, value);
    int64_t     n;
    bool        flag;
    char       *plan;

    for (int l = 1; l <= 2; l++) {
        WEFT_TRY(weft_snapshot_get_tensor(snapshot, l == 1 ? "/l1/W" : "/l2/W", &x));
        for (int i = 0; i < 20; i++)
            assert_true(value[i] == (float)i / 3);
    }
    WEFT_TRY(weft_snapshot_get_int(snapshot, "/updater/iteration", &n));
    assert_int_equal(n, 77);
    WEFT_TRY(weft_snapshot_get_bool(snapshot, "/updater/flag", &flag));
    assert_true(flag);
    WEFT_TRY_NEW(plan = weft_snapshot_get_text(snapshot, "/weft", "plan"));
    assert_string_equal(plan, "l1 -> l2");
    weft_free(plan);
    return WEFT_OK;
}

static weft_status read_file(const char *path)
{
    weft_snapshot    *snapshot = weft_snapshot_open(path);
    const weft_status done = snapshot == NULL ? weft_error_status() : read_all(snapshot);

    weft_snapshot_close(snapshot);
    return done;
}

static void the_good_file_is_good(void **state)
{
    (void)state;
    assert_ok(read_file(write_bytes(good, bytes)));
}

/* ---- what is no file of ours at all ---- */

static void what_is_no_hdf5_file_is_refused(void **state)
{
    unsigned char noise[3000];
    (void)state;

    assert_fails(WEFT_E_IO, read_file(test_path("none.h5")));
    assert_message_has("none.h5: can not be opened: No such file");
    assert_fails(WEFT_E_IO, read_file(test_folder));
    assert_message_has("Is a directory");
    assert_fails(WEFT_E_IO, read_file("/dev/zero"));
    assert_message_has("not a regular file");
    assert_int_equal(mkfifo(test_path("pipe"), 0600), 0);
    assert_fails(WEFT_E_IO, read_file(test_path("pipe")));
    assert_fails(WEFT_E_FORMAT, read_file(write_bytes("", 0)));
    assert_message_has("x.h5: an empty file");
    assert_fails(WEFT_E_FORMAT, read_file(write_bytes("x", 1)));
    assert_fails(WEFT_E_FORMAT, read_file(write_bytes("\x89HDF\r\n\x1a\n", 8)));

    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (unsigned char)weft_random_bits(&(weft_random){ .key = 3 }, i);
    assert_fails(WEFT_E_FORMAT, read_file(write_bytes(noise, sizeof noise)));
    assert_message_has("x.h5: ");
    memcpy(noise, good, 8); /* HDF5's magic, then noise */
    assert_fails(WEFT_E_FORMAT, read_file(write_bytes(noise, sizeof noise)));
    memcpy(noise, good, 48); /* its whole first block */
    assert_fails(WEFT_E_FORMAT, read_file(write_bytes(noise, sizeof noise)));
}

/* ---- cut and flipped ---- */

static void a_file_cut_anywhere_is_refused(void **state)
{
    const char *const path = write_bytes(good, bytes);
    (void)state;

    for (size_t n = bytes; n-- > 0;) {
        assert_int_equal(truncate(path, (off_t)n), 0);
        const weft_status done = read_file(path);
        if (done == WEFT_OK)
            print_error("cut to %zu bytes of %zu\n", n, bytes);
        assert_fails(WEFT_E_FORMAT, done);
    }
}

static void a_file_with_more_behind_it_is_good(void **state)
{
    unsigned char more[sizeof good] = { 0 };
    (void)state;

    memcpy(more, good, bytes);
    assert_ok(read_file(write_bytes(more, bytes + 100)));
}

static void a_flipped_byte_is_found_or_does_not_matter(void **state)
{
    const unsigned char mask[] = { 0x01, 0xff };
    int                 found = 0;
    (void)state;

    write_bytes(good, bytes);
    for (size_t at = 0; at < bytes; at++)
        for (size_t m = 0; m < sizeof mask; m++) {
            const unsigned char flipped = good[at] ^ mask[m];
            const weft_status   done = read_file(overwrite(at, &flipped, 1));
            overwrite(at, &good[at], 1);
            found += done != WEFT_OK;
            if (done != WEFT_OK)
                assert_fails(WEFT_E_FORMAT, done);
        }
    assert_true(found > 1000); /* the rest is in gaps, which nobody reads */
}

/* As after a loss of power: a part of the file is zeros, or another file's bytes. */
static void a_lost_part_is_found_or_does_not_matter(void **state)
{
    unsigned char lost[1024] = { 0 };
    (void)state;

    write_bytes(good, bytes);
    for (int round = 0; round < 2; round++) {
        for (size_t length = 64; length <= sizeof lost; length *= 4)
            for (size_t at = 0; at + length <= bytes; at += 48) {
                const weft_status done = read_file(overwrite(at, lost, length));
                overwrite(at, good + at, length);
                if (done != WEFT_OK)
                    assert_fails(WEFT_E_FORMAT, done);
            }
        for (size_t i = 0; i < sizeof lost; i++)
            lost[i] = (unsigned char)weft_random_bits(&(weft_random){ .key = 5 }, i);
    }
}

static bool is_element_7(size_t at)
{
    float value;

    memcpy(&value, good + at, sizeof value);
    return value == 7 / 3.0f;
}

static void a_flipped_element_is_named(void **state)
{
    size_t at = 0;
    (void)state;

    while (!is_element_7(at))
        at++;
    good[at] ^= 4;
    assert_fails(WEFT_E_FORMAT, read_file(write_bytes(good, bytes)));
    good[at] ^= 4;
    assert_message_has("x.h5: /l1/W is damaged: its checksum is ");
}

static void load_changes_nothing_if_an_element_is_damaged(void **state)
{
    float       one[20] = { 0 }, two[20] = { 0 };
    weft_tensor x = weft_tensor_wrap(WEFT_F32, 2, (int64_t[]){ 4, 5 }, one);
    weft_tensor y = weft_tensor_wrap(WEFT_F32, 2, (int64_t[]){ 4, 5 }, two);
    weft_bundle both = { 2, (const char *const[]){ "l1/W", "l2/W" },
                         (weft_tensor *const[]){ &x, &y } };
    size_t      at = bytes - sizeof(float);
    (void)state;

    while (!is_element_7(at))
        at--;
    good[at] ^= 4;
    assert_fails(WEFT_E_FORMAT, weft_load(write_bytes(good, bytes), &both));
    good[at] ^= 4;
    assert_message_has("/l2/W is damaged");
    for (int i = 0; i < 20; i++)
        assert_true(one[i] == 0 && two[i] == 0);
}

static void nothing_is_left_in_memory(void **state)
{
    const int64_t blocks = weft_memory_now().blocks;

    what_is_no_hdf5_file_is_refused(state);
    a_flipped_element_is_named(state);
    assert_int_equal(weft_memory_now().blocks, blocks);
}

#define with_a_good_file(test) cmocka_unit_test_setup_teardown(test, make_good, test_folder_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_a_good_file(the_good_file_is_good),
        with_a_good_file(what_is_no_hdf5_file_is_refused),
        with_a_good_file(a_file_cut_anywhere_is_refused),
        with_a_good_file(a_file_with_more_behind_it_is_good),
        with_a_good_file(a_flipped_byte_is_found_or_does_not_matter),
        with_a_good_file(a_lost_part_is_found_or_does_not_matter),
        with_a_good_file(a_flipped_element_is_named),
        with_a_good_file(load_changes_nothing_if_an_element_is_damaged),
        with_a_good_file(nothing_is_left_in_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
