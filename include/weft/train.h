/** @file train.h -- the training loop, and its parts: reports, progress, checkpoints.
 *
 * weft_train() is an ordinary loop over batches that reports, evaluates and
 * writes snapshots; who wants another one writes it from the same parts
 * (src/train/train.c is short).
 */
#ifndef WEFT_TRAIN_H
#define WEFT_TRAIN_H

#include "weft/comm.h"
#include "weft/data.h"
#include "weft/optim.h"
#include "weft/parallel.h"

#include <stdio.h>

WEFT_BEGIN

/* ---- reports ------------------------------------------------------------------ */

/** Means of values by name, over samples, steps and ranks; a table to read and a
 * file to plot. */
typedef struct weft_report weft_report;

enum { WEFT_MAX_COLUMNS = 32 };

typedef struct weft_report_options {
    /** The values' names, ended by NULL, as the columns of the table in this order,
     * between "epoch" and "elapsed_time"; the same on every rank. */
    const char *column[WEFT_MAX_COLUMNS];
    FILE       *table;   /**< where rank 0 prints; NULL: nowhere */
    const char *log;     /**< path of rank 0's JSON lines; NULL: none. Of a resumed
                              run rows with an iteration above @p resumed are dropped
                              first; of a new one an older log is kept as LOG~ */
    int64_t     resumed; /**< iterations done when this run begins; 0: a new run */
    double      elapsed; /**< seconds spent in earlier runs */
} weft_report_options;

/** **Collective** over @p comm, which is borrowed; NULL: this process alone. Owned.
 * @return NULL on every rank if rank 0 can not open the log. */
WEFT_API weft_report *weft_report_create(weft_comm *comm, const weft_report_options *options);

/** End it. NULL is allowed. Not collective. */
WEFT_API void weft_report_destroy(weft_report *report);

/** Add @p weight times x to the sum of @p column, and @p weight to its count;
 * nothing if x is a delegate, so that ranks without a loss add nothing. @p weight
 * is usually the number of samples that x is a mean of.
 * @return WEFT_E_ARG for a column that was not declared; x's failure if NULL. */
WEFT_API weft_status weft_report_add(weft_report *report, const char *column, const weft_var *x,
                                     double weight);

/** End a row: sum / count of each column over all ranks; rank 0 prints and logs
 * it, one JSON object a line with 17 digits, under the columns' names and
 * "epoch", "iteration", "elapsed_time" (null where nothing was added). Then all
 * start at nothing. **Collective.** */
WEFT_API weft_status weft_report_row(weft_report *report, int64_t epoch, int64_t iteration);

/** The last row's value of a column; not a number if it had none. */
WEFT_API double weft_report_value(const weft_report *report, const char *column);

/** Seconds since training began, earlier runs included. */
WEFT_API double weft_report_elapsed(const weft_report *report);

/* ---- progress ------------------------------------------------------------------ */

typedef enum weft_progress_mode {
    WEFT_PROGRESS_AUTO, /**< a bar if $WEFT_PROGRESS says on, or it is not set, one rank
                             runs and @p to is a terminal: isatty lies under mpiexec */
    WEFT_PROGRESS_ON,
    WEFT_PROGRESS_OFF, /**< plain lines, at most one in ten seconds */
} weft_progress_mode;

/** A bar with rate and time left. */
typedef struct weft_progress weft_progress;

/** On rank 0 of @p comm (NULL: here); elsewhere it does nothing. Not collective.
 * Owned. @p total steps, of @p samples each; @p done of them before this run. The
 * bar is as wide as $COLUMNS says, else the terminal, else 80.
 * @return NULL: WEFT_E_ARG for another word in $WEFT_PROGRESS than weft_progress_parse()
 *         knows. */
WEFT_API weft_progress *weft_progress_create(weft_comm *comm, weft_progress_mode mode, FILE *to,
                                             int64_t total, int64_t done, int64_t samples);

/** Take the bar away and end it. NULL is allowed. */
WEFT_API void weft_progress_destroy(weft_progress *progress);

