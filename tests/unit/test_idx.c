/* IDX files: read raw and packed; every kind of damage refused in words. */
#include "test_folder.h"
#include "data/byte_source.h"
#include "data/idx.h"
#include "weft/data.h"

#include <zlib.h>

/* Two pictures of 2 x 3, and their labels. */
static const uint8_t pictures[] = { 0, 0, 8, 3, 0, 0,  0,  2,  0,  0,   0,   2,   0,   0,
                                    0, 3, 0, 1, 2, 50, 99, 51, 10, 102, 153, 204, 250, 255 };
static const uint8_t labels[] = { 0, 0, 8, 1, 0, 0, 0, 2, 7, 255 };

enum { PICTURES = sizeof pictures, LABELS = sizeof labels };

/* ---- making files ---------------------------------------------------------------- */

static const char *raw(const uint8_t *bytes, size_t n)
{
    const char *path = test_path("raw");
    test_write(path, bytes, n);
    return path;
}

/* Bytes as one gzip member at `to`. @return its length. */
static size_t pack(const uint8_t *bytes, size_t n, uint8_t *to, size_t room)
{
    z_stream z = { .next_in = NULL };
    assert_int_equal(Z_OK, deflateInit2(&z, 9, Z_DEFLATED, 16 + 15, 8, Z_DEFAULT_STRATEGY));
    uint8_t *const copy = weft_alloc((int64_t)n);
    memcpy(copy, bytes, n);
    z.next_in = copy;
    z.avail_in = (unsigned)n;
    z.next_out = to;
    z.avail_out = (unsigned)room;
    assert_int_equal(Z_STREAM_END, deflate(&z, Z_FINISH));
    deflateEnd(&z);
    weft_free(copy);
    return room - z.avail_out;
}

static const char *packed(const uint8_t *bytes, size_t n)
{
    uint8_t     to[1000];
    const char *path = test_path("packed"); /* told by its content, not by its name */
    test_write(path, to, pack(bytes, n, to, sizeof to));
    return path;
}

/* ---- good ones -------------------------------------------------------------------- */

static void check_pictures(const char *path)
{
    weft__idx idx;
    assert_ok(weft__idx_read(path, 3, &idx));
    assert_int_equal(2, idx.shape[0]);
    assert_int_equal(2, idx.shape[1]);
    assert_int_equal(3, idx.shape[2]);
    assert_memory_equal(pictures + 16, idx.bytes, 12);
    weft_free(idx.bytes);
}

static void raw_and_packed_files_are_read(void **state)
{
    (void)state;
    check_pictures(raw(pictures, PICTURES));
    check_pictures(packed(pictures, PICTURES));
}

static void a_packed_file_may_have_several_members(void **state)
{
    (void)state;
    for (size_t cut = 1; cut < PICTURES; cut++) {
        uint8_t to[1000];
        size_t  n = pack(pictures, cut, to, sizeof to);
        n += pack(pictures + cut, PICTURES - cut, to + n, sizeof to - n);
        test_write(test_path("members"), to, n);
        check_pictures(test_path("members"));
    }
}

/* Longer than the window of packed bytes, and not compressible. */
static void long_packed_files_are_read(void **state)
{
    (void)state;
    enum { N = 1000000 };
    const uint8_t head[] = { 0, 0, 8, 1, 0, 0x0f, 0x42, 0x40 };
    uint8_t      *bytes = weft_alloc(N + 8), *to = weft_alloc(2 * N);
    weft__idx     idx;

    memcpy(bytes, head, 8);
    for (uint32_t i = 0, x = 1; i < N; i++, x = x * 1664525 + 1013904223)
        bytes[8 + i] = (uint8_t)(x >> 24);
    test_write(test_path("long"), to, pack(bytes, N + 8, to, 2 * N));
    assert_ok(weft__idx_read(test_path("long"), 1, &idx));
    assert_int_equal(N, idx.shape[0]);
    assert_memory_equal(bytes + 8, idx.bytes, N);
    weft_free(idx.bytes);
    weft_free(bytes);
    weft_free(to);
}

