/* checkpoint_match.c -- the facts in a checkpoint against those of this run: refuse a
 * file of another run, warn where the bits may be others. */
#include "train/checkpoint.h"

#include "base/text.h"

#include <inttypes.h>
#include <string.h>

/* ---- what must be equal ---- */

static weft_status need_int(const weft__checkpoint *c, weft_snapshot *snapshot, const char *path,
                            int64_t here)
{
    int64_t there;

    WEFT_TRY(weft_snapshot_get_int(snapshot, path, &there));
    if (there != here)
        return WEFT_FAIL(WEFT_E_FORMAT, "%s: %s is %" PRId64 ", but %" PRId64 " in this run",
                         c->path, path, there, here);
    return WEFT_OK;
}

static weft_status need_rule(const weft__checkpoint *c, weft_snapshot *snapshot)
{
    const char *const here = weft_optim_name(c->training->optim);
    char             *there;
    weft_status       done = WEFT_OK;

    WEFT_TRY_NEW(there = weft_snapshot_get_text(snapshot, "/weft", "rule"));
    if (strcmp(there, here) != 0)
        done = WEFT_FAIL(WEFT_E_FORMAT, "%s: the rule is %s, but %s in this run", c->path, there,
                         here);
    weft_free(there);
    return done;
}

static weft_status need_format(const weft__checkpoint *c, weft_snapshot *snapshot)
{
    int64_t format;

    if (!weft_snapshot_has(snapshot, "/weft/format"))
        return WEFT_FAIL(WEFT_E_FORMAT,
                         "%s: no checkpoint of Weft, as there is no /weft/format: its tensors can "
                         "be read one by one",
                         c->path);
    WEFT_TRY(weft_snapshot_get_int(snapshot, "/weft/format", &format));
    if (format < 1 || format > WEFT__CHECKPOINT_FORMAT)
        return WEFT_FAIL(WEFT_E_FORMAT,
                         "%s: /weft/format is %" PRId64 ", and Weft %s knows 1 to %d", c->path,
                         format, weft_version(), WEFT__CHECKPOINT_FORMAT);
    return WEFT_OK;
}

/* In the middle of an epoch each rank is somewhere in its own share of the data. */
static weft_status need_ranks(const weft__checkpoint *c, weft_snapshot *snapshot, int64_t row)
{
    if (row == 0 || c->training->params == NULL)
        return WEFT_OK;
    WEFT_TRY(need_int(c, snapshot, "/weft/ranks", c->size));
    return WEFT_OK;
}

/* ---- what should be ---- */

#define DIFFERS                                                                                    \
    "%s: %s was %s when it was written and is %s now: results may differ from a run without "      \
    "interruption"

static weft_status compare_text(const weft__checkpoint *c, weft_snapshot *snapshot,
                                const weft__made_of *part)
{
    char *there;

    WEFT_TRY_NEW(there = weft_snapshot_get_text(snapshot, "/weft", part->name));
    if (strcmp(there, part->here) != 0)
        weft_log(WEFT_LOG_WARN, DIFFERS, c->path, part->name, there, part->here);
    weft_free(there);
    return WEFT_OK;
}

static weft_status compare_int(const weft__checkpoint *c, weft_snapshot *snapshot, const char *path,
                               int64_t here)
{
    int64_t there;
    char    text[2][24];

    WEFT_TRY(weft_snapshot_get_int(snapshot, path, &there));
    snprintf(text[0], sizeof text[0], "%" PRId64, there);
    snprintf(text[1], sizeof text[1], "%" PRId64, here);
    if (there != here)
        weft_log(WEFT_LOG_WARN, DIFFERS, c->path, path, text[0], text[1]);
    return WEFT_OK;
}

