/* start.c -- what a main does first and last: MPI, the log, the end of the job.
 *
 * On the programs' side: nothing in libweft calls these.
 */
#include "weft/program.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static bool we_began_mpi;

static bool mpi_is_up(void)
{
    int began = 0, ended = 0;
    MPI_Initialized(&began);
    MPI_Finalized(&ended);
    return began && !ended;
}

static int world_rank(void)
{
    int rank = 0;
    if (mpi_is_up())
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

/* One write a line, so that the lines of several ranks do not mix. */
static void to_stderr(weft_log_level level, const char *line, void *context)
{
    static const char *const word[] = { "error", "warning", "info", "debug" };
    (void)context;
    fprintf(stderr, "weft [%d] %s: %s\n", world_rank(), word[level], line);
}

static weft_status start_log(void)
{
    static const char *const word[] = { "error", "warn", "info", "debug" };
    const char *const        wanted = getenv("WEFT_LOG");
    weft_log_level           level = WEFT_LOG_WARN;

    if (wanted != NULL) {
        int i = 0;
        while (i < 4 && strcmp(wanted, word[i]) != 0)
            i++;
        if (i == 4)
            return WEFT_FAIL(WEFT_E_ARG, "WEFT_LOG is '%s'; it may be error, warn, info or debug",
                             wanted);
        level = (weft_log_level)i;
    }
    weft_log_to(to_stderr, NULL, level);
    return WEFT_OK;
}

/* srun without a PMI that MPI understands starts N programs that each believe to
 * be the only one: N times the work, all writing to the same files. */
static weft_status check_launcher(void)
{
    const char *const tasks = getenv("SLURM_STEP_NUM_TASKS");
    int               size;

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size == 1 && tasks != NULL && atoi(tasks) > 1 && getenv("OMPI_COMM_WORLD_SIZE") == NULL)
        return WEFT_FAIL(WEFT_E_STATE,
                         "srun started %s tasks, but MPI sees 1 rank in each: use "
                         "`srun --mpi=pmix` (`srun --mpi=list` shows what there is) or mpiexec",
                         tasks);
    return WEFT_OK;
}

static void log_facts(void)
{
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (world_rank() == 0)
        weft_log(WEFT_LOG_INFO, "Weft %s on %d rank%s, %s, kernels %s", weft_version(), size,
                 size == 1 ? "" : "s", weft_mpi_version(), weft_kernels());
}

static weft_status start_mpi(int *argc, char ***argv)
{
    int given;

    if (mpi_is_up())
        return WEFT_OK;
    if (MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &given) != MPI_SUCCESS)
        return WEFT_FAIL(WEFT_E_COMM, "MPI_Init_thread failed");
    we_began_mpi = true;
    return WEFT_OK;
}

weft_status weft_start(int *argc, char ***argv)
{
    WEFT_TRY(start_mpi(argc, argv));
    WEFT_TRY(start_log());
    WEFT_TRY(check_launcher());
    WEFT_TRY(weft_kernels_choose(getenv("WEFT_KERNELS")));
    log_facts();
    return WEFT_OK;
}

static double deadline(void)
{
    const char *const text = getenv("WEFT_DEADLINE");
    const double      seconds = text != NULL ? atof(text) : 0;
    return seconds > 0 ? seconds : 300;
}

/* MPI_Finalize waits for all ranks, without end and without a word. */
static void meet_the_others(void)
{
    const struct timespec nap = { .tv_nsec = 1000000 };
    const double          begin = weft_seconds();
    MPI_Request           meeting;
    int                   met = 0;

    if (MPI_Ibarrier(MPI_COMM_WORLD, &meeting) != MPI_SUCCESS)
        return;
    while (MPI_Test(&meeting, &met, MPI_STATUS_IGNORE) == MPI_SUCCESS && !met) {
        if (weft_seconds() - begin > deadline()) {
            WEFT_FAIL(WEFT_E_TIMEOUT, "another rank did not come to weft_finish(), waited %.1f s",
                      weft_seconds() - begin);
            weft_end_job(WEFT_HERE, "weft_finish");
        }
        nanosleep(&nap, NULL);
    }
}

/* What was printed to a full disk is lost, and whoever reads the status must know. */
static int check_output(int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    fprintf(stderr, "weft [%d] error: the standard output could not be written\n", world_rank());
    return status != 0 ? status : 1;
}

int weft_finish(int status)
{
    const int checked = check_output(status);

    if (we_began_mpi && mpi_is_up()) {
        meet_the_others();
        MPI_Finalize();
    }
    we_began_mpi = false;
    return checked;
}

/* Who has the cause speaks first, and ends the others before they speak: a rank
 * that only heard of it waits longest; and where all fail alike, rank 0 tells it. */
static void let_others_speak(int rank)
{
    const bool            heard = weft_error_status() == WEFT_E_PEER;
    const struct timespec moment = { .tv_sec = heard ? 2 : 0, .tv_nsec = rank > 0 ? 500000000 : 0 };

    nanosleep(&moment, NULL);
}

void weft_end_job(const char *where, const char *call)
{
    const int rank = world_rank();

    fflush(stdout);
    let_others_speak(rank);
    fprintf(stderr, "%s\n    at %s, in %s\nweft [%d] error: %s\n", weft_error_where(), where, call,
            rank, weft_error_message());
    fflush(stderr);
    if (mpi_is_up())
        MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

void weft_say(const weft_comm *comm, const char *format, ...)
{
    va_list args;

    if (comm != NULL && weft_comm_rank(comm) != 0)
        return;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    fflush(stdout);
}
