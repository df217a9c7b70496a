/* train.c -- the training loop: batches, steps, reports, snapshots. */
#include "weft/train.h"

#include <inttypes.h>
#include <string.h>

typedef struct {
    const weft_train_options *o;
    weft_training             training;
    int                       values;
    weft_tape                *tape;
    weft_report              *report;
    weft_progress            *progress;
    char                      train_column[WEFT_MAX_VALUES][64];
    char                      test_column[WEFT_MAX_VALUES][64];
} loop;

/* ---- one batch ------------------------------------------------------------------- */

static weft_vars forward(const loop *l, const weft_batch *batch)
{
    const weft_vars x = weft_batch_vars(l->tape, batch);

    return l->o->forward != NULL ? l->o->forward(l->o->context, l->tape, x)
                                 : weft_chain_list_forward(l->training.model, l->tape, x);
}

/* Add a batch's values, each a mean over its rows, to their columns. */
static weft_status note(loop *l, char (*column)[64], weft_vars y, int64_t rows)
{
    for (int i = 0; i < y.n; i++)
        if (y.at[i] == NULL)
            return weft_error_trail(weft_error_status(), WEFT_HERE, "forward");
    if (y.n < l->values)
        return WEFT_FAIL(WEFT_E_ARG, "%d values are named, but forward gave %d", l->values, y.n);
    for (int i = 0; i < l->values; i++)
        WEFT_TRY(weft_report_add(l->report, column[i], y.at[i], (double)rows));
    return WEFT_OK;
}

static weft_status train_batch(loop *l, const weft_batch *batch)
{
    const weft_vars y = forward(l, batch);

    WEFT_TRY(weft_optim_minimize(l->training.optim, y.at[0]));
    WEFT_TRY(note(l, l->train_column, y, batch->step.rows));
    return weft_tape_clear(l->tape);
}

static weft_status test_batch(loop *l, const weft_batch *batch)
{
    const weft_vars y = forward(l, batch);

    WEFT_TRY(note(l, l->test_column, y, batch->step.rows));
    return weft_tape_clear(l->tape);
}

/* ---- one epoch --------------------------------------------------------------------- */

static weft_status evaluate(loop *l)
{
    weft_batch batch;

    if (l->o->test == NULL)
        return WEFT_OK;
    WEFT_TRY(weft_tape_mode_set(l->tape, WEFT_INFER));
    for (;;) {
        WEFT_TRY(weft_batches_next(l->o->test, &batch));
        if (batch.step.rows == 0)
            break;
        WEFT_TRY(test_batch(l, &batch));
    }
    return weft_tape_mode_set(l->tape, WEFT_TRAIN);
}

static weft_status save(const loop *l, int64_t step)
{
    weft_training now = l->training;
    char *const   path = weft_checkpoint_path(l->o->out, step);
    weft_status   done = path == NULL ? weft_error_status() : WEFT_OK;

    now.elapsed = weft_report_elapsed(l->report);
    if (done == WEFT_OK)
        done = weft_checkpoint_save(&now, path);
    weft_free(path);
    return done;
}

static weft_status end_epoch(loop *l)
{
    const weft_position at = weft_batches_position(l->training.batches);

    WEFT_TRY(evaluate(l));
    weft_progress_hide(l->progress);
    WEFT_TRY(weft_report_row(l->report, at.epoch, at.step));
    return l->o->out != NULL ? save(l, at.step) : WEFT_OK;
}

static weft_status run(loop *l)
{
    weft_batches *const batches = l->training.batches;
    const double        per_epoch = (double)weft_batches_per_epoch(batches);
    weft_batch          batch;

    while (weft_batches_position(batches).epoch < l->o->epochs) {
        WEFT_TRY(weft_batches_next(batches, &batch));
        WEFT_TRY(train_batch(l, &batch));
        const int64_t done = batch.step.step + 1;
        weft_progress_step(l->progress, done, (double)done / per_epoch);
        if (batch.last)
            WEFT_TRY(end_epoch(l));
    }
    return WEFT_OK;
}

/* ---- begin and end ------------------------------------------------------------------- */

