/* Checkpoints on 1 to 4 ranks: a resumed run has the bits of one without interruption,
 * on the same ranks and on others; what does not fit is refused by all, unchanged. */
#include "mpi_test.h"
#include "test_folder.h"
#include "weft/io.h"
#include "weft/train.h"

#include <signal.h>
#include <sys/resource.h>

static weft_comm *world, *alone; /* alone: this rank by itself */
static int        rank, size;

static int setup(void **state)
{
    (void)state;
    world = weft_comm_create(MPI_COMM_WORLD, &(weft_comm_options){ .deadline = 30 });
    rank = weft_comm_rank(world);
    size = weft_comm_size(world);
    alone = weft_comm_split(world, rank, 0);
    const int failed = world == NULL || alone == NULL || (rank == 0 && test_folder_begin(state));
    MPI_Bcast(test_folder, sizeof test_folder, MPI_CHAR, 0, MPI_COMM_WORLD);
    return failed;
}

static int teardown(void **state)
{
    weft_comm_destroy(alone);
    weft_comm_destroy(world);
    return rank == 0 ? test_folder_end(state) : 0;
}

/* ---- a run ------------------------------------------------------------------------------ */

enum { SAMPLES = 10, WIDTH = 5, CLASSES = 3, BATCH = 3 }; /* 4 batches an epoch */

typedef struct {
    weft_dtype dtype;
    int64_t    units, samples, batch;
    uint64_t   seed;
    bool       momentum; /* instead of Adam */
    bool       fourth;   /* one more component */
    bool       whole;    /* every rank holds the model: no chain list */
    bool       in_order;
} form;

typedef struct {
    weft_training    training;
    weft_tape       *tape;
    weft_layer      *layer; /* of a whole model */
    weft_tensor     *x, *t;
    weft_dataset    *data;
    weft_chain_list *model;
} run;

enum { MOST = 9 }; /* steps of a run */

static form usual(void)
{
    return (form){ .units = 7, .samples = SAMPLES, .batch = BATCH, .seed = 5 };
}

static weft_layer *hidden(int64_t in, int64_t out)
{
    weft_layer         *chain = weft_chain_create();
    weft_linear_options options = weft_linear_defaults();

    options.relu = true;
    assert_ok(weft_chain_add(chain, "fc", weft_linear_create(in, out, &options)));
    assert_ok(weft_chain_add(chain, "drop", weft_dropout_create(0.2)));
    return chain;
}

static void build_model(run *r, weft_comm *comm, const form *f)
{
    const int                 ranks = weft_comm_size(comm), second = 1 % ranks, third = 2 % ranks;
    weft_chain_list          *m = weft_chain_list_create(comm);
    const int64_t             x[] = { WEFT_ROWS, WIDTH }, t[] = { WEFT_ROWS };
    weft_layer               *last = weft_linear_create(f->units, CLASSES, NULL);
    const weft_params_options options = { .seed = f->seed, .dtype = f->dtype };

    assert_ok(weft_chain_list_input(m, "x", f->dtype, 2, x));
    assert_ok(weft_chain_list_input(m, "t", WEFT_I32, 1, t));
    assert_ok(weft_chain_list_add(m, "l1", 0, hidden(WIDTH, f->units), WEFT_FROM(WEFT_INPUT_AT(0)),
                                  WEFT_TO(second)));
    assert_ok(weft_chain_list_add(m, "l2", second, hidden(f->units, f->units), WEFT_FROM(0),
                                  WEFT_TO(third)));
    if (f->fourth)
        assert_ok(weft_chain_list_add(m, "more", third, hidden(f->units, f->units),
                                      WEFT_FROM(second), WEFT_TO(third)));
    assert_ok(weft_chain_list_add(m, "l3", third, last, WEFT_FROM(f->fourth ? third : second),
                                  WEFT_TO(0)));
    assert_ok(weft_chain_list_add(m, "loss", 0, weft_classifier_create(),
                                  WEFT_FROM(third, WEFT_INPUT_AT(1)), WEFT_TO(WEFT_OUTPUT)));
    assert_ok(weft_chain_list_build(m, &options));
    r->training.model = r->model = m;
}