static void pixels_are_divided_by_255(void **state)
{
    (void)state;
    uint8_t head[16 + 256] = { 0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 16, 0, 0, 0, 16 };
    for (int i = 0; i < 256; i++)
        head[16 + i] = (uint8_t)i;
    const uint8_t one[] = { 0, 0, 8, 1, 0, 0, 0, 1, 9 };
    test_write(test_path("x"), head, sizeof head);
    test_write(test_path("t"), one, sizeof one);

    for (int kernels = 0; kernels < 2; kernels++) {
        if (weft_kernels_choose(kernels == 0 ? "baseline" : "avx2") != WEFT_OK)
            continue;
        for (weft_dtype dtype = WEFT_F32; dtype <= WEFT_F64; dtype++) {
            weft_dataset *d = weft_idx_open(test_path("x"), test_path("t"), dtype);
            weft_tensor  *x = weft_tensor_create(dtype, 2, (int64_t[]){ 1, 256 });
            assert_non_null(d);
            assert_ok(weft_dataset_read(d, 0, 1, (int64_t[]){ 0 }, x));
            for (int i = 0; i < 256; i++) {
                const volatile float  f = (float)i / 255;
                const volatile double g = (double)i / 255;
                assert_true(weft_tensor_get(x, i) == (dtype == WEFT_F32 ? (double)f : g));
            }
            weft_tensor_destroy(x);
            weft_dataset_destroy(d);
        }
    }
    weft_kernels_choose(NULL);
}

static void a_set_has_pixels_and_labels(void **state)
{
    (void)state;
    weft_dataset *d = weft_idx_open(raw(pictures, PICTURES), packed(labels, LABELS), WEFT_F64);
    assert_non_null(d);
    assert_int_equal(2, weft_dataset_length(d));
    assert_int_equal(2, weft_dataset_fields(d));
    assert_string_equal("x", weft_dataset_field(d, 0)->name);
    assert_int_equal(6, weft_dataset_field(d, 0)->shape[0]);
    assert_string_equal("t", weft_dataset_field(d, 1)->name);
    assert_int_equal(0, weft_dataset_field(d, 1)->ndim);

    weft_tensor *x = weft_tensor_create(WEFT_F64, 2, (int64_t[]){ 3, 6 });
    weft_tensor *t = weft_tensor_create(WEFT_I32, 1, (int64_t[]){ 3 });
    assert_ok(weft_dataset_read(d, 0, 3, (int64_t[]){ 1, 0, 1 }, x));
    assert_ok(weft_dataset_read(d, 1, 3, (int64_t[]){ 1, 0, 1 }, t));
    for (int i = 0; i < 6; i++) {
        assert_near(pictures[16 + 6 + i] / 255., weft_tensor_get(x, i), 0);
        assert_near(pictures[16 + i] / 255., weft_tensor_get(x, 6 + i), 0);
        assert_near(pictures[16 + 6 + i] / 255., weft_tensor_get(x, 12 + i), 0);
    }
    assert_near(255, weft_tensor_get(t, 0), 0);
    assert_near(7, weft_tensor_get(t, 1), 0);
    assert_near(255, weft_tensor_get(t, 2), 0);
    weft_tensor_destroy(x);
    weft_tensor_destroy(t);
    weft_dataset_destroy(d);
}

/* ---- damaged ones ------------------------------------------------------------------ */

static weft_status read_and_drop(const char *path, int axes)
{
    weft__idx         idx;
    const weft_status done = weft__idx_read(path, axes, &idx);
    weft_free(idx.bytes);
    return done;
}

static void refused(const char *path, int axes, const char *words)
{
    assert_fails(WEFT_E_FORMAT, read_and_drop(path, axes));
    assert_message_has(path);
    assert_message_has(words);
}

/* Raw and packed alike: what is wrong, and at which offset. */
static void both_refused(const uint8_t *bytes, size_t n, int axes, const char *offset,
                         const char *words)
{
    char at[100];
    refused(raw(bytes, n), axes, words);
    snprintf(at, sizeof at, "raw, offset %s: ", offset);
    assert_message_has(at);
    refused(packed(bytes, n), axes, words);
    snprintf(at, sizeof at, "packed, offset %s of the unpacked bytes: ", offset);
    assert_message_has(at);
}

