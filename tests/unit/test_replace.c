/* A snapshot is whole or absent: disks that are full, places that can not be written,
 * writers that are killed. */
#include "test_folder.h"
#include "weft/io.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

enum { N = 40000 }; /* elements of each of the tensors below */

static float first[N], second[N];

/* Two tensors full of `value`. */
static weft_status save(const char *path, float value)
{
    weft_tensor x = weft_tensor_wrap(WEFT_F32, 2, (int64_t[]){ N / 100, 100 }, first);
    weft_tensor y = weft_tensor_wrap(WEFT_F32, 1, (int64_t[]){ N }, second);
    weft_bundle both = { 2, (const char *const[]){ "a/x", "b/y" },
                         (weft_tensor *const[]){ &x, &y } };

    for (int i = 0; i < N; i++)
        first[i] = second[i] = value;
    return weft_save(path, &both);
}

/* What they are full of; fails if they are not. */
static float load(const char *path)
{
    weft_tensor x = weft_tensor_wrap(WEFT_F32, 2, (int64_t[]){ N / 100, 100 }, first);
    weft_tensor y = weft_tensor_wrap(WEFT_F32, 1, (int64_t[]){ N }, second);
    weft_bundle both = { 2, (const char *const[]){ "a/x", "b/y" },
                         (weft_tensor *const[]){ &x, &y } };

    assert_ok(weft_load(path, &both));
    for (int i = 0; i < N; i++)
        assert_true(first[i] == first[0] && second[i] == first[0]);
    return first[0];
}

static void a_snapshot_replaces_the_one_before(void **state)
{
    const char *const path = test_path("x.h5");
    (void)state;

    assert_ok(save(path, 1));
    assert_ok(save(path, 2));
    assert_near(2, load(path), 0);
    assert_int_equal(test_files(), 1);
}

static void it_may_lie_in_the_folder_one_stands_in(void **state)
{
    char here[400];
    (void)state;

    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(test_folder), 0);
    const weft_status done = save("x.h5", 1);
    assert_int_equal(chdir(here), 0);
    assert_ok(done);
    assert_near(1, load(test_path("x.h5")), 0);
}

static void an_abandoned_one_leaves_nothing(void **state)
{
    weft_snapshot_writer *writer;
    (void)state;

    assert_ok(save(test_path("x.h5"), 1));
    writer = weft_snapshot_begin(test_path("x.h5"));
    assert_int_equal(test_files(), 2);
    assert_ok(weft_snapshot_put_int(writer, "/n", 1));
    WEFT_FAIL(WEFT_E_VALUE, "why it is abandoned");
    weft_snapshot_abandon(writer);
    assert_message_has("why it is abandoned");
    assert_int_equal(test_files(), 1);
    assert_near(1, load(test_path("x.h5")), 0);
    weft_snapshot_abandon(NULL);
}

/* ---- full disks ---- */

/* As if the disk had room for `bytes` in a file. */
static void limit(rlim_t bytes)
{
    struct rlimit now;

    getrlimit(RLIMIT_FSIZE, &now);
    now.rlim_cur = bytes < now.rlim_max ? bytes : now.rlim_max;
    setrlimit(RLIMIT_FSIZE, &now);
}

static void a_full_disk_is_told_and_the_old_file_stays(void **state)
{
    const char *const path = test_path("x.h5");
    const rlim_t      room[] = { 0, 10, 100, 1000, 5000, 100000, 165000, 200000, 320000 };
    (void)state;

    assert_ok(save(path, 1));
    signal(SIGXFSZ, SIG_IGN);
    for (size_t i = 0; i < sizeof room / sizeof *room; i++) {
        limit(room[i]);
        const weft_status done = save(path, 2);
        limit(RLIM_INFINITY);
        assert_fails(WEFT_E_IO, done);
        assert_message_has("x.h5.tmp.");
        assert_message_has(strerror(EFBIG));
        assert_int_equal(test_files(), 1);
        assert_near(1, load(path), 0);
    }
    signal(SIGXFSZ, SIG_DFL);
    assert_ok(save(path, 3)); /* and the library goes on */
    assert_near(3, load(path), 0);
}

/* ---- places that can not be written ---- */

static void refused(const char *path, int why)
{
    assert_fails(WEFT_E_IO, save(path, 1));
    assert_message_has(path);
    assert_message_has(strerror(why));
}

