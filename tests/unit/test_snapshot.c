/* Snapshots: what is written is read, strictly, and failures say what is where. */
#include "test_folder.h"
#include "weft/io.h"

static weft_tensor *counting(weft_dtype dtype, int ndim, const int64_t *shape)
{
    weft_tensor *x = weft_tensor_create(dtype, ndim, shape);

    assert_non_null(x);
    for (int64_t i = 0; i < x->count; i++)
        weft_tensor_set(x, i, (double)(i + 1));
    return x;
}

static void same(const weft_tensor *a, const weft_tensor *b)
{
    assert_int_equal(a->dtype, b->dtype);
    assert_true(weft_tensor_same_shape(a, b));
    assert_memory_equal(a->data, b->data, (size_t)weft_tensor_bytes(a));
}

/* A snapshot of one tensor. */
static const char *with_tensor(const char *path, const char *at, const weft_tensor *x)
{
    weft_snapshot_writer *writer = weft_snapshot_begin(path);

    assert_ok(weft_snapshot_put_tensor(writer, at, x));
    assert_ok(weft_snapshot_commit(writer));
    return path;
}

/* A snapshot of a small network. */
static const char *network(void)
{
    const char *const path = test_path("network.h5");
    weft_tensor      *W = counting(WEFT_F32, 2, (int64_t[]){ 3, 4 });
    weft_tensor      *b = counting(WEFT_F32, 1, (int64_t[]){ 3 });
    weft_bundle       both = { 3, (const char *const[]){ "l1/W", "l1/b", "l2/W" },
                               (weft_tensor *const[]){ W, b, W } };

    assert_ok(weft_save(path, &both));
    weft_tensor_destroy(W);
    weft_tensor_destroy(b);
    return path;
}

static weft_snapshot *opened(const char *path)
{
    weft_snapshot *snapshot = weft_snapshot_open(path);
    if (snapshot == NULL)
        print_error("%s\n", weft_error_message());
    assert_non_null(snapshot);
    return snapshot;
}

/* ---- what is written is read ---- */

static void every_dtype_and_shape_comes_back(void **state)
{
    const struct {
        int     ndim;
        int64_t shape[WEFT_MAX_AXES];
    } row[] = { { 0, { 0 } },    { 1, { 1 } },    { 1, { 0 } },
                { 2, { 0, 3 } }, { 2, { 3, 4 } }, { 8, { 2, 1, 2, 1, 2, 1, 2, 3 } } };
    (void)state;

    for (int dtype = WEFT_F32; dtype <= WEFT_U8; dtype++)
        for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
            weft_tensor   *x = counting((weft_dtype)dtype, row[i].ndim, row[i].shape);
            weft_snapshot *snapshot = opened(with_tensor(test_path("x.h5"), "/a/b/x", x));
            weft_tensor   *y = weft_snapshot_read_tensor(snapshot, "/a/b/x");
            weft_tensor   *z = weft_tensor_zeros(x->dtype, x->ndim, x->shape);

            assert_non_null(y);
            same(x, y);
            assert_ok(weft_snapshot_check_tensor(snapshot, "/a/b/x", z));
            assert_ok(weft_snapshot_get_tensor(snapshot, "/a/b/x", z));
            same(x, z);
            weft_snapshot_close(snapshot);
            weft_tensor_destroy(x);
            weft_tensor_destroy(y);
            weft_tensor_destroy(z);
        }
}

static void special_numbers_keep_their_bits(void **state)
{
    float       value[] = { NAN, -NAN, INFINITY, -INFINITY, -0.0f, 1e-45f, 3.4028235e38f };
    float       back[7] = { 0 };
    weft_tensor x = weft_tensor_wrap(WEFT_F32, 1, (int64_t[]){ 7 }, value);
    weft_tensor y = weft_tensor_wrap(WEFT_F32, 1, (int64_t[]){ 7 }, back);
    weft_bundle out = { 1, (const char *const[]){ "x" }, (weft_tensor *const[]){ &x } };
    weft_bundle in = { 1, (const char *const[]){ "x" }, (weft_tensor *const[]){ &y } };
    (void)state;

    assert_ok(weft_save(test_path("x.h5"), &out));
    assert_ok(weft_load(test_path("x.h5"), &in));
    assert_memory_equal(value, back, sizeof value);
}

