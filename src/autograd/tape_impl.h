/* tape_impl.h -- what a tape is made of. */
#ifndef WEFT__TAPE_IMPL_H
#define WEFT__TAPE_IMPL_H

#include "weft/autograd.h"

/* A node in its place on the tape. */
typedef struct weft__entry {
    weft_node           node; /* first, so that a node is its entry's address */
    struct weft__entry *before, *after;
} weft__entry;

struct weft_tape {
    weft_arena  *arena;   /* everything that a step makes */
    weft_arena  *scratch; /* contributions that are still to be added, of one node */
    weft__entry *first, *last;
    weft_mode    mode;
    weft_step    step;
    bool         played;

    weft_grad_ready *ready;
    void            *ready_context;
};

/* Memory for a tensor as described; not NULL even if it has no element. */
weft_status weft__tensor_take(weft_arena *arena, weft_tensor *x);

/* sum <- sum + x, element by element. */
void weft__accumulate(weft_tensor *sum, const weft_tensor *x);

#endif