static weft_status compare_made_of(const weft__checkpoint *c, weft_snapshot *snapshot)
{
    weft__made_of part[WEFT__MADE_OF];

    weft__made_of_here(c, part);
    for (int i = 0; i < WEFT__MADE_OF; i++)
        WEFT_TRY(compare_text(c, snapshot, &part[i]));
    WEFT_TRY(compare_int(c, snapshot, "/weft/threads", weft_threads()));
    if (c->training->batches != NULL)
        WEFT_TRY(compare_int(c, snapshot, "/weft/batch", weft_batches_rows(c->training->batches)));
    return WEFT_OK;
}

/* The rate is part of a schedule, and is taken from the file; the others are the
 * program's. */
static weft_status get_hyper(const weft__checkpoint *c, weft_snapshot *snapshot,
                             const weft_hyper *here, bool is_rate, const char *path,
                             weft__facts *facts)
{
    double there;

    WEFT_TRY(weft_snapshot_get_real(snapshot, path, &there));
    if (there != here->value)
        weft_log(WEFT_LOG_WARN, "%s: %s was %.17g when it was written: %s %.17g", c->path,
                 here->name, there, is_rate ? "taken instead of" : "this run goes on with",
                 here->value);
    if (is_rate)
        facts->rate = there;
    return WEFT_OK;
}

static weft_status get_hypers(const weft__checkpoint *c, weft_snapshot *snapshot,
                              weft__facts *facts)
{
    const weft_hyper *hyper;
    const int         n = weft_optim_hypers(c->training->optim, &hyper);

    for (int i = 0; i < n; i++) {
        char *path;
        WEFT_TRY_NEW(path = weft__text_create("/weft/hyper/%s", hyper[i].name));
        const weft_status done = get_hyper(c, snapshot, &hyper[i], i == 0, path, facts);
        weft_free(path);
        WEFT_TRY(done);
    }
    return WEFT_OK;
}

/* ---- all ---- */

static weft_status get_position(const weft__checkpoint *c, weft_snapshot *snapshot,
                                weft_position *at)
{
    const weft_batches *const batches = c->training->batches;

    WEFT_TRY(need_int(c, snapshot, "/weft/samples", weft_batches_length(batches)));
    WEFT_TRY(weft_snapshot_get_int(snapshot, WEFT__ITERATOR "/epoch", &at->epoch));
    WEFT_TRY(weft_snapshot_get_int(snapshot, "/weft/row", &at->row));
    WEFT_TRY(need_ranks(c, snapshot, at->row));
    return WEFT_OK;
}

static weft_status get_optimizer(const weft__checkpoint *c, weft_snapshot *snapshot,
                                 weft__facts *facts)
{
    WEFT_TRY(need_rule(c, snapshot));
    WEFT_TRY(weft_snapshot_get_int(snapshot, WEFT__OPTIMIZER "/t", &facts->t));
    if (facts->t < 0)
        return WEFT_FAIL(WEFT_E_FORMAT, "%s: " WEFT__OPTIMIZER "/t is %" PRId64 ", less than 0",
                         c->path, facts->t);
    return get_hypers(c, snapshot, facts);
}

weft_status weft__facts_get(const weft__checkpoint *c, weft_snapshot *snapshot, weft__facts *facts)
{
    const weft_training *t = c->training;

    *facts = (weft__facts){ .t = 0 };
    WEFT_TRY(need_format(c, snapshot));
    WEFT_TRY(need_int(c, snapshot, "/weft/seed", (int64_t)t->seed));
    WEFT_TRY(need_int(c, snapshot, "/weft/parameters", c->n));
    WEFT_TRY(weft_snapshot_get_int(snapshot, "/updater/iteration", &facts->position.step));
    WEFT_TRY(weft_snapshot_get_real(snapshot, "/_snapshot_elapsed_time", &facts->elapsed));
    if (t->batches != NULL)
        WEFT_TRY(get_position(c, snapshot, &facts->position));
    if (t->optim != NULL)
        WEFT_TRY(get_optimizer(c, snapshot, facts));
    return compare_made_of(c, snapshot);
}