static void single_values_and_texts_come_back(void **state)
{
    const char *const     path = test_path("x.h5");
    weft_snapshot_writer *writer = weft_snapshot_begin(path);
    int64_t               n = 0;
    double                r = 0;
    bool                  yes = false, no = true;
    char                 *text;
    (void)state;

    assert_ok(weft_snapshot_put_int(writer, "/updater/iteration", INT64_MIN + 1));
    assert_ok(weft_snapshot_put_real(writer, "/updater/iterator:main/detail", 0.1));
    assert_ok(weft_snapshot_put_bool(writer, "/yes", true));
    assert_ok(weft_snapshot_put_bool(writer, "/no", false));
    assert_ok(weft_snapshot_put_text(writer, "/weft", "plan", "l1 \xc3\xa4 -> l2\nloss"));
    assert_ok(weft_snapshot_put_text(writer, "/weft", "nothing", ""));
    assert_ok(weft_snapshot_put_text(writer, "/", "root", "r"));
    assert_ok(weft_snapshot_put_group(writer, "/extensions/none"));
    assert_ok(weft_snapshot_commit(writer));

    weft_snapshot *snapshot = opened(path);
    assert_ok(weft_snapshot_get_int(snapshot, "/updater/iteration", &n));
    assert_true(n == INT64_MIN + 1);
    assert_ok(weft_snapshot_get_real(snapshot, "/updater/iterator:main/detail", &r));
    assert_true(r == 0.1);
    assert_ok(weft_snapshot_get_bool(snapshot, "/yes", &yes));
    assert_ok(weft_snapshot_get_bool(snapshot, "/no", &no));
    assert_true(yes && !no);
    assert_non_null(text = weft_snapshot_get_text(snapshot, "/weft", "plan"));
    assert_string_equal(text, "l1 \xc3\xa4 -> l2\nloss");
    weft_free(text);
    assert_non_null(text = weft_snapshot_get_text(snapshot, "/weft", "nothing"));
    assert_string_equal(text, "");
    weft_free(text);
    assert_non_null(text = weft_snapshot_get_text(snapshot, "/", "root"));
    assert_string_equal(text, "r");
    weft_free(text);
    assert_true(weft_snapshot_has(snapshot, "/"));
    assert_true(weft_snapshot_has(snapshot, "/yes"));
    assert_true(weft_snapshot_has(snapshot, "/extensions/none"));
    assert_false(weft_snapshot_has(snapshot, "/extensions/other"));
    assert_false(weft_snapshot_has(snapshot, "/yes/below"));
    assert_false(weft_snapshot_has(snapshot, "/no/such/group"));
    weft_snapshot_close(snapshot);
}

static void a_text_may_be_long(void **state)
{
    enum { LENGTH = 300000 }; /* beyond what an HDF5 header can hold */
    const char *const     path = test_path("x.h5");
    weft_snapshot_writer *writer = weft_snapshot_begin(path);
    char                 *text = weft_alloc(LENGTH + 1), *back;
    (void)state;

    for (int i = 0; i < LENGTH; i++)
        text[i] = (char)('a' + i % 26);
    text[LENGTH] = '\0';
    assert_ok(weft_snapshot_put_text(writer, "/weft", "plan", text));
    assert_ok(weft_snapshot_commit(writer));

    weft_snapshot *snapshot = opened(path);
    assert_non_null(back = weft_snapshot_get_text(snapshot, "/weft", "plan"));
    assert_string_equal(back, text);
    weft_snapshot_close(snapshot);
    weft_free(back);
    weft_free(text);
}

static void many_tensors_in_one_group_come_back(void **state)
{
    enum { N = 300 };
    const char *const     path = test_path("x.h5");
    weft_snapshot_writer *writer = weft_snapshot_begin(path);
    char                  at[32];
    int64_t               n;
    (void)state;

    for (int i = 0; i < N; i++) {
        snprintf(at, sizeof at, "/all/%d", i);
        assert_ok(weft_snapshot_put_int(writer, at, i));
    }
    assert_ok(weft_snapshot_commit(writer));

    weft_snapshot *snapshot = opened(path);
    for (int i = 0; i < N; i++) {
        snprintf(at, sizeof at, "/all/%d", i);
        assert_ok(weft_snapshot_get_int(snapshot, at, &n));
        assert_int_equal(n, i);
    }
    assert_fails(WEFT_E_FORMAT, weft_snapshot_get_int(snapshot, "/all/300", &n));
    assert_message_has("and 288 more");
    weft_snapshot_close(snapshot);
}

