/** @file data.h -- data sets, shares of them, batches.
 *
 * A data set is a number of samples; each has the same fields, "x" and "t" say,
 * of fixed shape and dtype. It knows how to write some samples into rows of a
 * batch. Everything about order is a pure function of (seed, epoch), so every
 * rank knows which samples a batch holds, also one without the data.
 */
#ifndef WEFT_DATA_H
#define WEFT_DATA_H

#include "weft/autograd.h"

WEFT_BEGIN

typedef struct weft_dataset weft_dataset;

enum { WEFT_MAX_FIELDS = 8 };

/** One field of a sample: shape without the axis of samples. */
typedef struct weft_field {
    const char *name;
    weft_dtype  dtype;
    int         ndim;
    int64_t     shape[WEFT_MAX_AXES];
} weft_field;

/* ---- data sets -------------------------------------------------------------- */

/** Images and labels in IDX files, raw or gzip: "x" (pixels) in @p dtype, each
 * pixel / 255, and "t" () i32. Held as bytes; converted a batch at a time. Owned.
 * @return NULL: WEFT_E_IO, WEFT_E_FORMAT naming the file, the offset and what was
 *         expected there: wrong magic, dimensions, length (too short or too
 *         long), a damaged gzip stream, numbers of images and labels that differ. */
WEFT_API weft_dataset *weft_idx_open(const char *images, const char *labels, weft_dtype dtype);

/** MNIST or a sibling from a folder: "train" (train-images-idx3-ubyte and
 * train-labels-idx1-ubyte, with or without .gz) or "test" (t10k-...): images of
 * 28 x 28, labels 0 to 9. Owned. @return NULL: as weft_idx_open(), also for images or
 * labels of another form, or a folder that is none; WEFT_E_ARG for another part. */
WEFT_API weft_dataset *weft_mnist_open(const char *folder, const char *part, weft_dtype dtype);

/** Where MNIST-like data lies on this machine: @p folder if not NULL, else
 * $WEFT_DATA, else the folder of Debian's dataset-fashion-mnist. $WEFT_DATA set to
 * nothing is none, though that package be there.
 * @return NULL if there is nothing of these: not a failure. A folder that was
 * named but does not exist is returned, so that opening it says so. */
WEFT_API const char *weft_mnist_folder(const char *folder);

/** A made-up set of the same form, the same for the same arguments on every
 * machine: ten classes, each a fixed picture of 28 x 28, moved, scaled and
 * with noise. @p part as above, with different samples. Owned. */
WEFT_API weft_dataset *weft_synthetic_mnist(int64_t n, const char *part, uint64_t seed,
                                            weft_dtype dtype);

/** @p n samples from tensors whose first axis is n: borrowed, until the set ends.
 * Owned. @return NULL: WEFT_E_SHAPE if first axes differ. */
WEFT_API weft_dataset *weft_tensor_dataset(int fields, const char *const *name,
                                           const weft_tensor *const *x);

/** A set of @p length samples without fields, for ranks that need no data but
 * must make the same steps; its batches still carry numbers. Owned. */
WEFT_API weft_dataset *weft_empty_dataset(int64_t length);

/** End it. NULL is allowed. */
WEFT_API void weft_dataset_destroy(weft_dataset *dataset);

WEFT_API int64_t weft_dataset_length(const weft_dataset *dataset); /**< samples in it */
WEFT_API int     weft_dataset_fields(const weft_dataset *dataset); /**< of each sample */

/** Field number @p index; borrowed until the set ends. @return NULL if there is none. */
WEFT_API const weft_field *weft_dataset_field(const weft_dataset *dataset, int index);

/** Write samples @p sample[0 .. n - 1] of field @p field to the first n rows of @p to.
 * @return WEFT_E_ARG for a field or a sample that is not in the set; WEFT_E_DTYPE,
 *         WEFT_E_SHAPE if @p to is not made for them; what the format fails with. */
WEFT_API weft_status weft_dataset_read(const weft_dataset *dataset, int field, int64_t n,
                                       const int64_t *sample, weft_tensor *to);

/* ---- how to write a format --------------------------------------------------- */