static void build_layer(run *r, const form *f)
{
    const weft_params_options options = { .seed = f->seed, .dtype = f->dtype };

    r->layer = weft_chain_create();
    assert_ok(weft_chain_add(r->layer, "l1", hidden(WIDTH, f->units)));
    assert_ok(weft_chain_add(r->layer, "l3", weft_linear_create(f->units, CLASSES, NULL)));
    r->training.params = weft_params_create(r->layer, &options);
}

static weft_params *params_of(const run *r)
{
    return r->model != NULL ? weft_chain_list_params(r->model) : r->training.params;
}

/* The same samples for everyone who has any. */
static void make_data(run *r, const form *f, bool reader)
{
    const weft_random stream = weft_random_stream(1, "data");

    r->x = weft_tensor_create(f->dtype, 2, (int64_t[]){ f->samples, WIDTH });
    r->t = weft_tensor_create(WEFT_I32, 1, &f->samples);
    for (int64_t i = 0; i < r->x->count; i++)
        weft_tensor_set(r->x, i, weft_random_uniform(&stream, (uint64_t)i));
    for (int64_t i = 0; i < f->samples; i++)
        weft_tensor_set(r->t, i, (double)(i % CLASSES));
    r->data = reader ? weft_tensor_dataset(2, (const char *[]){ "x", "t" },
                                           (const weft_tensor *[]){ r->x, r->t })
                     : weft_empty_dataset(f->samples);
}

static run start(weft_comm *comm, const form *f)
{
    run                  r = { .training = { .comm = comm, .seed = f->seed } };
    weft_batches_options options = { .batch = f->batch, .shuffle = !f->in_order, .seed = f->seed };

    if (f->whole) {
        build_layer(&r, f);
        options.rank = weft_comm_rank(comm);
        options.size = weft_comm_size(comm);
    } else {
        build_model(&r, comm, f);
    }
    make_data(&r, f, f->whole || weft_comm_rank(comm) == 0);
    r.training.optim = f->momentum ? weft_momentum_create(params_of(&r), NULL)
                                   : weft_adam_create(params_of(&r), NULL);
    if (f->whole)
        assert_ok(weft_replicas_average(comm, r.training.optim));
    r.training.batches = weft_batches_create(r.data, &options);
    assert_non_null(r.training.batches);
    r.tape = weft_tape_create();
    return r;
}

static void finish(run *r)
{
    weft_tape_destroy(r->tape);
    weft_optim_destroy(r->training.optim);
    weft_batches_destroy(r->training.batches);
    weft_dataset_destroy(r->data);
    weft_tensor_destroy(r->x);
    weft_tensor_destroy(r->t);
    weft_params_destroy(r->training.params);
    weft_layer_destroy(r->layer);
    weft_chain_list_destroy(r->model);
}

static weft_vars forward(const run *r, weft_vars batch)
{
    if (r->model != NULL)
        return weft_chain_list_forward(r->model, r->tape, batch);
    return weft_one(weft_softmax_cross_entropy(weft_forward(r->layer, batch.at[0]), batch.at[1]));
}

/* Make n steps; loss[i] is known where the loss is. */
static void steps(const run *r, int n, double *loss)
{
    weft_batch batch;

    for (int i = 0; i < n; i++) {
        assert_ok(weft_batches_next(r->training.batches, &batch));
        const weft_vars y = forward(r, weft_batch_vars(r->tape, &batch));
        assert_ok(weft_optim_minimize(r->training.optim, y.at[0]));
        loss[i] = y.at[0]->value.count == 1 ? weft_tensor_get(&y.at[0]->value, 0) : 0;
        assert_ok(weft_tape_clear(r->tape));
    }
}

static bool same_bundle(weft_bundle a, weft_bundle b)
{
    bool same = a.n == b.n;

    for (int i = 0; same && i < a.n; i++)
        same = strcmp(a.name[i], b.name[i]) == 0 && weft_tensor_same_shape(a.at[i], b.at[i]) &&
               memcmp(a.at[i]->data, b.at[i]->data, (size_t)weft_tensor_bytes(a.at[i])) == 0;
    return same;
}

