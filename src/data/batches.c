/* batches.c -- through a data set in batches, in an order that is a function of
 * (seed, epoch), so that every rank knows it, also one without the data.
 *
 * The order is always that of the epoch in which the next batch lies.
 */
#include "weft/data.h"

#include <inttypes.h>
#include <string.h>

struct weft_batches {
    const weft_dataset  *dataset;
    weft_batches_options options;
    int64_t              begin, end; /* our share of the order */
    int64_t             *order;      /* of the whole set; NULL: 0, 1, 2, ... */
    int64_t             *sample;     /* of the batch */
    weft_tensor         *x[WEFT_MAX_FIELDS];
    weft_position        position;
    bool                 ended; /* with once: all are through, and it was not yet said */
};

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t share(const weft_batches *b)
{
    return b->end - b->begin;
}

static void enter_epoch(weft_batches *b, int64_t epoch)
{
    b->position.epoch = epoch;
    if (b->order != NULL)
        weft_random_order(b->options.seed, epoch, weft_dataset_length(b->dataset), b->order);
}

/* ---- make, end ------------------------------------------------------------------ */

static weft_status check(const weft_batches_options *options)
{
    if (options->batch < 1)
        return WEFT_FAIL(WEFT_E_ARG, "batches of %" PRId64 " samples", options->batch);
    if (options->size < 0)
        return WEFT_FAIL(WEFT_E_ARG, "a share of a data set among %d ranks", options->size);
    if (options->size > 0 && (options->rank < 0 || options->rank >= options->size))
        return WEFT_FAIL(WEFT_E_ARG, "a share of a data set for rank %d of %d", options->rank,
                         options->size);
    return WEFT_OK;
}

static weft_status take_share(weft_batches *b)
{
    const weft_batches_options *options = &b->options;
    const int64_t               n = weft_dataset_length(b->dataset);

    if (options->size > 0)
        weft_share(n, options->rank, options->size, options->equal, &b->begin, &b->end);
    else
        b->end = n;
    if (share(b) == 0 && !options->once)
        return WEFT_FAIL(
            WEFT_E_ARG,
            "batches without end from no sample: rank %d of %d has none of the %" PRId64
            " in the data set",
            options->rank, options->size, n);
    return WEFT_OK;
}

static weft_tensor *create_rows(const weft_field *field, int64_t rows)
{
    int64_t shape[WEFT_MAX_AXES] = { rows };
    memcpy(shape + 1, field->shape, (size_t)field->ndim * sizeof *shape);
    return weft_tensor_create(field->dtype, field->ndim + 1, shape);
}

static weft_status take_memory(weft_batches *b)
{
    const int64_t n = weft_dataset_length(b->dataset), rows = smaller(b->options.batch, share(b));

    WEFT_TRY_NEW(b->sample = weft_alloc(rows * (int64_t)sizeof *b->sample));
    if (b->options.shuffle)
        WEFT_TRY_NEW(b->order = weft_alloc(n * (int64_t)sizeof *b->order));
    for (int i = 0; i < weft_dataset_fields(b->dataset); i++)
        WEFT_TRY_NEW(b->x[i] = create_rows(weft_dataset_field(b->dataset, i), rows));
    return WEFT_OK;
}

static weft_status fill_in(weft_batches *b, const weft_batches_options *options)
{
    WEFT_TRY_NEW(b->dataset);
    if (options == NULL)
        return WEFT_FAIL(WEFT_E_ARG, "batches without options");
    b->options = *options;
    WEFT_TRY(check(&b->options));
    WEFT_TRY(take_share(b));
    WEFT_TRY(take_memory(b));
    enter_epoch(b, 0);
    return WEFT_OK;
}

weft_batches *weft_batches_create(const weft_dataset *dataset, const weft_batches_options *options)
{
    weft_batches *b = weft_alloc_zeroed((int64_t)sizeof *b);

    if (b == NULL)
        return NULL;
    b->dataset = dataset;
    if (fill_in(b, options) != WEFT_OK) {
        weft_batches_destroy(b);
        return NULL;
    }
    return b;
}

