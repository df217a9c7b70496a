/* plan_check.c -- proof, on one process and before the first message, that a plan can
 * run: all that can be seen without running it, then plan_order.c. */
#include "parallel/plan.h"

/* "'l1' (rank 0)" in messages. */
#define WHO "'%s' (rank %d)"
#define SAY(c) (c)->name, (c)->owner

/* ---- ranks --------------------------------------------------------------------- */

static weft_status check_from(const weft__plan *plan, const weft__component *c, int ranks)
{
    if (c->from.n == 0)
        return WEFT_FAIL(WEFT_E_PLAN, "component " WHO " takes nothing", SAY(c));
    for (int i = 0; i < c->from.n; i++) {
        const int        port = c->from.at[i];
        const weft__span span = weft__plan_port_inputs(plan, port);
        if (port >= ranks)
            return WEFT_FAIL(WEFT_E_PLAN, "component " WHO " takes from rank %d: there are %d",
                             SAY(c), port, ranks);
        if (port == WEFT_INPUT && plan->n_inputs == 0)
            return WEFT_FAIL(WEFT_E_PLAN,
                             "component " WHO " takes the model's inputs, and none is declared",
                             SAY(c));
        if (port < 0 && port != WEFT_INPUT && port > WEFT_INPUT_AT(0))
            return WEFT_FAIL(WEFT_E_PLAN, "component " WHO ", input port %d: %d is no rank", SAY(c),
                             i, port);
        if (port < 0 && span.begin == span.end)
            return WEFT_FAIL(WEFT_E_PLAN,
                             "component " WHO " takes input number %d: the model has %d", SAY(c),
                             WEFT_INPUT_AT(0) - port, plan->n_inputs);
    }
    return WEFT_OK;
}

static weft_status check_to(const weft__component *c, int ranks)
{
    if (c->to.n == 0)
        return WEFT_FAIL(WEFT_E_PLAN, "what component " WHO " gives goes nowhere", SAY(c));
    for (int i = 0; i < c->to.n; i++) {
        const int port = c->to.at[i];
        if (port >= ranks)
            return WEFT_FAIL(WEFT_E_PLAN, "component " WHO " sends to rank %d: there are %d",
                             SAY(c), port, ranks);
        if (port < 0 && weft__plan_port_output(port) < 0)
            return WEFT_FAIL(WEFT_E_PLAN, "component " WHO ", output port %d: %d is no rank",
                             SAY(c), i, port);
    }
    return WEFT_OK;
}

static weft_status check_ports(const weft__plan *plan, int ranks)
{
    if (plan->n_components == 0)
        return WEFT_FAIL(WEFT_E_PLAN, "the list has no components");
    if (plan->n_edges > WEFT_MAX_EDGE)
        return WEFT_FAIL(WEFT_E_PLAN, "%d edges: want at most %d", plan->n_edges, WEFT_MAX_EDGE);
    for (int i = 0; i < plan->n_components; i++) {
        const weft__component *c = &plan->component[i];
        if (c->owner < 0 || c->owner >= ranks)
            return WEFT_FAIL(WEFT_E_PLAN, "component '%s' belongs to rank %d: there are %d",
                             c->name, c->owner, ranks);
        WEFT_TRY(check_from(plan, c, ranks));
        WEFT_TRY(check_to(c, ranks));
    }
    return WEFT_OK;
}

/* ---- the model's own inputs and outputs ------------------------------------------ */

static bool takes(const weft__plan *plan, const weft__component *c, int input)
{
    for (int i = 0; i < c->from.n; i++) {
        const weft__span span = weft__plan_port_inputs(plan, c->from.at[i]);
        if (span.begin <= input && input < span.end)
            return true;
    }
    return false;
}

static weft_status check_inputs(const weft__plan *plan)
{
    for (int k = 0; k < plan->n_inputs; k++) {
        bool taken = false;
        for (int i = 0; i < plan->n_components && !taken; i++)
            taken = takes(plan, &plan->component[i], k);
        if (!taken)
            return WEFT_FAIL(WEFT_E_PLAN, "no component takes the model's input '%s'",
                             plan->input[k].name);
    }
    return WEFT_OK;
}