/* Parameters, slots, steps and place in the data, bit by bit. */
static bool same_state(const run *a, const run *b)
{
    const weft_training *s = &a->training, *t = &b->training;
    const weft_position  p = weft_batches_position(s->batches),
                        q = weft_batches_position(t->batches);

    return same_bundle(weft_params_values(params_of(a)), weft_params_values(params_of(b))) &&
           same_bundle(weft_optim_slots(s->optim), weft_optim_slots(t->optim)) &&
           weft_optim_steps(s->optim) == weft_optim_steps(t->optim) && p.step == q.step &&
           p.epoch == q.epoch && p.row == q.row;
}

/* Losses are numbers, so that equal ones have equal bits. */
static bool same_losses(const double *a, const double *b, int from)
{
    bool same = true;

    for (int i = from; i < MOST; i++)
        same = same && a[i] == b[i];
    return same;
}

/* ---- the same bits ------------------------------------------------------------------------ */

/* Go on from `at` steps in another run, and compare with the run without end. */
static void resume(const form *f, int at)
{
    double loss[MOST], again[MOST];
    run    first = start(world, f), second;

    steps(&first, at, loss);
    first.training.elapsed = 12.5;
    assert_ok(weft_checkpoint_save(&first.training, test_path("x.h5")));
    steps(&first, MOST - at, loss + at);

    second = start(world, f);
    assert_ok(weft_checkpoint_load(&second.training, test_path("x.h5")));
    assert_everywhere(second.training.elapsed == 12.5);
    assert_everywhere(weft_batches_position(second.training.batches).step == at);
    steps(&second, MOST - at, again + at);
    assert_everywhere(same_losses(loss, again, at));
    assert_everywhere(same_state(&first, &second));
    finish(&first);
    finish(&second);
}

static void a_resumed_run_has_the_same_bits(void **state)
{
    (void)state;
    for (int at = 0; at < MOST; at += 2) { /* 4 and 8 are ends of epochs */
        form f = usual();
        resume(&f, at);
        f.dtype = WEFT_F64;
        resume(&f, at);
    }
    form f = usual();
    f.momentum = true;
    resume(&f, 3);
    f.in_order = true;
    resume(&f, 5);
}

static void so_has_one_of_replicas(void **state)
{
    form f = usual();
    (void)state;

    f.whole = true;
    f.samples = 12; /* as many on each of 1, 2, 3, 4 ranks */
    f.batch = 2;
    for (int at = 0; at < MOST; at += 2)
        resume(&f, at);
}

static void what_many_ranks_wrote_one_rank_goes_on_with(void **state)
{
    const form f = usual();
    double     loss[MOST], again[MOST];
    run        first = start(world, &f), second;
    (void)state;

    steps(&first, 3, loss);
    assert_ok(weft_checkpoint_save(&first.training, test_path("many.h5")));
    steps(&first, MOST - 3, loss + 3);

    second = start(alone, &f); /* each rank for itself */
    assert_ok(weft_checkpoint_load(&second.training, test_path("many.h5")));
    steps(&second, MOST - 3, again + 3);
    if (rank == 0)
        assert_true(same_losses(loss, again, 3));
    finish(&first);
    finish(&second);
}

static void what_one_rank_wrote_many_ranks_go_on_with(void **state)
{
    const form f = usual();
    double     loss[MOST], again[MOST];
    run        first = start(alone, &f), second;
    char       path[40];
    (void)state;

    snprintf(path, sizeof path, "one-of-%d.h5", rank);
    steps(&first, 3, loss);
    assert_ok(weft_checkpoint_save(&first.training, test_path(path)));
    steps(&first, MOST - 3, loss + 3);

    assert_ok(weft_comm_barrier(world, "test"));
    second = start(world, &f);
    assert_ok(weft_checkpoint_load(&second.training, test_path("one-of-0.h5")));
    steps(&second, MOST - 3, again + 3);
    assert_everywhere(rank != 0 || same_losses(loss, again, 3));
    finish(&first);
    finish(&second);
}

