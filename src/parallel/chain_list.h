/* chain_list.h -- what a chain list is made of: a plan, and on each rank what it owns. */
#ifndef WEFT__CHAIN_LIST_H
#define WEFT__CHAIN_LIST_H

#include "parallel/plan.h"

/* Shapes are kept for so many different numbers of rows: full batches, a smaller last
 * one, those of an evaluation. */
enum { WEFT__KNOWN_ROWS = 8 };

struct weft_chain_list {
    weft_comm *comm; /* its own; NULL: a plan only */
    int        rank; /* here; -1: a plan only */
    weft__plan plan;

    /* Made by build, in the arena. */
    bool         is_begun, is_built;
    weft_dtype   dtype; /* of parameters */
    int          hung;  /* components before this one hang in owned, if they are ours */
    weft_layer  *owned; /* a chain that is never run: it names the parameters */
    weft_params *params;
    weft_arena  *arena;
    int         *order; /* components, as they can run */
    char       **there; /* by edge: what its messages are called, "l1 to l2"; */
    char       **back;  /* "gradient of l1 to l2" */
    weft_vars   *held;  /* by edge: what was put on it in this step, here */
    int          n_placed;
    weft_placed *placed;

    weft__plan_shapes known[WEFT__KNOWN_ROWS]; /* rows 0: not used yet */
    int               oldest;
};

/* The shapes for batches of so many rows; borrowed until eight other numbers were
 * asked for. */
weft_status weft__chain_list_shapes(weft_chain_list *model, int64_t rows,
                                    const weft__plan_shapes **shapes);

void weft__chain_list_forget_shapes(weft_chain_list *model);

/* Whether all ranks hold the same list and options. Collective. */
weft_status weft__chain_list_compare(const weft_chain_list     *model,
                                     const weft_params_options *options);

/* End what build made. */
void weft__chain_list_unbuild(weft_chain_list *model);

#endif