static void a_place_that_can_not_be_written_is_told(void **state)
{
    (void)state;

    assert_ok(save(test_path("x.h5"), 1));
    refused(test_path("none/x.h5"), ENOENT);
    refused(test_path("x.h5/y.h5"), ENOTDIR);
    refused(test_folder, EISDIR);
    refused("/proc/x.h5", ENOENT);
    assert_fails(WEFT_E_ARG, save("", 1));
    assert_fails(WEFT_E_ARG, save(NULL, 1));
    assert_fails(WEFT_E_IO, weft_snapshot_commit(weft_snapshot_begin(test_path("none/x.h5"))));
    assert_int_equal(test_files(), 1);
}

static void a_folder_that_came_in_between_is_told(void **state)
{
    const char *const     path = test_path("late.h5");
    weft_snapshot_writer *writer = weft_snapshot_begin(path);
    (void)state;

    assert_ok(weft_snapshot_put_int(writer, "/n", 1));
    assert_int_equal(mkdir(path, 0777), 0);
    assert_fails(WEFT_E_IO, weft_snapshot_commit(writer));
    assert_message_has("can not be renamed");
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(test_files(), 0);
}

static void a_file_changed_behind_our_back_does_not_take_its_place(void **state)
{
    const char *const     path = test_path("x.h5");
    char                  beside[500];
    weft_snapshot_writer *writer = weft_snapshot_begin(path);
    weft_tensor           x = weft_tensor_wrap(WEFT_F32, 1, (int64_t[]){ N }, first);
    (void)state;

    for (int i = 0; i < N; i++)
        first[i] = 1.5f;
    assert_ok(weft_snapshot_put_tensor(writer, "/x", &x)); /* is on its way to the disk */
    snprintf(beside, sizeof beside, "%s.tmp.%ld", path, (long)getpid());
    FILE *const other = fopen(beside, "r+b");
    assert_non_null(other);
    fseek(other, 80000, SEEK_SET);
    fputc('!', other);
    fclose(other);
    assert_fails(WEFT_E_IO, weft_snapshot_commit(writer));
    assert_message_has("/x, written as (40000) f32, has other elements when it is read back");
    assert_int_equal(test_files(), 0);
}

/* ---- writers that are killed ---- */

static void save_for_ever(const char *path)
{
    for (float value = 1;; value++)
        if (save(path, value) != WEFT_OK)
            _exit(1);
}

/* Up to eight times as long as a save takes. */
static void wait_a_little(uint64_t round, double one_save)
{
    const double at_most = one_save < 0.1 ? 8 * one_save : 0.8;
    const double seconds = at_most * weft_random_uniform(&(weft_random){ .key = 7 }, round);

    nanosleep(&(struct timespec){ .tv_nsec = (long)(1e9 * seconds) }, NULL);
}

static void a_killed_writer_leaves_the_old_file_or_the_new(void **state)
{
    const char *const path = test_path("x.h5");
    float             latest = 0;
    (void)state;

    const double began = weft_seconds();
    assert_ok(save(path, 0));
    const double one_save = weft_seconds() - began;
    for (int round = 0; round < 40; round++) {
        int         status;
        const pid_t writer = fork();
        assert_true(writer >= 0);
        if (writer == 0)
            save_for_ever(path);
        wait_a_little((uint64_t)round, one_save);
        assert_int_equal(kill(writer, SIGKILL), 0);
        assert_int_equal(waitpid(writer, &status, 0), writer);
        assert_true(WIFSIGNALED(status)); /* it was killed, and had not failed before */
        const float value = load(path);
        latest = value > latest ? value : latest;
    }
    assert_true(latest >= 1); /* some were written */
}

#define in_a_folder(test) cmocka_unit_test_setup_teardown(test, test_folder_begin, test_folder_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_a_folder(a_snapshot_replaces_the_one_before),
        in_a_folder(it_may_lie_in_the_folder_one_stands_in),
        in_a_folder(an_abandoned_one_leaves_nothing),
        in_a_folder(a_full_disk_is_told_and_the_old_file_stays),
        in_a_folder(a_place_that_can_not_be_written_is_told),
        in_a_folder(a_folder_that_came_in_between_is_told),
        in_a_folder(a_file_changed_behind_our_back_does_not_take_its_place),
        in_a_folder(a_killed_writer_leaves_the_old_file_or_the_new),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