/* The file itself does not depend on who wrote it, but for the plan's owners. */
static void all_ranks_get_what_replica_0_wrote(void **state)
{
    form   f = usual();
    double loss[MOST];
    run    first, second;
    (void)state;

    f.whole = true;
    f.samples = 12;
    f.batch = 1;
    first = start(world, &f);
    steps(&first, 2, loss);
    weft_tensor_fill(weft_params_flat_values(params_of(&first)), rank + 1); /* drifted apart */
    assert_ok(weft_checkpoint_save(&first.training, test_path("x.h5")));
    second = start(world, &f);
    assert_ok(weft_checkpoint_load(&second.training, test_path("x.h5")));
    const weft_tensor *W = weft_params_values(params_of(&second)).at[0];
    for (int64_t i = 0; i < W->count; i++)
        assert_near(1, weft_tensor_get(W, i), 0);
    finish(&first);
    finish(&second);
}

/* ---- refused by all, and nothing is changed ------------------------------------------------- */

static const char *saved(void)
{
    const form f = usual();
    double     loss[MOST];
    run        r = start(world, &f);

    steps(&r, 3, loss);
    assert_ok(weft_checkpoint_save(&r.training, test_path("good.h5")));
    finish(&r);
    return test_path("good.h5");
}

/* A run of this form can not go on from the file, says why, and is as before. */
static void refuses(const form *f, const char *path, weft_status why, const char *words)
{
    double loss[MOST];
    run    r = start(world, f), untouched = start(world, f);

    steps(&r, 1, loss);
    steps(&untouched, 1, loss);
    const weft_status done = weft_checkpoint_load(&r.training, path);
    assert_everywhere(done == (rank == 0 ? why : WEFT_E_PEER));
    if (strstr(weft_error_message(), words) == NULL)
        print_error("has no \"%s\": %s\n", words, weft_error_message());
    assert_everywhere(strstr(weft_error_message(), words) != NULL);
    assert_everywhere(same_state(&r, &untouched));
    finish(&r);
    finish(&untouched);
}

static void a_file_of_another_run_is_refused(void **state)
{
    const char *const path = saved();
    form              f;
    (void)state;

    f = usual();
    f.seed = 6;
    refuses(&f, path, WEFT_E_FORMAT, "good.h5: /weft/seed is 5, but 6 in this run");
    f = usual();
    f.momentum = true;
    refuses(&f, path, WEFT_E_FORMAT, "good.h5: the rule is adam, but momentum in this run");
    f = usual();
    f.units = 8;
    refuses(&f, path, WEFT_E_FORMAT,
            "good.h5: /updater/model:main/l1/fc/W is (7, 5) f32, wanted (8, 5) f32");
    f = usual();
    f.samples = 11;
    refuses(&f, path, WEFT_E_FORMAT, "good.h5: /weft/samples is 10, but 11 in this run");
    f = usual();
    f.fourth = true;
    refuses(&f, path, WEFT_E_FORMAT, "good.h5: /weft/parameters is 6, but 8 in this run");
}

static void a_file_that_is_not_there_is_refused(void **state)
{
    const form f = usual();
    (void)state;

    refuses(&f, test_path("none.h5"), WEFT_E_IO, "none.h5: can not be opened: No such file");
}

static void a_damaged_file_is_refused(void **state)
{
    const form        f = usual();
    const char *const path = saved();
    (void)state;

    if (rank == 0) { /* the last tensor, of which the others have no byte yet */
        weft_snapshot *good = weft_snapshot_open(path);
        weft_tensor   *v = weft_snapshot_read_tensor(good, "/updater/optimizer:main/l3/W/v");
        static char    bytes[100000];
        FILE *const    file = fopen(path, "r+b");
        const size_t   n = fread(bytes, 1, sizeof bytes, file);
        size_t         at = 0;
        while (memcmp(bytes + at, v->data, (size_t)weft_tensor_bytes(v)) != 0)
            assert_true(++at < n);
        fseek(file, (long)at, SEEK_SET);
        fputc(bytes[at] ^ 1, file);
        fclose(file);
        weft_tensor_destroy(v);
        weft_snapshot_close(good);
    }
    assert_ok(weft_comm_barrier(world, "test"));
    refuses(&f, path, WEFT_E_FORMAT, "/updater/optimizer:main/l3/W/v is damaged");
}

static void a_file_of_chainer_is_not_taken_for_one_of_weft(void **state)
{
    const form        f = usual();
    const char *const root = getenv("WEFT_ROOT");
    char              path[1000];
    (void)state;

    snprintf(path, sizeof path, "%s/tests/golden/chainer/tr_adam.h5", root != NULL ? root : ".");
    refuses(&f, path, WEFT_E_FORMAT, "tr_adam.h5: no checkpoint of Weft");
}