static weft_status check_outputs(const weft__plan *plan)
{
    const weft__component *giver[WEFT_MAX_VARS] = { NULL };
    int                    last = -1;

    for (int i = 0; i < plan->n_components; i++) {
        const weft__component *c = &plan->component[i];
        for (int port = 0; port < c->to.n; port++) {
            const int k = weft__plan_port_output(c->to.at[port]);
            if (k < 0)
                continue;
            if (giver[k] != NULL)
                return WEFT_FAIL(WEFT_E_PLAN,
                                 "components " WHO " and " WHO " both give the model's output %d",
                                 SAY(giver[k]), SAY(c), k);
            giver[k] = c;
            last = k > last ? k : last;
        }
    }
    if (last < 0)
        return WEFT_FAIL(WEFT_E_PLAN, "no component gives the model's output");
    for (int k = 0; k < last; k++)
        if (giver[k] == NULL)
            return WEFT_FAIL(WEFT_E_PLAN,
                             "no component gives the model's output %d; " WHO " gives %d", k,
                             SAY(giver[last]), last);
    return WEFT_OK;
}

/* ---- both ends of every edge ----------------------------------------------------- */

/* Edges between the same two ranks before this one. */
static int edges_before(const weft__plan *plan, const weft__edge *edge)
{
    int n = 0;
    for (const weft__edge *e = plan->edge; e < edge; e++)
        n += e->from_rank == edge->from_rank && e->to_rank == edge->to_rank;
    return n;
}

static weft_status check_sent(const weft__plan *plan, const weft__edge *e)
{
    const weft__component *to = &plan->component[e->to];
    if (e->from >= 0)
        return WEFT_OK;
    if (e->from_rank == e->to_rank)
        return WEFT_FAIL(WEFT_E_PLAN,
                         "component " WHO ", input port %d, takes from the queue of "
                         "its own rank, in which nothing is left",
                         SAY(to), e->to_port);
    return WEFT_FAIL(WEFT_E_PLAN,
                     "component " WHO ", input port %d, waits for message %d from "
                     "rank %d, which sends it %d",
                     SAY(to), e->to_port, edges_before(plan, e) + 1, e->from_rank,
                     edges_before(plan, e));
}

static weft_status check_taken(const weft__plan *plan, const weft__edge *e)
{
    const weft__component *from = &plan->component[e->from];
    if (e->to >= 0)
        return WEFT_OK;
    if (e->from_rank == e->to_rank)
        return WEFT_FAIL(WEFT_E_PLAN,
                         "what component " WHO ", output port %d, puts into the queue "
                         "of its own rank is never taken",
                         SAY(from), e->from_port);
    return WEFT_FAIL(WEFT_E_PLAN,
                     "component " WHO ", output port %d, sends message %d to rank %d, "
                     "which receives %d from it",
                     SAY(from), e->from_port, edges_before(plan, e) + 1, e->to_rank,
                     edges_before(plan, e));
}

static weft_status check_edges(const weft__plan *plan)
{
    for (int i = 0; i < plan->n_edges; i++) {
        const weft__edge *e = &plan->edge[i];
        WEFT_TRY(check_sent(plan, e));
        WEFT_TRY(check_taken(plan, e));
        if (e->from_rank == e->to_rank && e->to <= e->from)
            return WEFT_FAIL(WEFT_E_PLAN,
                             "component " WHO ", input port %d, takes from the queue "
                             "of its own rank what '%s' has not put yet",
                             SAY(&plan->component[e->to]), e->to_port,
                             plan->component[e->from].name);
    }
    return WEFT_OK;
}

weft_status weft__plan_check(const weft__plan *plan, int ranks, int *order)
{
    if (ranks < 1)
        return WEFT_FAIL(WEFT_E_ARG, "a plan for %d ranks", ranks);
    WEFT_TRY(check_ports(plan, ranks));
    WEFT_TRY(check_inputs(plan));
    WEFT_TRY(check_outputs(plan));
    WEFT_TRY(check_edges(plan));
    return weft__plan_order(plan, ranks, order);
}