typedef struct weft_dataset_kind {
    const char *name;
    weft_status (*read)(const void *state, int field, int64_t n, const int64_t *sample,
                        weft_tensor *to);
    void (*destroy)(void *state);
} weft_dataset_kind;

/** A set of this kind (a static table); @p state is taken. Owned. */
WEFT_API weft_dataset *weft_dataset_create(const weft_dataset_kind *kind, void *state,
                                           int64_t length, int fields, const weft_field *field);

/* ---- shares ------------------------------------------------------------------- */

/** Rank @p rank's part [begin, end) of @p n samples over @p size ranks.
 * @p equal: all parts have ceil(n / size) samples and begin at floor(n rank / size),
 * so neighbours may overlap; else the first n mod size ranks have one more than
 * the others and nothing overlaps. With @p size < 1 it is empty. */
WEFT_API void weft_share(int64_t n, int rank, int size, bool equal, int64_t *begin, int64_t *end);

/* ---- batches -------------------------------------------------------------------- */

typedef struct weft_batches_options {
    int64_t  batch;   /**< rows of a batch here; the last of an epoch may have fewer */
    bool     shuffle; /**< a new order each epoch, by (seed, epoch); else 0, 1, 2, ... */
    bool     once;    /**< one epoch, for evaluation; else without end */
    bool     equal;   /**< equal shares, see weft_share() */
    uint64_t seed;
    int      rank, size; /**< which share of the order is ours; size 0: all of it */
} weft_batches_options;

/** One batch. Borrowed until the next call of weft_batches_next(). */
typedef struct weft_batch {
    weft_step          step; /**< hand it to weft_tape_step_set() */
    int64_t            epoch;
    bool               last;               /**< of its epoch */
    int                fields;             /**< 0 for an empty data set */
    const weft_tensor *x[WEFT_MAX_FIELDS]; /**< (rows, ...); in the order of the fields */
} weft_batch;

/** Goes through a data set, borrowed, in batches. */
typedef struct weft_batches weft_batches;

/** At the begin of epoch 0; @p dataset is borrowed and must outlive it. Owned.
 * @return NULL: WEFT_E_ARG, naming the option; WEFT_E_NOMEM. */
WEFT_API weft_batches *weft_batches_create(const weft_dataset         *dataset,
                                           const weft_batches_options *options);

/** End it. NULL is allowed. */
WEFT_API void weft_batches_destroy(weft_batches *batches);

/** Read the next batch. With once, @p batch->step.rows is 0 and nothing was read
 * when all are through: the next call begins again. */
WEFT_API weft_status weft_batches_next(weft_batches *batches, weft_batch *batch);

/** Set the tape's step and make the batch's fields its inputs, without a copy: as
 * many variables as fields, none for an empty data set. The batch is borrowed
 * until the tape is cleared. */
WEFT_API weft_vars weft_batch_vars(weft_tape *tape, const weft_batch *batch);

/** Where the next batch begins. */
typedef struct weft_position {
    int64_t step;  /**< batches so far */
    int64_t epoch; /**< whole epochs so far */
    int64_t row;   /**< samples so far in this epoch, of this share */
} weft_position;

/** Where it stands: what a snapshot keeps of it, but for the seed. */
WEFT_API weft_position weft_batches_position(const weft_batches *batches);

/** Go there. @return WEFT_E_ARG for a place that is not in the set. */
WEFT_API weft_status weft_batches_position_set(weft_batches        *batches,
                                               const weft_position *position);

/** Batches in an epoch of this share, the last and perhaps shorter one included. */
WEFT_API int64_t weft_batches_per_epoch(const weft_batches *batches);

/** Samples in the whole data set. */
WEFT_API int64_t weft_batches_length(const weft_batches *batches);

/** Whether it goes through the set once, for evaluation. */
WEFT_API bool weft_batches_is_once(const weft_batches *batches);

/** Samples that a full batch holds over all ranks: batch times size, if the share
 * has that many. */
WEFT_API int64_t weft_batches_rows(const weft_batches *batches);

/** The order, of the whole set, in the epoch of weft_batches_position(): where the
 * next batch begins. Borrowed until the last batch of that epoch has been read.
 * NULL where it does not shuffle. */
WEFT_API const int64_t *weft_batches_order(const weft_batches *batches);

WEFT_END

#endif
