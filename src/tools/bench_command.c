/* bench_command.c -- `weft bench`: samples/s of training on a workload, and of the
 * same products of matrices alone, timed in turns within one run.
 *
 * A workload is a file and a line in the table. What it prints is one JSON line.
 */
#include "tools/bench.h"
#include "tools/command.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static const bench_workload *const workloads[] = { &bench_w1 };

enum { WORKLOADS = sizeof workloads / sizeof *workloads, MAX_REPS = 100, MAX_SECONDS = 3600 };

typedef struct {
    weft_comm            *world;
    const bench_workload *workload;
    bench_options         o;
    int64_t               reps;
    double                seconds;
} bench;

/* ---- timing ------------------------------------------------------------------------- */

typedef weft_status work(void *state, int64_t steps);

/* Seconds a step, on the rank that takes longest. */
static weft_status time_steps(const bench *b, work *run, void *state, int64_t steps,
                              double *seconds)
{
    weft_tensor slowest = weft_tensor_wrap(WEFT_F64, 0, NULL, seconds);

    WEFT_TRY(weft_comm_barrier(b->world, "begin of a repetition"));
    const double begin = weft_seconds();
    WEFT_TRY(run(state, steps));
    *seconds = (weft_seconds() - begin) / (double)steps;
    return weft_comm_allreduce(b->world, &slowest, WEFT_REDUCE_MAX, "time of a repetition");
}

