/* checkpoint.h -- what a checkpoint keeps: tensors, and facts about the run. */
#ifndef WEFT__CHECKPOINT_H
#define WEFT__CHECKPOINT_H

#include "weft/io.h"
#include "weft/train.h"

/* Of the group /weft: counted up when older programs would misread it. */
enum { WEFT__CHECKPOINT_FORMAT = 1 };

#define WEFT__MODEL "/updater/model:main"
#define WEFT__OPTIMIZER "/updater/optimizer:main"
#define WEFT__ITERATOR "/updater/iterator:main"

/* A parameter and its slots. */
typedef struct weft__kept {
    const char         *name;  /* full */
    int                 owner; /* rank; 0 where every rank holds the whole model */
    weft_tensor         like;  /* dtype and shape of it and its slots; no data */
    weft_tensor        *value; /* here; NULL: only on its owner */
    weft_tensor *const *slot;
} weft__kept;

/* A checkpoint on its way to or from a file. */
typedef struct weft__checkpoint {
    const weft_training *training;
    const char          *path;
    int                  rank, size;
    int                  n, n_slots;
    weft__kept          *kept; /* the same on every rank but for what is here */
    const char *const   *slot; /* names, n_slots of them */
} weft__checkpoint;

/* ---- checkpoint_tensors.c ---- */

/* Find what is to be kept, and make sure that it is the same on every rank.
 * Collective, and fails on all ranks if on any. Ended by end, also if it fails. */
weft_status weft__checkpoint_begin(weft__checkpoint *checkpoint, const weft_training *training,
                                   const char *path);
void        weft__checkpoint_end(weft__checkpoint *checkpoint);

/* weft_comm_agree(), also alone. */
weft_status weft__checkpoint_agree(const weft__checkpoint *checkpoint, weft_status mine);

/* Compare numbers that are to be equal on every rank. Collective; fails on all. */
typedef struct weft__fact {
    const char *name;
    int64_t     value;
} weft__fact;
weft_status weft__checkpoint_compare(const weft__checkpoint *checkpoint, int n,
                                     const weft__fact *fact);

/* One tensor, for a visit. */
typedef struct weft__kept_tensor {
    const char        *path; /* in the file */
    int                owner;
    const weft_tensor *like;
    weft_tensor       *here; /* or NULL */
} weft__kept_tensor;

/* Visit values and slots in one order on every rank. Returns a visit's failure. */
typedef weft_status weft__checkpoint_visit(void *context, const weft__kept_tensor *x);
weft_status weft__checkpoint_each(const weft__checkpoint *checkpoint, weft__checkpoint_visit *visit,
                                  void *context);

/* Between rank 0 and the owner of x, for both of them. */
weft_route weft__checkpoint_route(const weft__checkpoint *checkpoint, const weft__kept_tensor *x);

/* Bytes of the largest tensor that lies on another rank than 0. */
int64_t weft__checkpoint_most_bytes(const weft__checkpoint *checkpoint);

/* ---- checkpoint_facts.c: at rank 0 ---- */

/* What decides the next step, besides tensors. */
typedef struct weft__facts {
    weft_position position;
    int64_t       t; /* steps of the optimizer */
    double        rate, elapsed;
} weft__facts;

/* Those of the run here. */
weft__facts weft__facts_now(const weft_training *training);

/* Write all that is no tensor of the model. */
weft_status weft__facts_put(const weft__checkpoint *checkpoint, weft_snapshot_writer *writer);

/* A text that says what computes: with another one the bits may be others. */
typedef struct weft__made_of {
    const char *name, *here;
} weft__made_of;

enum { WEFT__MADE_OF = 6 };
void weft__made_of_here(const weft__checkpoint *checkpoint, weft__made_of part[WEFT__MADE_OF]);

/* ---- checkpoint_match.c: at rank 0 ---- */

/* Read the facts; refuse a file of another run, warn where the bits may be others. */
weft_status weft__facts_get(const weft__checkpoint *checkpoint, weft_snapshot *snapshot,
                            weft__facts *facts);

#endif
