/* checkpoint_facts.c -- what a checkpoint says besides tensors: in Chainer's tree what
 * Chainer's trainer looks for, and in the group /weft what Chainer does not know. */
#include "train/checkpoint.h"

#include "base/text.h"
#include "tensor/gemm.h"

#include <string.h>

/* ---- where the run is ---- */

weft__facts weft__facts_now(const weft_training *t)
{
    weft__facts now = { .elapsed = t->elapsed };

    if (t->optim != NULL) {
        now.t = weft_optim_steps(t->optim);
        now.rate = weft_optim_rate(t->optim);
    }
    if (t->batches != NULL)
        now.position = weft_batches_position(t->batches);
    else
        now.position.step = now.t;
    return now;
}

/* How far the epoch is, in samples over all ranks, before and after the last batch:
 * what Chainer calls current_position and previous_epoch_detail. */
typedef struct {
    int64_t samples;
    double  epochs, epochs_before;
} progress;

/* Ranks that hold the whole model each go through a share of the data. */
static progress progress_of(const weft__checkpoint *c, const weft_position *at)
{
    const weft_batches *const batches = c->training->batches;
    const int64_t             n = weft_batches_length(batches), rows = weft_batches_rows(batches);
    const int64_t             all = at->row * (c->training->params != NULL ? c->size : 1);
    const int64_t             here = all < n ? all : n;
    const int64_t             last_begin = (weft_batches_per_epoch(batches) - 1) * rows;

    const double before =
        at->row > 0 ? (double)(here - rows) / (double)n : (double)last_begin / (double)n - 1;
    return (progress){ .samples = here,
                       .epochs = (double)at->epoch + (double)here / (double)n,
                       .epochs_before = at->step > 0 ? (double)at->epoch + before : -1 };
}

/* ---- Chainer's tree: the iterator ---- */

static weft_status put_order(const weft_batches *batches, weft_snapshot_writer *w)
{
    const int64_t *const order = weft_batches_order(batches);
    const int64_t        n = weft_batches_length(batches);

    if (order == NULL)
        return WEFT_OK;

    int64_t *copy; /* a tensor describes memory that may be written to */
    WEFT_TRY_NEW(copy = weft_alloc(n * (int64_t)sizeof *copy));
    memcpy(copy, order, (size_t)n * sizeof *copy);
    const weft_tensor x = weft_tensor_wrap(WEFT_I64, 1, &n, copy);
    const weft_status done = weft_snapshot_put_tensor(w, WEFT__ITERATOR "/order", &x);
    weft_free(copy);
    return done;
}

static weft_status put_iterator(const weft__checkpoint *c, const weft_position *at,
                                weft_snapshot_writer *w)
{
    const progress p = progress_of(c, at);

    WEFT_TRY(weft_snapshot_put_int(w, WEFT__ITERATOR "/current_position", p.samples));
    WEFT_TRY(weft_snapshot_put_int(w, WEFT__ITERATOR "/epoch", at->epoch));
    WEFT_TRY(
        weft_snapshot_put_bool(w, WEFT__ITERATOR "/is_new_epoch", at->row == 0 && at->step > 0));
    WEFT_TRY(weft_snapshot_put_real(w, WEFT__ITERATOR "/previous_epoch_detail", p.epochs_before));
    WEFT_TRY(weft_snapshot_put_real(w, "/stop_trigger/previous_epoch_detail", p.epochs));
    WEFT_TRY(put_order(c->training->batches, w));
    return WEFT_OK;
}

/* ---- Chainer's tree: the optimizer ---- */

static weft_status put_steps_of(weft_snapshot_writer *w, const char *name, int64_t t)
{
    char *const       path = weft__text_create(WEFT__OPTIMIZER "/%s/t", name);
    const weft_status done = path == NULL ? weft_error_status() : weft_snapshot_put_int(w, path, t);

    weft_free(path);
    return done;
}

static weft_status put_optimizer(const weft__checkpoint *c, const weft__facts *now,
                                 weft_snapshot_writer *w)
{
    WEFT_TRY(weft_snapshot_put_int(w, WEFT__OPTIMIZER "/t", now->t));
    WEFT_TRY(weft_snapshot_put_int(w, WEFT__OPTIMIZER "/epoch", now->position.epoch));
    for (int i = 0; i < c->n; i++)
        WEFT_TRY(put_steps_of(w, c->kept[i].name, now->t));
    return WEFT_OK;
}

