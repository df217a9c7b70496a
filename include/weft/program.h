/** @file program.h -- conveniences for a main, on the program's side of the house.
 *
 * Not part of libweft, which never starts or ends MPI, ends the job, or prints:
 * these do, and live in the small libweft_program. A code that already has its
 * MPI, log and options needs none of them.
 */
#ifndef WEFT_PROGRAM_H
#define WEFT_PROGRAM_H

#include "weft/comm.h"

WEFT_BEGIN

/** MPI_Init_thread() at MPI_THREAD_FUNNELED, if it was not called yet, and the log
 * to standard error, each line behind "weft [rank]". Levels up to $WEFT_LOG (error,
 * warn, info, debug; default warn); kernels from $WEFT_KERNELS (baseline, avx2).
 * Stops a job in which the launcher started several programs of one rank each
 * (srun without PMI). **Collective.** */
WEFT_API weft_status weft_start(int *argc, char ***argv);

/** MPI_Finalize(), if weft_start() began MPI; a rank that does not come within
 * $WEFT_DEADLINE ends the job with a message. **Collective.** @return the exit status for
 * main: @p status, or 1 if that is 0 and the standard output could not be written. */
WEFT_API int weft_finish(int status);

/** Print this thread's failure with rank and trail, and end the job on all ranks
 * with exit status 1. Waits first for up to 2.5 seconds where another rank has more to
 * say: where the failure is another's (WEFT_E_PEER), and, shortly, on all but rank 0. */
WEFT_API void weft_end_job(const char *where, const char *call);

/** Do this, or print what happened and end the job. */
#define WEFT_MUST(call)                                                                            \
    do {                                                                                           \
        if ((call) != WEFT_OK)                                                                     \
            weft_end_job(WEFT_HERE, #call);                                                        \
    } while (0)

/** The same for a maker: WEFT_MUST_NEW(x = weft_thing_create()). */
#define WEFT_MUST_NEW(make)                                                                        \
    do {                                                                                           \
        if ((make) == NULL)                                                                        \
            weft_end_job(WEFT_HERE, #make);                                                        \
    } while (0)

/** Print on rank 0. */
WEFT_API void weft_say(const weft_comm *comm, const char *format, ...) WEFT_PRINTF(2, 3);

/* ---- options --------------------------------------------------------------------- */

typedef enum weft_option_kind {
    WEFT_OPTION_FLAG,  /**< bool *: set to true */
    WEFT_OPTION_COUNT, /**< int64_t *: 1 to 10^9 */
    WEFT_OPTION_INT,   /**< int64_t *: 0 to 10^9 */
    WEFT_OPTION_FEW,   /**< int64_t *: 1 to 1024, as threads */
    WEFT_OPTION_REAL,  /**< double * */
    WEFT_OPTION_TEXT,  /**< const char ** */
    WEFT_OPTION_WORD,  /**< const char **: one of the words in argument, parted by | */
} weft_option_kind;

/** One option; *to holds its default before. */
typedef struct weft_option {
    char             letter; /**< 0: none */
    const char      *name;   /**< "batch", of --batch; NULL ends a list */
    weft_option_kind kind;
    void            *to;
    const char      *argument; /**< "N", "DIR", "f32|f64" */
    const char      *help;
} weft_option;

/** Read the command line: getopt_long, with --help made from the list. Only rank
 * 0 prints. @p about: one sentence. Call after weft_start().
 * @return -1: go on; else the exit status with which to end (0 after --help, 2
 *         after an option that is wrong). The same on every rank. */
WEFT_API int weft_options_parse(int argc, char **argv, const char *about,
                                const weft_option *option);

WEFT_END

#endif