static void the_same_content_is_the_same_bytes(void **state)
{
    static char a[20000], b[20000];
    (void)state;

    FILE        *file = fopen(network(), "rb");
    const size_t n = fread(a, 1, sizeof a, file);
    fclose(file);
    sleep(1); /* HDF5 keeps times in seconds, if it is let */
    file = fopen(network(), "rb");
    assert_int_equal(n, fread(b, 1, sizeof b, file));
    fclose(file);
    assert_true(n > 0 && n < sizeof a);
    assert_memory_equal(a, b, n);
}

/* ---- dtypes ---- */

static void numbers_are_converted_where_they_fit(void **state)
{
    weft_tensor *x = counting(WEFT_F64, 1, (int64_t[]){ 4 });
    weft_tensor *y = weft_tensor_zeros(WEFT_F32, 1, (int64_t[]){ 4 });
    (void)state;

    weft_tensor_set(x, 0, 0.1);
    weft_snapshot *snapshot = opened(with_tensor(test_path("x.h5"), "/x", x));
    assert_ok(weft_snapshot_get_tensor(snapshot, "/x", y));
    assert_true(((float *)y->data)[0] == 0.1f);
    assert_near(4, weft_tensor_get(y, 3), 0);
    weft_snapshot_close(snapshot);
    weft_tensor_destroy(x);

    x = counting(WEFT_I64, 1, (int64_t[]){ 4 });
    snapshot = opened(with_tensor(test_path("x.h5"), "/x", x));
    assert_ok(weft_snapshot_get_tensor(snapshot, "/x", y));
    assert_near(3, weft_tensor_get(y, 2), 0);
    weft_snapshot_close(snapshot);
    weft_tensor_destroy(x);
    weft_tensor_destroy(y);
}

static void numbers_that_do_not_fit_are_refused(void **state)
{
    int64_t        big = (int64_t)1 << 40;
    double         huge = 1e300;
    int32_t        i32;
    float          f32;
    weft_tensor    x = weft_tensor_wrap(WEFT_I64, 0, NULL, &big);
    weft_tensor    y = weft_tensor_wrap(WEFT_I32, 0, NULL, &i32);
    weft_tensor    u = weft_tensor_wrap(WEFT_F64, 0, NULL, &huge);
    weft_tensor    v = weft_tensor_wrap(WEFT_F32, 0, NULL, &f32);
    weft_snapshot *snapshot;
    (void)state;

    snapshot = opened(with_tensor(test_path("x.h5"), "/x", &x));
    assert_fails(WEFT_E_FORMAT, weft_snapshot_get_tensor(snapshot, "/x", &y));
    assert_message_has("/x holds a number that does not fit into i32");
    weft_snapshot_close(snapshot);

    snapshot = opened(with_tensor(test_path("x.h5"), "/x", &u));
    assert_fails(WEFT_E_FORMAT, weft_snapshot_check_tensor(snapshot, "/x", &v));
    assert_message_has("/x holds a number that does not fit into f32");
    assert_fails(WEFT_E_FORMAT, weft_snapshot_get_tensor(snapshot, "/x", &y));
    assert_message_has("/x is () f64, wanted () i32");
    assert_fails(WEFT_E_FORMAT, weft_snapshot_get_int(snapshot, "/x", &big));
    assert_message_has("/x is () f64, wanted one integer");
    weft_snapshot_close(snapshot);

    big = 2;
    bool flag;
    snapshot = opened(with_tensor(test_path("x.h5"), "/x", &x));
    assert_fails(WEFT_E_FORMAT, weft_snapshot_get_bool(snapshot, "/x", &flag));
    assert_message_has("/x is 2, wanted a bool");
    weft_snapshot_close(snapshot);
}