static weft_status name_columns(loop *l, weft_report_options *report)
{
    while (l->values < WEFT_MAX_VALUES && l->o->value[l->values] != NULL) {
        const char *const name = l->o->value[l->values];
        char *const       train = l->train_column[l->values], *test = l->test_column[l->values];
        const int         n = snprintf(test, sizeof l->test_column[0], "validation/main/%s", name);

        if (n < 0 || (size_t)n >= sizeof l->test_column[0])
            return WEFT_FAIL(WEFT_E_ARG, "the name of value %d is too long: %s", l->values, name);
        memcpy(train, test + strlen("validation/"), strlen(test) + 1 - strlen("validation/"));
        report->column[2 * l->values] = train;
        report->column[2 * l->values + 1] = test;
        l->values++;
    }
    return WEFT_OK;
}

static weft_status open_report(loop *l, int64_t resumed)
{
    weft_report_options o = { .table = l->o->table,
                              .resumed = resumed,
                              .elapsed = l->training.elapsed };
    char                log[4096];

    WEFT_TRY(name_columns(l, &o));
    if (l->o->out != NULL) {
        const int n = snprintf(log, sizeof log, "%s/log.jsonl", l->o->out);
        if (n < 0 || (size_t)n >= sizeof log)
            return WEFT_FAIL(WEFT_E_ARG, "the name of the folder is too long: %s", l->o->out);
        WEFT_TRY(weft_folder_create(l->training.comm, l->o->out));
        o.log = log;
    }
    WEFT_TRY_NEW(l->report = weft_report_create(l->training.comm, &o));
    return WEFT_OK;
}

static weft_status check(const weft_train_options *o)
{
    if (o->training.optim == NULL)
        return WEFT_FAIL(WEFT_E_ARG, "training without an optimizer");
    if (o->training.batches == NULL)
        return WEFT_FAIL(WEFT_E_ARG, "training without batches");
    if (o->forward == NULL && o->training.model == NULL)
        return WEFT_FAIL(WEFT_E_ARG, "training with neither a chain list nor a forward function");
    if (o->value[0] == NULL)
        return WEFT_FAIL(WEFT_E_ARG, "training without the name of a loss: .value is empty");
    if (weft_batches_is_once(o->training.batches))
        return WEFT_FAIL(WEFT_E_ARG, "training batches that end after one epoch: .once is set");
    if (o->test != NULL && !weft_batches_is_once(o->test))
        return WEFT_FAIL(WEFT_E_ARG, "test batches without end: .once is not set");
    return WEFT_OK;
}

/* A run that has nothing left to do says so. */
static void note_the_end(const loop *l, weft_position at)
{
    const bool speaks = l->training.comm == NULL || weft_comm_rank(l->training.comm) == 0;

    if (l->o->table != NULL && speaks && at.epoch >= l->o->epochs && l->o->epochs > 0)
        fprintf(l->o->table, "all %" PRId64 " epochs are done already, by step %" PRId64 "\n",
                l->o->epochs, at.step);
}

static weft_status begin(loop *l)
{
    weft_batches *const batches = l->training.batches;

    WEFT_TRY(check(l->o));

    WEFT_TRY_NEW(l->tape = weft_tape_create());
    if (l->o->resume != NULL)
        WEFT_TRY(weft_checkpoint_load(&l->training, l->o->resume));

    const weft_position at = weft_batches_position(batches);
    note_the_end(l, at);
    WEFT_TRY(open_report(l, at.step));
    WEFT_TRY_NEW(l->progress = weft_progress_create(l->training.comm, l->o->progress, l->o->bar,
                                                    l->o->epochs * weft_batches_per_epoch(batches),
                                                    at.step, weft_batches_rows(batches)));
    return WEFT_OK;
}

/* After a failure among ranks the tape is left as it is: a message may still be on its
 * way from its memory, and waiting for that would hide the failure behind another. */
static void end(loop *l, weft_status done)
{
    weft_progress_destroy(l->progress);
    weft_report_destroy(l->report);
    if (done == WEFT_OK || l->training.comm == NULL)
        weft_tape_destroy(l->tape);
}

weft_status weft_train(const weft_train_options *options)
{
    loop        l = { .o = options, .training = options->training };
    weft_status done = begin(&l);

    if (done == WEFT_OK)
        done = run(&l);
    end(&l, done);
    return done;
}