/** @p step steps are done, in epoch @p epoch. Draws at most ten times a second. */
WEFT_API void weft_progress_step(weft_progress *progress, int64_t step, double epoch);

/** Take the bar away, so that something else can be printed. */
WEFT_API void weft_progress_hide(weft_progress *progress);

/** "auto", "on", "off". @return WEFT_E_ARG. */
WEFT_API weft_status weft_progress_parse(const char *text, weft_progress_mode *mode);

/* ---- checkpoints ----------------------------------------------------------------- */

/** All that decides the next step of a training run. NULL parts are left out. */
typedef struct weft_training {
    weft_comm       *comm;    /**< NULL: this process alone */
    weft_chain_list *model;   /**< a model over ranks, */
    weft_params     *params;  /**< or one that rank 0 (and every replica) holds whole */
    weft_optim      *optim;   /**< of what this rank owns; the same rule on every rank */
    weft_batches    *batches; /**< of the training data, in step on every rank */
    uint64_t         seed;
    double           elapsed; /**< seconds; filled by load */
} weft_training;

/** Write it at rank 0, gathered from the owners one tensor at a time, as a file
 * that Chainer's load_hdf5 reads (trainer layout) with a group "weft" for what
 * Chainer does not know. Whole or absent. **Collective**: all succeed or all fail. */
WEFT_API weft_status weft_checkpoint_save(const weft_training *training, const char *path);

/** Read it at rank 0 and hand it out, on any number of ranks: names, shapes, rule,
 * seed and length of the data must be those of the run that wrote it. Everything
 * is checked before anything is changed. Warns in the log where dtype, kernels, threads
 * or libraries differ, as bits may then. The optimizer's rate becomes that of the file,
 * where a schedule had brought it; other numbers of the rule stay the program's, with a
 * warning. Replicas in the middle of an epoch must be as many as before. **Collective.**
 * @return WEFT_E_FORMAT, naming file, path and both sides of what differs. */
WEFT_API weft_status weft_checkpoint_load(weft_training *training, const char *path);

/** DIR/snapshot_iter_N.h5, owned (weft_free). */
WEFT_API char *weft_checkpoint_path(const char *folder, int64_t iteration);

/* ---- the loop ----------------------------------------------------------------------- */

enum { WEFT_MAX_VALUES = 8 };

typedef struct weft_train_options {
    weft_training training; /**< what is trained, on what, and what a snapshot keeps */

    /** The model: variables of a batch to named values, of which the first is the
     * loss. NULL: training.model's own, weft_chain_list_forward(). Called on every rank for every
     * batch; ranks without a value give a delegate (weft_chain_list_forward() does). */
    weft_vars (*forward)(void *context, weft_tape *tape, weft_vars batch);
    void       *context;
    const char *value[WEFT_MAX_VALUES]; /**< their names, ended by NULL: "loss", "accuracy" */

    weft_batches      *test;     /**< evaluated each epoch; with once; NULL: nothing */
    int64_t            epochs;   /**< to train, those before a resume included */
    const char        *out;      /**< folder of log.jsonl and snapshots, one an epoch */
    const char        *resume;   /**< snapshot to go on from; NULL: from the start */
    FILE              *table;    /**< where rank 0 prints a line an epoch; NULL: nowhere */
    FILE              *bar;      /**< where rank 0 draws progress: stderr; NULL: nowhere */
    weft_progress_mode progress; /**< how: see weft_progress_create() */
} weft_train_options;

/** Train until options->epochs epochs are done: each batch forward, backward and one
 * step of the optimizer; each epoch the means of all values over samples and ranks
 * as "main/NAME", those of the test batches as "validation/main/NAME", in the table
 * and the log, and a snapshot DIR/snapshot_iter_N.h5. The losses after a resume are
 * those of a run without interruption, to the last bit. **Collective.** */
WEFT_API weft_status weft_train(const weft_train_options *options);

/* ---- folders -------------------------------------------------------------------------- */

/** Make the folder and those above it, at rank 0. **Collective.** */
WEFT_API weft_status weft_folder_create(weft_comm *comm, const char *folder);

WEFT_END

#endif