/* ---- strict, and clear about it ---- */

static void shapes_must_be_equal(void **state)
{
    const int64_t  wrong[][2] = { { 4, 3 }, { 3, 1 }, { 1, 4 }, { 12, 1 } };
    weft_snapshot *snapshot = opened(network());
    (void)state;

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        weft_tensor *x = weft_tensor_create(WEFT_F32, 2, wrong[i]);
        assert_fails(WEFT_E_FORMAT, weft_snapshot_check_tensor(snapshot, "/l1/W", x));
        assert_fails(WEFT_E_FORMAT, weft_snapshot_get_tensor(snapshot, "/l1/W", x));
        assert_message_has("network.h5: /l1/W is (3, 4) f32, wanted (");
        weft_tensor_destroy(x);
    }
    weft_tensor *x = weft_tensor_create(WEFT_F32, 1, (int64_t[]){ 1 });
    assert_fails(WEFT_E_FORMAT, weft_snapshot_get_tensor(snapshot, "/l1/b", x));
    assert_message_has("/l1/b is (3) f32, wanted (1) f32");
    weft_tensor_destroy(x);
    weft_snapshot_close(snapshot);
}

static void what_is_missing_is_named_with_its_neighbours(void **state)
{
    weft_snapshot *snapshot = opened(network());
    weft_tensor   *x = weft_tensor_create(WEFT_F32, 1, (int64_t[]){ 3 });
    (void)state;

    assert_fails(WEFT_E_FORMAT, weft_snapshot_get_tensor(snapshot, "/l1/bias", x));
    assert_message_has("network.h5: there is no /l1/bias; the group /l1 has W, b");
    assert_fails(WEFT_E_FORMAT, weft_snapshot_get_tensor(snapshot, "/l3/deep/b", x));
    assert_message_has("there is no /l3/deep/b; the group / has l1, l2");
    assert_fails(WEFT_E_FORMAT, weft_snapshot_get_tensor(snapshot, "/l1/W/m", x));
    assert_message_has("there is no /l1/W/m; the group /l1 has W, b");
    assert_fails(WEFT_E_FORMAT, weft_snapshot_get_tensor(snapshot, "/l1", x));
    assert_message_has("/l1 is a group, wanted (3) f32");
    assert_null(weft_snapshot_read_tensor(snapshot, "/l2/b"));
    assert_message_has("there is no /l2/b; the group /l2 has W");
    assert_null(weft_snapshot_get_text(snapshot, "/weft", "plan"));
    assert_message_has("there is no /weft");
    assert_null(weft_snapshot_get_text(snapshot, "/l1", "plan"));
    assert_message_has("network.h5: /l1 has no text plan");
    assert_null(weft_snapshot_get_text(snapshot, "/l1/W", "plan"));
    assert_message_has("/l1/W is no group");
    weft_tensor_destroy(x);
    weft_snapshot_close(snapshot);
}

static void paths_are_checked(void **state)
{
    const char *const     wrong[] = { "", "l1/W", "//W", "/l1//W", "/l1/", "/./W", NULL };
    weft_snapshot        *snapshot = opened(network());
    weft_snapshot_writer *writer = weft_snapshot_begin(test_path("x.h5"));
    int64_t               n;
    (void)state;

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_fails(WEFT_E_ARG, weft_snapshot_get_int(snapshot, wrong[i], &n));
        assert_false(weft_snapshot_has(snapshot, wrong[i]));
        assert_fails(WEFT_E_ARG, weft_snapshot_put_int(writer, wrong[i], 1));
    }
    weft_snapshot_abandon(writer);
    weft_snapshot_close(snapshot);
}

static void load_changes_nothing_unless_all_is_there(void **state)
{
    const char *const path = network();
    weft_tensor      *W = weft_tensor_zeros(WEFT_F32, 2, (int64_t[]){ 3, 4 });
    weft_tensor      *b = weft_tensor_zeros(WEFT_F32, 1, (int64_t[]){ 4 });
    weft_bundle       both = { 2, (const char *const[]){ "l1/W", "l1/b" },
                               (weft_tensor *const[]){ W, b } };
    (void)state;

    assert_fails(WEFT_E_FORMAT, weft_load(path, &both));
    assert_message_has("network.h5: /l1/b is (3) f32, wanted (4) f32");
    for (int64_t i = 0; i < W->count; i++)
        assert_near(0, weft_tensor_get(W, i), 0);
    both.n = 1;
    assert_ok(weft_load(path, &both));
    assert_near(12, weft_tensor_get(W, 11), 0);
    weft_tensor_destroy(W);
    weft_tensor_destroy(b);
}