/* As many steps as fill b->seconds, after a warm-up. */
static weft_status calibrate(const bench *b, work *run, void *state, int64_t *steps)
{
    double seconds;

    WEFT_TRY(time_steps(b, run, state, 3, &seconds));
    WEFT_TRY(time_steps(b, run, state, 5, &seconds));
    *steps = (int64_t)fmax(3, b->seconds / seconds);
    return WEFT_OK;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef struct {
    double step[MAX_REPS], gemm[MAX_REPS]; /* seconds a step, sorted */
    double ratio[MAX_REPS];                /* gemm / step, of each repetition, sorted */
} timing;

static weft_status time_in_turns(const bench *b, void *state, timing *t)
{
    int64_t steps = 0, gemms = 0;

    WEFT_TRY(calibrate(b, b->workload->train, state, &steps));
    WEFT_TRY(calibrate(b, b->workload->gemms, state, &gemms));
    for (int64_t r = 0; r < b->reps; r++) {
        WEFT_TRY(time_steps(b, b->workload->train, state, steps, &t->step[r]));
        WEFT_TRY(time_steps(b, b->workload->gemms, state, gemms, &t->gemm[r]));
        t->ratio[r] = t->gemm[r] / t->step[r];
    }
    qsort(t->step, (size_t)b->reps, sizeof *t->step, compare);
    qsort(t->gemm, (size_t)b->reps, sizeof *t->gemm, compare);
    qsort(t->ratio, (size_t)b->reps, sizeof *t->ratio, compare);
    return WEFT_OK;
}

/* ---- the line ------------------------------------------------------------------------- */

static double peak_mb(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024;
}

static double tenth(double x)
{
    return round(10 * x) / 10;
}

static weft_status print_line(const bench *b, const timing *t, double loss)
{
    const int    ranks = weft_comm_size(b->world);
    const double samples = (double)b->o.batch * ranks;
    const double step = t->step[b->reps / 2], gemm = t->gemm[b->reps / 2];
    double       rss = peak_mb();
    weft_tensor  most = weft_tensor_wrap(WEFT_F64, 0, NULL, &rss);

    WEFT_TRY(weft_comm_allreduce(b->world, &most, WEFT_REDUCE_MAX, "peak memory"));
    json_t *line = json_pack(
        "{s:s, s:s, s:i, s:i, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:s, s:f}", "peer", "weft",
        "workload", b->workload->name, "ranks", ranks, "threads", weft_threads(), "batch",
        (json_int_t)b->o.batch, "samples_per_s", tenth(samples / step), "peak_rss_mb", tenth(rss),
        "best", tenth(samples / t->step[0]), "worst", tenth(samples / t->step[b->reps - 1]),
        "steps_per_s", tenth(1 / step), "gemm_samples_per_s", tenth(samples / gemm), "of_gemm",
        round(1000 * t->ratio[b->reps / 2]) / 1000, "dtype", weft_dtype_text(b->o.dtype), "loss",
        round(1e4 * loss) / 1e4);
    if (line == NULL)
        return WEFT_FAIL(WEFT_E_NOMEM, "the line of JSON");

    char *text = json_dumps(line, JSON_REAL_PRECISION(8));
    json_decref(line);
    if (text == NULL)
        return WEFT_FAIL(WEFT_E_NOMEM, "the line of JSON");
    weft_say(b->world, "%s\n", text);
    free(text);
    return WEFT_OK;
}

/* ---- the command ------------------------------------------------------------------------- */

static weft_status measure(const bench *b, void *state)
{
    timing t = { 0 };

    WEFT_TRY(time_in_turns(b, state, &t));
    return print_line(b, &t, b->workload->loss(state));
}

static weft_status run(const bench *b)
{
    void       *state = b->workload->create(b->world, &b->o);
    weft_status done = state == NULL ? weft_error_status() : WEFT_OK;

    done = weft_comm_agree(b->world, done, "setting up the workload");
    if (done == WEFT_OK)
        done = measure(b, state);
    b->workload->destroy(state);
    return done;
}

static const bench_workload *find(const char *name)
{
    for (int i = 0; i < WORKLOADS; i++)
        if (strcmp(workloads[i]->name, name) == 0)
            return workloads[i];
    return workloads[0];
}

static int refuse(const bench *b, const char *option, int most)
{
    if (weft_comm_rank(b->world) == 0)
        fprintf(stderr, "bench: --%s wants a number above 0, %d at most; see bench --help\n",
                option, most);
    return 2;
}

static int check_and_run(const bench *b)
{
    if (b->reps > MAX_REPS)
        return refuse(b, "reps", MAX_REPS);
    if (!(b->seconds > 0 && b->seconds <= MAX_SECONDS))
        return refuse(b, "seconds", MAX_SECONDS);
    WEFT_MUST(run(b));
    return 0;
}

static const char about[] =
    "Measures samples/s of training. On several ranks each has the whole model and a batch\n"
    "of its own, gradients are averaged, and samples are counted over all ranks.";

int bench_command(int argc, char **argv)
{
    const char *name = "w1", *dtype = "f32";
    int64_t     threads = 1;
    bench       b = { .o = { .batch = 100, .samples = 20000 }, .reps = 7, .seconds = 1 };

    const weft_option option[] = {
        { 'w', "workload", WEFT_OPTION_WORD, &name, "w1", "w1: 784-1000-1000-10, ReLU, Adam" },
        { 'b', "batch", WEFT_OPTION_COUNT, &b.o.batch, "N", "samples a step on each rank" },
        { 't', "threads", WEFT_OPTION_FEW, &threads, "N", "of each rank" },
        { 0, "dtype", WEFT_OPTION_WORD, &dtype, "f32|f64", "of all real numbers" },
        { 0, "reps", WEFT_OPTION_COUNT, &b.reps, "N", "repetitions; figures are medians" },
        { 0, "seconds", WEFT_OPTION_REAL, &b.seconds, "S", "a repetition" },
        { 0, "samples", WEFT_OPTION_COUNT, &b.o.samples, "N", "in a training set made up" },
        { 0, "data", WEFT_OPTION_TEXT, &b.o.data, "DIR", "IDX files; else as the examples do" },
        { 0 },
    };
    const int ends = weft_options_parse(argc, argv, about, option);
    if (ends >= 0)
        return ends;

    b.workload = find(name);
    WEFT_MUST(weft_dtype_parse(dtype, &b.o.dtype));
    weft_threads_set((int)threads);
    WEFT_MUST_NEW(b.world = weft_comm_create(MPI_COMM_WORLD, NULL));
    const int status = check_and_run(&b);
    weft_comm_destroy(b.world);
    return status;
}
