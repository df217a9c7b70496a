/* plan.h -- who does what and who sends to whom, for the whole model: plain data,
 * the same on every rank, without MPI.
 *
 * A value on its way from one component to another is an edge, also where both
 * are on one rank. Edges are matched as components are added, first sent to
 * first taken between each pair of ranks; one whose other end never comes keeps
 * -1 there, which weft__plan_check() reports.
 */
#ifndef WEFT__PLAN_H
#define WEFT__PLAN_H

#include "weft/parallel.h"

typedef struct weft__plan_input {
    char      *name;
    weft_dtype dtype;
    int        ndim;
    int64_t    shape[WEFT_MAX_AXES]; /* the first may be WEFT_ROWS */
} weft__plan_input;

typedef struct weft__component {
    char       *name;
    int         owner;
    weft_layer *layer; /* borrowed */
    weft_ports  from, to;
    int         in_edge[WEFT_MAX_PORTS], out_edge[WEFT_MAX_PORTS]; /* -1: the port is a word */
} weft__component;

typedef struct weft__edge {
    int from_rank, to_rank;
    int from, to;           /* components, or -1 */
    int from_port, to_port; /* of these */
} weft__edge;

typedef struct weft__plan {
    int              n_inputs, n_components, n_edges;
    int              component_room, edge_room;
    weft__plan_input input[WEFT_MAX_VARS];
    weft__component *component;
    weft__edge      *edge;
} weft__plan;

/* Rows of a batch when nothing is known: so many that halves, thirds and quarters
 * of it exist, which layers may cut. */
enum { WEFT__TRIAL_ROWS = 12 };

/* ---- plan.c: making it */

weft_status weft__plan_input_add(weft__plan *plan, const char *name, weft_dtype dtype, int ndim,
                                 const int64_t *shape);
weft_status weft__plan_component_add(weft__plan *plan, const char *name, int owner,
                                     weft_layer *layer, weft_ports from, weft_ports to);
void        weft__plan_clear(weft__plan *plan);

/* Which of the model's inputs a port of `from` asks for, first and one behind the
 * last, or none. */
typedef struct weft__span {
    int begin, end;
} weft__span;

weft__span weft__plan_port_inputs(const weft__plan *plan, int port);

/* The number of the output that a port of `to` gives; -1: none. */
int weft__plan_port_output(int port);

/* Rows of a step: those asked for, or the first extent of the inputs if none is open. */
int64_t weft__plan_rows(const weft__plan *plan, int64_t rows);

/* The component that gives output number k, the first if there are two; -1: none. */
int weft__plan_giver(const weft__plan *plan, int output);

/* What c is called with: the model's inputs and what is held on edges, by number. */
weft_status weft__plan_gather(const weft__plan *plan, const weft__component *c,
                              const weft_vars *input, const weft_vars *held, weft_vars *in);

/* ---- plan_params.c: what is trained */

typedef weft_status weft__param_visit(void *context, int component, const char *name,
                                      const weft_var *param);

/* Visit the parameters of one component, by full name, in the order of its tree. */
weft_status weft__plan_each_param(const weft__plan *plan, int component, weft__param_visit *visit,
                                  void *context);

/* ---- plan_check.c: proving that it can run */

/* @param order  n_components of them: filled with components as they can run */
weft_status weft__plan_check(const weft__plan *plan, int ranks, int *order);

/* ---- plan_order.c: the last part of it; every edge has both its ends */

weft_status weft__plan_order(const weft__plan *plan, int ranks, int *order);

/* ---- plan_shapes.c: what flows */

/* One tensor of what a component gives. */
typedef struct weft__plan_part {
    weft_dtype dtype;
    int        ndim;
    int64_t    shape[WEFT_MAX_AXES];
    bool       has_gradient; /* whether one comes back */
} weft__plan_part;

/* What each component gives, and so each of its edges carries. */
typedef struct weft__plan_parts {
    int             n;
    weft__plan_part at[WEFT_MAX_VARS];
} weft__plan_parts;

/* For batches of so many rows. */
typedef struct weft__plan_shapes {
    int64_t           rows;
    weft__plan_parts *of; /* by component */
} weft__plan_shapes;

/* Run every component dry, in this order. */
weft_status weft__plan_shapes_find(weft__plan_shapes *shapes, const weft__plan *plan,
                                   const int *order, int64_t rows);
void        weft__plan_shapes_clear(weft__plan_shapes *shapes);

/* A bit for each part: those whose gradient comes back. */
typedef unsigned weft__part_set;

weft__part_set weft__plan_gradients(const weft__plan_parts *parts);

/* Bytes of the parts, or of their gradients. */
int64_t weft__plan_parts_bytes(const weft__plan_parts *parts, bool gradients);

/* ---- plan_text.c, plan_table.c: saying it */

weft_status weft__plan_print(const weft__plan *plan, const weft__plan_shapes *shapes, int ranks,
                             FILE *to);

/* One line for each input, then one for each component; owned. */
char *weft__plan_text(const weft__plan *plan);

#endif