static void a_file_cut_anywhere_is_refused(void **state)
{
    (void)state;
    for (size_t n = 0; n < PICTURES; n++) {
        char words[100];
        snprintf(words, sizeof words, "offset %zu", n < 16 ? n / 4 * 4 : n);
        refused(raw(pictures, n), 3, words);
        refused(packed(pictures, n), 3, words);
    }
}

static void a_short_file_says_where_it_ends(void **state)
{
    (void)state;
    both_refused(pictures, 2, 3, "0",
                 "the data ends after 2 of the 4 bytes of an IDX magic number");
    both_refused(pictures, 9, 3, "8", "the data ends after 1 of the 4 bytes of an extent");
    refused(raw(pictures, 20), 3, "offset 20: the data ends here, but from offset 16 on 2 x 2 x 3");
    refused(packed(pictures, 20), 3,
            "offset 20 of the unpacked bytes: the data ends here, but from "
            "offset 16 on 12 bytes are expected");
}

static void a_long_file_is_refused(void **state)
{
    (void)state;
    uint8_t more[PICTURES + 1] = { 0 };
    memcpy(more, pictures, PICTURES);
    both_refused(more, PICTURES + 1, 3, "28", "the data should end here");
}

static void another_magic_number_is_refused(void **state)
{
    (void)state;
    const uint8_t floats[] = { 0, 0, 13, 1, 0, 0, 0, 1, 0, 0, 128, 63 };
    const uint8_t page[] = "<html>not what was asked for</html>";
    both_refused(labels, LABELS, 3, "0",
                 "0x00000801, expected 0x00000803 (IDX, unsigned bytes, "
                 "axes: 3)");
    both_refused(pictures, PICTURES, 1, "0", "0x00000803, expected 0x00000801");
    both_refused(floats, sizeof floats, 1, "0", "0x00000d01, expected 0x00000801");
    both_refused(page, sizeof page, 1, "0", "0x3c68746d, expected");
}

static void an_extent_of_0_is_refused(void **state)
{
    (void)state;
    uint8_t bytes[PICTURES];
    memcpy(bytes, pictures, PICTURES);
    bytes[11] = 0;
    both_refused(bytes, PICTURES, 3, "8", "the extent of axis 1 is 0, expected 1 or more");
}

/* Also extents whose product needs 96 bits, or is 2^64 and would pass for 0. */
static void a_header_is_not_believed(void **state)
{
    (void)state;
    static const uint8_t extents[][12] = {
        { 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255 },
        { 128, 0, 0, 0, 128, 0, 0, 0, 0, 0, 0, 4 },
        { 0, 255, 255, 255, 0, 0, 0, 28, 0, 0, 0, 28 },
    };
    const int64_t before = weft_memory_now().peak_bytes;
    for (int i = 0; i < 3; i++) {
        uint8_t bytes[PICTURES];
        memcpy(bytes, pictures, PICTURES);
        memcpy(bytes + 4, extents[i], 12);
        refused(raw(bytes, PICTURES), 3, "offset 28: the data ends here, but from offset 16 on ");
        refused(packed(bytes, PICTURES), 3,
                "bytes expected from here on, but the file can not "
                "unpack to more than ");
    }
    assert_message_has("16777215 x 28 x 28");
    assert_in_range(weft_memory_now().peak_bytes - before, 0, 1 << 20);
}

static void a_damaged_checksum_is_refused(void **state)
{
    (void)state;
    uint8_t      to[1000];
    const size_t n = pack(pictures, PICTURES, to, sizeof to);

    to[n - 8] ^= 1; /* the checksum, then the length, four bytes each */
    test_write(test_path("crc"), to, n);
    refused(test_path("crc"), 3,
            "offset 28 of the unpacked bytes: the gzip stream is damaged at or "
            "before byte ");
    assert_message_has("incorrect data check");
    to[n - 8] ^= 1;
    to[n - 1] ^= 1;
    test_write(test_path("crc"), to, n);
    refused(test_path("crc"), 3, "incorrect length check");
}

static void a_packed_file_cut_anywhere_is_refused(void **state)
{
    (void)state;
    uint8_t      to[1000];
    const size_t n = pack(pictures, PICTURES, to, sizeof to);
    for (size_t cut = 2; cut < n; cut++) {
        test_write(test_path("cut"), to, cut);
        refused(test_path("cut"), 3, "the gzip stream breaks off at the end of the file, byte ");
    }
}