static weft_status put_trainer(const weft__checkpoint *c, const weft__facts *now,
                               weft_snapshot_writer *w)
{
    WEFT_TRY(weft_snapshot_put_int(w, "/updater/iteration", now->position.step));
    WEFT_TRY(weft_snapshot_put_group(w, WEFT__MODEL));
    WEFT_TRY(weft_snapshot_put_int(w, "/stop_trigger/previous_iteration", now->position.step));
    WEFT_TRY(weft_snapshot_put_group(w, "/extensions"));
    WEFT_TRY(weft_snapshot_put_group(w, "/extension_triggers"));
    WEFT_TRY(weft_snapshot_put_real(w, "/_snapshot_elapsed_time", now->elapsed));
    if (c->training->batches != NULL)
        WEFT_TRY(put_iterator(c, &now->position, w));
    if (c->training->optim != NULL)
        WEFT_TRY(put_optimizer(c, now, w));
    return WEFT_OK;
}

/* ---- /weft: what this run is made of ---- */

static weft_status put_hypers(const weft_optim *optim, weft_snapshot_writer *w)
{
    const weft_hyper *hyper;
    const int         n = weft_optim_hypers(optim, &hyper);

    for (int i = 0; i < n; i++) {
        char *path;
        WEFT_TRY_NEW(path = weft__text_create("/weft/hyper/%s", hyper[i].name));
        const weft_status done = weft_snapshot_put_real(w, path, hyper[i].value);
        weft_free(path);
        WEFT_TRY(done);
    }
    return weft_snapshot_put_text(w, "/weft", "rule", weft_optim_name(optim));
}

static weft_status put_plan(weft_chain_list *model, weft_snapshot_writer *w)
{
    char *const       plan = weft_chain_list_text(model);
    const weft_status done =
        plan == NULL ? weft_error_status() : weft_snapshot_put_text(w, "/weft", "plan", plan);
    weft_free(plan);
    return done;
}

void weft__made_of_here(const weft__checkpoint *c, weft__made_of part[WEFT__MADE_OF])
{
    const char *const dtype = c->n > 0 ? weft_dtype_text(c->kept[0].like.dtype) : "none";

    part[0] = (weft__made_of){ "dtype", dtype };
    part[1] = (weft__made_of){ "kernels", weft_kernels() };
    part[2] = (weft__made_of){ "gemm", weft__gemm_text() };
    part[3] = (weft__made_of){ "mpi", weft_mpi_version() };
    part[4] = (weft__made_of){ "hdf5", weft_hdf5_version() };
    part[5] = (weft__made_of){ "version", weft_version() };
}

static weft_status put_weft(const weft__checkpoint *c, const weft__facts *now,
                            weft_snapshot_writer *w)
{
    const weft_training *t = c->training;
    weft__made_of        part[WEFT__MADE_OF];

    WEFT_TRY(weft_snapshot_put_int(w, "/weft/format", WEFT__CHECKPOINT_FORMAT));
    WEFT_TRY(weft_snapshot_put_int(w, "/weft/seed", (int64_t)t->seed));
    WEFT_TRY(weft_snapshot_put_int(w, "/weft/parameters", c->n));
    WEFT_TRY(weft_snapshot_put_int(w, "/weft/ranks", c->size));
    WEFT_TRY(weft_snapshot_put_int(w, "/weft/threads", weft_threads()));
    if (t->batches != NULL) {
        WEFT_TRY(weft_snapshot_put_int(w, "/weft/row", now->position.row));
        WEFT_TRY(weft_snapshot_put_int(w, "/weft/samples", weft_batches_length(t->batches)));
        WEFT_TRY(weft_snapshot_put_int(w, "/weft/batch", weft_batches_rows(t->batches)));
    }
    weft__made_of_here(c, part);
    for (int i = 0; i < WEFT__MADE_OF; i++)
        WEFT_TRY(weft_snapshot_put_text(w, "/weft", part[i].name, part[i].here));
    if (t->model != NULL)
        WEFT_TRY(put_plan(t->model, w));
    return t->optim != NULL ? put_hypers(t->optim, w) : WEFT_OK;
}

weft_status weft__facts_put(const weft__checkpoint *c, weft_snapshot_writer *w)
{
    const weft__facts now = weft__facts_now(c->training);

    WEFT_TRY(put_trainer(c, &now, w));
    WEFT_TRY(put_weft(c, &now, w));
    return WEFT_OK;
}
