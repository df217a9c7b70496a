/* crossing.h -- one message of a step and the way of its gradient back: what
 * programs by hand and chain lists by plan have in common. */
#ifndef WEFT__CROSSING_H
#define WEFT__CROSSING_H

#include "parallel/plan.h"

/* Both ways over one edge. */
typedef struct weft__ways {
    weft_route there; /* of values */
    weft_route back;  /* of gradients */
} weft__ways;

/* @param labels  of both, borrowed for good */
weft__ways weft__ways_of(const weft_tape *tape, int peer, int edge, const char *there_label,
                         const char *back_label);

/* Send x; never waits. @return a delegate; NULL after a failure. */
weft_var *weft__cross_send(weft_comm *comm, weft_tape *tape, weft_vars x, const weft__ways *ways,
                           weft__part_set gradients);

/* Receive parts as planned; NULL: as many as come, of the shapes that come, with a
 * gradient for each real one. The node comes after @p delegates, one or none. A
 * NULL among the parts after a failure. */
weft_vars weft__cross_recv(weft_comm *comm, weft_tape *tape, const weft__ways *ways,
                           const weft__plan_parts *parts, weft_vars delegates);

/* A variable without elements, needing no gradient. */
weft_var *weft__delegate(weft_tape *tape);

/* One more than the edge of the last message to or from this peer on the tape: those
 * sent by hand are numbered from 0 after each clear, for each pair of ranks. */
int weft__crossings(const weft_tape *tape, bool sends, const weft_comm *comm, int peer);

/* x itself, as variables of their own: whose gradients are complete before they are
 * added to x's. */
weft_vars weft__branch(weft_tape *tape, weft_vars x);

#endif