static void replicas_in_an_epoch_must_be_as_many(void **state)
{
    form   f = usual();
    double loss[MOST];
    run    r;
    char   path[40];
    (void)state;

    f.whole = true;
    f.samples = 12;
    f.batch = 1;
    snprintf(path, sizeof path, "one-of-%d.h5", rank);
    r = start(alone, &f);
    steps(&r, 2, loss);
    assert_ok(weft_checkpoint_save(&r.training, test_path(path)));
    finish(&r);
    assert_ok(weft_comm_barrier(world, "test"));
    if (size > 1)
        refuses(&f, test_path("one-of-0.h5"), WEFT_E_FORMAT, "/weft/ranks is 1, but");
}

/* ---- saving fails on all or on none ---------------------------------------------------------- */

static void fails_everywhere(const run *r, const char *path, weft_status why, const char *words)
{
    const weft_status done = weft_checkpoint_save(&r->training, path);

    assert_everywhere(done == (rank == 0 ? why : WEFT_E_PEER));
    if (strstr(weft_error_message(), words) == NULL)
        print_error("has no \"%s\": %s\n", words, weft_error_message());
    assert_everywhere(strstr(weft_error_message(), words) != NULL);
}

static void limit(rlim_t bytes)
{
    struct rlimit now;

    getrlimit(RLIMIT_FSIZE, &now);
    now.rlim_cur = bytes < now.rlim_max ? bytes : now.rlim_max;
    setrlimit(RLIMIT_FSIZE, &now);
}

static void a_disk_that_is_full_fails_everywhere(void **state)
{
    const form   f = usual();
    const rlim_t room[] = { 0, 1000, 5000, 8000 };
    double       loss[MOST];
    run          r = start(world, &f);
    char         beside[500];
    (void)state;

    snprintf(beside, sizeof beside, "%s.tmp.%ld", test_path("x.h5"), (long)getpid());
    steps(&r, 1, loss);
    assert_ok(weft_checkpoint_save(&r.training, test_path("x.h5")));
    steps(&r, 1, loss);
    signal(SIGXFSZ, SIG_IGN);
    for (size_t i = 0; i < sizeof room / sizeof *room; i++) {
        if (rank == 0)
            limit(room[i]);
        const weft_status done = weft_checkpoint_save(&r.training, test_path("x.h5"));
        limit(RLIM_INFINITY);
        assert_everywhere(done == (rank == 0 ? WEFT_E_IO : WEFT_E_PEER));
        assert_everywhere(strstr(weft_error_message(), "x.h5.tmp.") != NULL);
        assert_everywhere(rank != 0 || access(beside, F_OK) != 0);
    }
    signal(SIGXFSZ, SIG_DFL);
    fails_everywhere(&r, test_path("no/folder/x.h5"), WEFT_E_IO, "No such file");
    finish(&r);

    r = start(world, &f); /* the old file is as it was */
    assert_ok(weft_checkpoint_load(&r.training, test_path("x.h5")));
    assert_everywhere(weft_batches_position(r.training.batches).step == 1);
    finish(&r);
}

static void ranks_a_step_apart_are_refused(void **state)
{
    const form f = usual();
    run        r = start(world, &f);
    (void)state;

    weft_optim_steps_set(r.training.optim, rank == size - 1 ? 3 : 2);
    const weft_status done = weft_checkpoint_save(&r.training, test_path("x.h5"));
    assert_everywhere(done == (size == 1 ? WEFT_OK : WEFT_E_STATE));
    assert_everywhere(size == 1 || strstr(weft_error_message(), "x.h5: the optimizer's number of "
                                                                "steps differs between ranks: 2 "
                                                                "to 3") != NULL);
    finish(&r);
}

static void a_training_without_parameters_is_refused(void **state)
{
    weft_training nothing = { .comm = world };
    (void)state;

    assert_fails(WEFT_E_ARG, weft_checkpoint_save(&nothing, "x.h5"));
    assert_message_has("x.h5: a checkpoint of no parameters");
    assert_fails(WEFT_E_ARG, weft_checkpoint_load(&nothing, "x.h5"));
}

