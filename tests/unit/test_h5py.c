/* Snapshots and h5py: each reads what the other wrote. Skipped (77) without h5py. */
#include "test_folder.h"
#include "weft/io.h"

#include <sys/wait.h>

/* The exit status of tests/golden/snapshot.py. */
static int script(const char *command, const char *path)
{
    const char *const root = getenv("WEFT_ROOT");
    char              line[1000];

    snprintf(line, sizeof line, "/usr/bin/python3 %s/tests/golden/snapshot.py %s %s",
             root != NULL ? root : ".", command, path);
    const int status = system(line);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static weft_tensor *counting(weft_dtype dtype, int ndim, const int64_t *shape)
{
    weft_tensor *x = weft_tensor_create(dtype, ndim, shape);

    for (int64_t i = 0; i < x->count; i++)
        weft_tensor_set(x, i, (double)(i + 1));
    return x;
}

static void put(weft_snapshot_writer *writer, const char *path, weft_tensor *x)
{
    assert_ok(weft_snapshot_put_tensor(writer, path, x));
    weft_tensor_destroy(x);
}

static void h5py_reads_what_weft_writes(void **state)
{
    const char *const     path = test_path("weft.h5");
    weft_snapshot_writer *writer = weft_snapshot_begin(path);
    const int64_t         shape[] = { 3, 4 };
    (void)state;

    put(writer, "/all/f32", counting(WEFT_F32, 2, shape));
    put(writer, "/all/f64", counting(WEFT_F64, 2, shape));
    put(writer, "/all/i32", counting(WEFT_I32, 2, shape));
    put(writer, "/all/i64", counting(WEFT_I64, 2, shape));
    put(writer, "/all/u8", counting(WEFT_U8, 2, shape));
    put(writer, "/one", counting(WEFT_F32, 1, (int64_t[]){ 1 }));
    put(writer, "/none", counting(WEFT_F32, 2, (int64_t[]){ 0, 5 }));
    assert_ok(weft_snapshot_put_int(writer, "/updater/iteration", 600));
    assert_ok(weft_snapshot_put_real(writer, "/updater/iterator:main/previous_epoch_detail", 0.1));
    assert_ok(weft_snapshot_put_bool(writer, "/updater/iterator:main/is_new_epoch", true));
    assert_ok(weft_snapshot_put_text(writer, "/weft", "plan", "l1 \xe2\x86\x92 l2"));
    assert_ok(weft_snapshot_put_group(writer, "/extensions"));
    assert_ok(weft_snapshot_commit(writer));
    assert_int_equal(script("check", path), 0);
}

/* ---- the other way ---- */

static weft_snapshot *made; /* by h5py */

static int make(void **state)
{
    if (test_folder_begin(state) != 0 || script("make", test_path("h5py.h5")) != 0)
        return 1;
    made = weft_snapshot_open(test_path("h5py.h5"));
    return made == NULL;
}

static int unmake(void **state)
{
    weft_snapshot_close(made);
    return test_folder_end(state);
}

/* 1 to 12 there, whatever the type in the file. */
static void counts(weft_snapshot *snapshot, const char *path, weft_dtype dtype)
{
    weft_tensor *x = weft_tensor_zeros(dtype, 2, (int64_t[]){ 3, 4 });

    assert_ok(weft_snapshot_check_tensor(snapshot, path, x));
    assert_ok(weft_snapshot_get_tensor(snapshot, path, x));
    for (int64_t i = 0; i < x->count; i++)
        assert_near((double)(i + 1), weft_tensor_get(x, i), 0);
    weft_tensor_destroy(x);
}

static void weft_reads_all_numbers(void **state)
{
    static const char *const type[] = { "<f2", "<f4", ">f4", "<f8", "<i2", ">i4", "<u4", "<i8" };
    char                     path[20];
    (void)state;

    for (size_t i = 0; i < sizeof type / sizeof *type; i++) {
        snprintf(path, sizeof path, "/all/%s", type[i]);
        counts(made, path, WEFT_F32);
        counts(made, path, WEFT_F64);
        if (type[i][1] != 'f')
            counts(made, path, WEFT_I32);
    }
}

static void weft_reads_what_is_packed(void **state)
{
    weft_tensor *x;
    (void)state;

    counts(made, "/deflate/1", WEFT_F32);
    counts(made, "/deflate/4", WEFT_F32);
    counts(made, "/deflate/9", WEFT_F64);
    counts(made, "/shuffled", WEFT_F32);
    assert_non_null(x = weft_snapshot_read_tensor(made, "/large"));
    assert_string_equal(weft_shape_text(x), "(300, 1000) f32");
    assert_near(1, weft_tensor_get(x, 299999), 0);
    weft_tensor_destroy(x);
}

static void weft_reads_the_latest_format(void **state)
{
    weft_snapshot *latest = weft_snapshot_open(test_path("h5py.h5.latest"));
    (void)state;

    assert_non_null(latest);
    counts(latest, "/l1/W", WEFT_F32);
    weft_snapshot_close(latest);
}

static void weft_reads_single_values(void **state)
{
    int64_t n = 0;
    double  x = 0;
    bool    flag = false, other = false;
    (void)state;

    assert_ok(weft_snapshot_get_int(made, "/scalars/i1", &n));
    assert_int_equal(n, -3);
    assert_ok(weft_snapshot_get_int(made, "/scalars/one", &n));
    assert_int_equal(n, 7);
    assert_ok(weft_snapshot_get_real(made, "/scalars/f4", &x));
    assert_near(2.5, x, 0);
    assert_ok(weft_snapshot_get_real(made, "/scalars/one", &x));
    assert_near(7, x, 0);
    assert_ok(weft_snapshot_get_bool(made, "/scalars/true", &flag));
    assert_ok(weft_snapshot_get_bool(made, "/scalars/bool", &other));
    assert_true(flag && other);
}

static void links_are_followed(void **state)
{
    (void)state;
    counts(made, "/soft", WEFT_F32);
    assert_true(weft_snapshot_has(made, "/soft"));
    assert_false(weft_snapshot_has(made, "/dangling"));
}

/* Reading it into 3 x 4, as a new tensor and as a number all fail with these words. */
static void refused(const char *path, const char *words)
{
    weft_tensor *x = weft_tensor_zeros(WEFT_F32, 2, (int64_t[]){ 3, 4 });
    double       number;

    assert_fails(WEFT_E_FORMAT, weft_snapshot_get_tensor(made, path, x));
    assert_message_has(words);
    assert_null(weft_snapshot_read_tensor(made, path));
    assert_message_has(words);
    assert_fails(WEFT_E_FORMAT, weft_snapshot_get_real(made, path, &number));
    assert_message_has(words);
    weft_tensor_destroy(x);
}

static void what_is_no_tensor_is_refused(void **state)
{
    (void)state;
    refused("/null", "/null holds nothing (a null dataspace), wanted");
    refused("/text", "/text holds no numbers, wanted");
    refused("/texts", "/texts holds no numbers, wanted");
    refused("/complex", "/complex holds no numbers, wanted");
    refused("/axes", "/axes has 9 axes, more than 8");
    refused("/dangling", "there is no /dangling");
    assert_false(weft_snapshot_has(made, "/null"));
}

static void a_part_of_a_tensor_is_not_repeated(void **state)
{
    weft_tensor *x = weft_tensor_zeros(WEFT_F32, 2, (int64_t[]){ 4, 4 });
    (void)state;

    assert_fails(WEFT_E_FORMAT, weft_snapshot_get_tensor(made, "/half", x));
    assert_message_has("/half is (2, 4) f32, wanted (4, 4) f32");
    assert_fails(WEFT_E_FORMAT, weft_snapshot_get_tensor(made, "/scalars/one", x));
    weft_tensor_destroy(x);
}

/* A file may claim any size: no memory is taken for what it can not hold. */
static void what_was_not_written_is_refused(void **state)
{
    const int64_t peak = weft_memory_now().peak_bytes;
    (void)state;

    assert_null(weft_snapshot_read_tensor(made, "/unwritten"));
    assert_message_has("claims to be (1000, 1000, 1000) f32, but has 0 bytes in the file");
    assert_null(weft_snapshot_read_tensor(made, "/sparse"));
    assert_message_has("claims to be (1000, 1000, 1000) f32, but has 400 bytes in the file");
    assert_true(weft_memory_now().peak_bytes < peak + 1000000);
}

static int skipped(void)
{
    puts("skipped: no python3-h5py");
    return 77;
}

#define of_weft(test) cmocka_unit_test_setup_teardown(test, test_folder_begin, test_folder_end)
#define of_h5py(test) cmocka_unit_test_setup_teardown(test, make, unmake)

int main(void)
{
    const struct CMUnitTest tests[] = {
        of_weft(h5py_reads_what_weft_writes),     of_h5py(weft_reads_all_numbers),
        of_h5py(weft_reads_what_is_packed),       of_h5py(weft_reads_the_latest_format),
        of_h5py(weft_reads_single_values),        of_h5py(links_are_followed),
        of_h5py(what_is_no_tensor_is_refused),    of_h5py(a_part_of_a_tensor_is_not_repeated),
        of_h5py(what_was_not_written_is_refused),
    };

    if (system("/usr/bin/python3 -c 'import h5py, numpy' 2>/dev/null") != 0)
        return skipped();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
