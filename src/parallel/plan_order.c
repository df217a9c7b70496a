/* plan_order.c -- a plan run in thought: sends never wait, receives do. Gives an order in
 * which all components can run, or names a cycle of ranks that wait for each other. */
#include "parallel/plan.h"

/* The first port of c whose sender has not run; -1: none. */
static int missing_port(const weft__plan *plan, const weft__component *c, const bool *has_run)
{
    for (int port = 0; port < c->from.n; port++)
        if (c->in_edge[port] >= 0 && !has_run[plan->edge[c->in_edge[port]].from])
            return port;
    return -1;
}

/* One pass over the list: every rank goes on until it has to wait; @p waits_at
 * keeps for each the component at which it does, or -1. @return how many ran. */
static int pass(const weft__plan *plan, int ranks, bool *has_run, int *waits_at, int *order, int n)
{
    const int before = n;
    for (int rank = 0; rank < ranks; rank++)
        waits_at[rank] = -1;
    for (int i = 0; i < plan->n_components; i++) {
        const weft__component *c = &plan->component[i];
        if (has_run[i] || waits_at[c->owner] >= 0)
            continue;
        if (missing_port(plan, c, has_run) >= 0) {
            waits_at[c->owner] = i;
        } else {
            has_run[i] = true;
            order[n++] = i;
        }
    }
    return n - before;
}

/* The edge that a component waits for. */
static int awaited(const weft__plan *plan, int component, const bool *has_run)
{
    const weft__component *c = &plan->component[component];
    return c->in_edge[missing_port(plan, c, has_run)];
}

/* A rank that waits, waits for one that waits: after as many steps as there are
 * ranks we are on the cycle. Say what each on it waits for. */
static weft_status tell_cycle(const weft__plan *plan, int ranks, const bool *has_run,
                              const int *waits_at)
{
    char   text[800] = "";
    size_t used = 0;
    int    rank = 0;

    while (waits_at[rank] < 0)
        rank++;
    for (int i = 0; i < ranks; i++)
        rank = plan->edge[awaited(plan, waits_at[rank], has_run)].from_rank;

    const int start = rank;
    do {
        const int              number = awaited(plan, waits_at[rank], has_run);
        const weft__component *c = &plan->component[waits_at[rank]];
        const weft__component *from = &plan->component[plan->edge[number].from];
        if (used < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used,
                                     "%s'%s' (rank %d) waits for edge %d from '%s' (rank %d)",
                                     used > 0 ? "; " : "", c->name, c->owner, number, from->name,
                                     from->owner);
        rank = from->owner;
    } while (rank != start);
    return WEFT_FAIL(WEFT_E_PLAN, "a cycle of waiting: %s", text);
}

static weft_status run(const weft__plan *plan, int ranks, bool *has_run, int *waits_at, int *order)
{
    int n = 0, ran;
    do
        n += ran = pass(plan, ranks, has_run, waits_at, order, n);
    while (ran > 0);
    return n == plan->n_components ? WEFT_OK : tell_cycle(plan, ranks, has_run, waits_at);
}

weft_status weft__plan_order(const weft__plan *plan, int ranks, int *order)
{
    bool *has_run = weft_alloc_zeroed((int64_t)sizeof *has_run * plan->n_components);
    int  *waits_at = weft_alloc((int64_t)sizeof *waits_at * ranks);

    const weft_status done = has_run == NULL || waits_at == NULL
                                 ? weft_error_status()
                                 : run(plan, ranks, has_run, waits_at, order);
    weft_free(has_run);
    weft_free(waits_at);
    return done;
}