/* ---- putting ---- */

static void nothing_is_put_twice(void **state)
{
    weft_snapshot_writer *writer = weft_snapshot_begin(test_path("x.h5"));
    (void)state;

    assert_ok(weft_snapshot_put_int(writer, "/a/b", 1));
    assert_fails(WEFT_E_ARG, weft_snapshot_put_int(writer, "/a/b", 2));
    assert_message_has("x.h5: there is something at /a/b already");
    assert_fails(WEFT_E_ARG, weft_snapshot_put_int(writer, "/a", 2));
    assert_fails(WEFT_E_STATE, weft_snapshot_commit(writer));
    assert_message_has("x.h5: not written");
    assert_int_equal(test_files(), 0);
}

static void nothing_is_put_below_a_dataset(void **state)
{
    weft_snapshot_writer *writer = weft_snapshot_begin(test_path("x.h5"));
    (void)state;

    assert_ok(weft_snapshot_put_int(writer, "/a/b", 1));
    assert_fails(WEFT_E_ARG, weft_snapshot_put_int(writer, "/a/b/c/d", 2));
    assert_message_has("/a/b is no group");
    assert_fails(WEFT_E_ARG, weft_snapshot_put_group(writer, "/a/b"));
    assert_fails(WEFT_E_ARG, weft_snapshot_put_text(writer, "/a/b", "name", "text"));
    weft_snapshot_abandon(writer);
}

static void a_tensor_without_memory_is_refused(void **state)
{
    weft_snapshot_writer *writer = weft_snapshot_begin(test_path("x.h5"));
    weft_tensor           x = weft_tensor_wrap(WEFT_F32, 1, (int64_t[]){ 3 }, NULL);
    (void)state;

    assert_fails(WEFT_E_ARG, weft_snapshot_put_tensor(writer, "/x", &x));
    assert_fails(WEFT_E_ARG, weft_snapshot_put_tensor(writer, "/x", NULL));
    weft_snapshot_abandon(writer);
    assert_int_equal(test_files(), 0);
}

static void no_memory_of_ours_is_left(void **state)
{
    const int64_t blocks = weft_memory_now().blocks;

    nothing_is_put_twice(state);
    every_dtype_and_shape_comes_back(state);
    what_is_missing_is_named_with_its_neighbours(state);
    load_changes_nothing_unless_all_is_there(state);
    assert_int_equal(weft_memory_now().blocks, blocks);
}

static void the_library_says_its_version(void **state)
{
    int major = 0;
    (void)state;

    assert_int_equal(sscanf(weft_hdf5_version(), "%d.", &major), 1);
    assert_true(major >= 1);
}

#define in_a_folder(test) cmocka_unit_test_setup_teardown(test, test_folder_begin, test_folder_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_a_folder(every_dtype_and_shape_comes_back),
        in_a_folder(special_numbers_keep_their_bits),
        in_a_folder(single_values_and_texts_come_back),
        in_a_folder(a_text_may_be_long),
        in_a_folder(many_tensors_in_one_group_come_back),
        in_a_folder(the_same_content_is_the_same_bytes),
        in_a_folder(numbers_are_converted_where_they_fit),
        in_a_folder(numbers_that_do_not_fit_are_refused),
        in_a_folder(shapes_must_be_equal),
        in_a_folder(what_is_missing_is_named_with_its_neighbours),
        in_a_folder(paths_are_checked),
        in_a_folder(load_changes_nothing_unless_all_is_there),
        in_a_folder(nothing_is_put_twice),
        in_a_folder(nothing_is_put_below_a_dataset),
        in_a_folder(a_tensor_without_memory_is_refused),
        in_a_folder(no_memory_of_ours_is_left),
        in_a_folder(the_library_says_its_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