/* Unused bits at the end of the last block are harmless, up to seven. */
static void any_flipped_bit_is_refused_or_harmless(void **state)
{
    (void)state;
    uint8_t      to[1000];
    const size_t n = pack(pictures, PICTURES, to, sizeof to);
    int          harmless = 0;

    for (size_t bit = 8 * 10; bit < 8 * n; bit++) { /* behind the header of gzip */
        to[bit / 8] ^= (uint8_t)(1 << bit % 8);
        test_write(test_path("bit"), to, n);
        if (read_and_drop(test_path("bit"), 3) == WEFT_OK) {
            check_pictures(test_path("bit"));
            harmless++;
        }
        to[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    assert_in_range(harmless, 0, 7);
}

static void what_follows_a_packed_file_is_refused(void **state)
{
    (void)state;
    uint8_t      to[1000];
    const size_t n = pack(pictures, PICTURES, to, sizeof to);
    char         words[100];

    memcpy(to + n, "more", 4);
    test_write(test_path("more"), to, n + 4);
    snprintf(
        words, sizeof words,
        "offset 28 of the unpacked bytes: the file should end here, but from byte %zu of it on", n);
    refused(test_path("more"), 3, words);
}

static void numbers_of_pictures_and_labels_must_agree(void **state)
{
    (void)state;
    uint8_t three[] = { 0, 0, 8, 1, 0, 0, 0, 3, 7, 8, 9 };
    test_write(test_path("three"), three, sizeof three);
    assert_null(weft_idx_open(raw(pictures, PICTURES), test_path("three"), WEFT_F32));
    assert_int_equal(WEFT_E_FORMAT, weft_error_status());
    assert_message_has("raw, offset 4: 2 images, but ");
    assert_message_has("three, offset 4: 3 labels");
}

static void what_is_no_file_is_refused(void **state)
{
    (void)state;
    assert_fails(WEFT_E_IO, read_and_drop(test_path("nowhere"), 1));
    assert_message_has("nowhere: No such file or directory");
    assert_fails(WEFT_E_IO, read_and_drop(test_folder, 1));
    assert_message_has("not a file but a folder, pipe or device");
    assert_fails(WEFT_E_IO, read_and_drop("/dev/zero", 1));
}

static void integers_are_refused_for_pixels(void **state)
{
    (void)state;
    assert_null(weft_idx_open(raw(pictures, PICTURES), packed(labels, LABELS), WEFT_I32));
    assert_int_equal(WEFT_E_DTYPE, weft_error_status());
    assert_message_has("i32");
}

static void nothing_is_left_in_memory(void **state)
{
    (void)state;
    assert_int_equal(0, weft_memory_now().blocks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(raw_and_packed_files_are_read),
        cmocka_unit_test(a_packed_file_may_have_several_members),
        cmocka_unit_test(long_packed_files_are_read),
        cmocka_unit_test(pixels_are_divided_by_255),
        cmocka_unit_test(a_set_has_pixels_and_labels),
        cmocka_unit_test(a_file_cut_anywhere_is_refused),
        cmocka_unit_test(a_short_file_says_where_it_ends),
        cmocka_unit_test(a_long_file_is_refused),
        cmocka_unit_test(another_magic_number_is_refused),
        cmocka_unit_test(an_extent_of_0_is_refused),
        cmocka_unit_test(a_header_is_not_believed),
        cmocka_unit_test(a_damaged_checksum_is_refused),
        cmocka_unit_test(a_packed_file_cut_anywhere_is_refused),
        cmocka_unit_test(any_flipped_bit_is_refused_or_harmless),
        cmocka_unit_test(what_follows_a_packed_file_is_refused),
        cmocka_unit_test(numbers_of_pictures_and_labels_must_agree),
        cmocka_unit_test(what_is_no_file_is_refused),
        cmocka_unit_test(integers_are_refused_for_pixels),
        cmocka_unit_test(nothing_is_left_in_memory),
    };
    return cmocka_run_group_tests(tests, test_folder_begin, test_folder_end);
}