void weft_batches_destroy(weft_batches *b)
{
    if (b == NULL)
        return;
    for (int i = 0; i < WEFT_MAX_FIELDS; i++)
        weft_tensor_destroy(b->x[i]);
    weft_free(b->order);
    weft_free(b->sample);
    weft_free(b);
}

/* ---- the next batch ---------------------------------------------------------------- */

static void name_samples(weft_batches *b, int64_t rows)
{
    const int64_t begin = b->begin + b->position.row;

    if (b->order != NULL)
        memcpy(b->sample, b->order + begin, (size_t)rows * sizeof *b->sample);
    else
        for (int64_t i = 0; i < rows; i++)
            b->sample[i] = begin + i;
}

/* The batch's tensors have as many rows as the batch. */
static void cut(weft_tensor *x, int64_t rows)
{
    x->count = x->count / x->shape[0] * rows;
    x->shape[0] = rows;
}

static weft_status read_fields(weft_batches *b, int64_t rows)
{
    for (int i = 0; i < weft_dataset_fields(b->dataset); i++) {
        cut(b->x[i], rows);
        WEFT_TRY(weft_dataset_read(b->dataset, i, rows, b->sample, b->x[i]));
    }
    return WEFT_OK;
}

static weft_batch describe(const weft_batches *b, int64_t rows)
{
    weft_batch batch = {
        .step = { .seed = b->options.seed,
                  .step = b->position.step,
                  .rows = rows,
                  .sample = b->sample },
        .epoch = b->position.epoch,
        .last = b->position.row + rows == share(b),
        .fields = weft_dataset_fields(b->dataset),
    };
    for (int i = 0; i < batch.fields; i++)
        batch.x[i] = b->x[i];
    return batch;
}

static void go_on(weft_batches *b, int64_t rows)
{
    b->position.step++;
    b->position.row += rows;
    if (b->position.row == share(b)) {
        b->position.row = 0;
        b->ended = b->options.once;
        enter_epoch(b, b->position.epoch + 1);
    }
}

weft_status weft_batches_next(weft_batches *b, weft_batch *batch)
{
    const int64_t rows = smaller(b->options.batch, share(b) - b->position.row);

    if (b->ended || rows == 0) {
        *batch = (weft_batch){ .step.seed = b->options.seed,
                               .step.step = b->position.step,
                               .epoch = b->position.epoch };
        b->ended = false;
        return WEFT_OK;
    }
    name_samples(b, rows);
    WEFT_TRY(read_fields(b, rows));
    *batch = describe(b, rows);
    go_on(b, rows);
    return WEFT_OK;
}

weft_vars weft_batch_vars(weft_tape *tape, const weft_batch *batch)
{
    weft_vars vars = { .n = batch->fields };

    weft_tape_step_set(tape, &batch->step);
    for (int i = 0; i < vars.n; i++)
        vars.at[i] = weft_input(tape, batch->x[i]);
    return vars;
}

/* ---- where it stands ------------------------------------------------------------------ */

weft_position weft_batches_position(const weft_batches *b)
{
    return b->position;
}

weft_status weft_batches_position_set(weft_batches *b, const weft_position *to)
{
    if (to->step < 0 || to->epoch < 0 || to->row < 0 || (to->row > 0 && to->row >= share(b)))
        return WEFT_FAIL(WEFT_E_ARG,
                         "step %" PRId64 ", epoch %" PRId64 ", row %" PRId64 " of %" PRId64
                         " is no place in the data set",
                         to->step, to->epoch, to->row, share(b));
    enter_epoch(b, to->epoch);
    b->position = *to;
    b->ended = false;
    return WEFT_OK;
}

int64_t weft_batches_per_epoch(const weft_batches *b)
{
    return share(b) / b->options.batch + (share(b) % b->options.batch > 0);
}

int64_t weft_batches_length(const weft_batches *b)
{
    return weft_dataset_length(b->dataset);
}

bool weft_batches_is_once(const weft_batches *b)
{
    return b->options.once;
}

int64_t weft_batches_rows(const weft_batches *b)
{
    return smaller(b->options.batch, share(b)) * (b->options.size > 0 ? b->options.size : 1);
}

const int64_t *weft_batches_order(const weft_batches *b)
{
    return b->order;
}