/* ---- what is said ------------------------------------------------------------------------------
 */

static char log_text[4000];

static void keep(weft_log_level level, const char *line, void *context)
{
    (void)context;
    if (level == WEFT_LOG_WARN && strlen(log_text) + strlen(line) + 2 < sizeof log_text)
        strcat(strcat(log_text, line), "\n");
}

static void what_may_change_bits_is_warned_of(void **state)
{
    const form        f = usual();
    const char *const path = saved();
    run               r = start(world, &f);
    (void)state;

    weft_log_to(keep, NULL, WEFT_LOG_WARN);
    log_text[0] = '\0';
    assert_ok(weft_checkpoint_load(&r.training, path));
    assert_everywhere(log_text[0] == '\0'); /* nothing differs */

    const int threads = weft_threads();
    weft_threads_set(threads + 1);
    weft_optim_rate_set(r.training.optim, 0.5);
    assert_ok(weft_checkpoint_load(&r.training, path));
    weft_threads_set(threads);
    weft_log_to(NULL, NULL, WEFT_LOG_ERROR);
    assert_everywhere(weft_optim_rate(r.training.optim) == 0.001);
    assert_everywhere((strstr(log_text, "/weft/threads was 1 when it was written and is 2 now") !=
                       NULL) == (rank == 0));
    assert_everywhere((strstr(log_text, "rate was 0.001") != NULL) == (rank == 0));
    finish(&r);
}

/* ---- folders
 * ------------------------------------------------------------------------------------- */

static void folders_are_made_with_those_above(void **state)
{
    char *path = weft_checkpoint_path("some/folder", 600);
    (void)state;

    assert_string_equal(path, "some/folder/snapshot_iter_600.h5");
    weft_free(path);

    const char *const deep = test_path("a/b/c");
    assert_ok(weft_folder_create(world, deep));
    assert_ok(weft_folder_create(world, deep));
    assert_ok(weft_folder_create(alone, test_path("a//b/")));
    assert_everywhere(rank != 0 || (access(deep, F_OK) == 0 && rmdir(deep) == 0));
    assert_everywhere(rank != 0 || (rmdir(test_path("a/b")) == 0 && rmdir(test_path("a")) == 0));

    if (rank == 0)
        test_write(test_path("file"), "x", 1);
    assert_everywhere(weft_folder_create(world, test_path("file/below")) ==
                      (rank == 0 ? WEFT_E_IO : WEFT_E_PEER));
    assert_everywhere(strstr(weft_error_message(), "file: the folder can not be made") != NULL);
}

/* A communicator keeps memory for its next messages, so it ends too. */
static void no_memory_is_left(void **state)
{
    const int64_t blocks = weft_memory_now().blocks;

    assert_everywhere(setup(state) == 0);
    a_file_of_another_run_is_refused(state);
    a_disk_that_is_full_fails_everywhere(state);
    assert_everywhere(teardown(state) == 0);
    assert_everywhere(weft_memory_now().blocks == blocks);
}

#define with_ranks(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        with_ranks(a_resumed_run_has_the_same_bits),
        with_ranks(so_has_one_of_replicas),
        with_ranks(what_many_ranks_wrote_one_rank_goes_on_with),
        with_ranks(what_one_rank_wrote_many_ranks_go_on_with),
        with_ranks(all_ranks_get_what_replica_0_wrote),
        with_ranks(a_file_of_another_run_is_refused),
        with_ranks(a_file_that_is_not_there_is_refused),
        with_ranks(a_damaged_file_is_refused),
        with_ranks(a_file_of_chainer_is_not_taken_for_one_of_weft),
        with_ranks(replicas_in_an_epoch_must_be_as_many),
        with_ranks(a_disk_that_is_full_fails_everywhere),
        with_ranks(ranks_a_step_apart_are_refused),
        with_ranks(a_training_without_parameters_is_refused),
        with_ranks(what_may_change_bits_is_warned_of),
        with_ranks(folders_are_made_with_those_above),
        cmocka_unit_test(no_memory_is_left),
    };
    MPI_Init(&argc, &argv);
    const int status = mpi_test_main(tests);
    MPI_Finalize();
    return status;
}
