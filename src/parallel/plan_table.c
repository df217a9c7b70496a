/* plan_table.c -- the plan for people: tables of components, edges and ranks. */
#include "parallel/plan_text.h"
#include "parallel/columns.h"

/* ---- cells ------------------------------------------------------------------------ */

/* 1234567 -> "1,234,567" */
static weft_status add_count(weft__text *text, int64_t n)
{
    char digits[24];
    int  length = snprintf(digits, sizeof digits, "%lld", (long long)n);

    for (int i = 0; i < length; i++)
        WEFT_TRY(weft__text_add(text, "%c%s", digits[i],
                                (length - i) % 3 == 1 && i < length - 1 ? "," : ""));
    return WEFT_OK;
}

static weft_status add_parts(weft__text *text, const weft__plan_parts *parts)
{
    for (int i = 0; i < parts->n; i++) {
        const weft__plan_part *p = &parts->at[i];
        const weft_tensor      x = weft_tensor_wrap(p->dtype, p->ndim, p->shape, NULL);
        WEFT_TRY(weft__text_add(text, "%s%s", i > 0 ? ", " : "", weft_shape_text(&x)));
    }
    return WEFT_OK;
}

/* ---- tables ----------------------------------------------------------------------- */

static weft_status add_components(weft__text *text, const weft__plan *plan)
{
    WEFT_TRY(weft__text_add(text, "\tcomponent\trank\tkind\tparameters\tfrom\tto\n"));
    for (int i = 0; i < plan->n_components; i++) {
        const weft__component *c = &plan->component[i];
        WEFT_TRY(weft__text_add(text, "%d\t%s\t%d\t%s\t", i, c->name, c->owner,
                                weft_layer_kind_name(c->layer)));
        WEFT_TRY(add_count(text, weft_layer_param_count(c->layer)));
        WEFT_TRY(weft__text_add(text, "\t"));
        WEFT_TRY(weft__plan_add_from(text, plan, c));
        WEFT_TRY(weft__text_add(text, "\t"));
        WEFT_TRY(weft__plan_add_to(text, plan, c));
        WEFT_TRY(weft__text_add(text, "\n"));
    }
    return WEFT_OK;
}

static weft_status add_edges(weft__text *text, const weft__plan *plan,
                             const weft__plan_shapes *shapes)
{
    WEFT_TRY(weft__text_add(text, "\tedge\tranks\tcarries\tbytes\tback\n"));
    for (int i = 0; i < plan->n_edges; i++) {
        const weft__edge       *e = &plan->edge[i];
        const weft__plan_parts *parts = &shapes->of[e->from];
        WEFT_TRY(weft__text_add(text, "%d\t%s to %s\t", i, plan->component[e->from].name,
                                plan->component[e->to].name));
        WEFT_TRY(e->from_rank == e->to_rank
                     ? weft__text_add(text, "within %d\t", e->from_rank)
                     : weft__text_add(text, "%d to %d\t", e->from_rank, e->to_rank));
        WEFT_TRY(add_parts(text, parts));
        WEFT_TRY(weft__text_add(text, "\t"));
        WEFT_TRY(add_count(text, weft__plan_parts_bytes(parts, false)));
        WEFT_TRY(weft__text_add(text, "\t"));
        WEFT_TRY(add_count(text, weft__plan_parts_bytes(parts, true)));
        WEFT_TRY(weft__text_add(text, "\n"));
    }
    return WEFT_OK;
}

/* What one rank has to do in a training step. */
typedef struct load {
    int     components, messages; /* messages that it sends, both ways */
    int64_t parameters, bytes;    /* bytes in these */
} load;

static load load_of(const weft__plan *plan, const weft__plan_shapes *shapes, int rank)
{
    load l = { 0 };

    for (int i = 0; i < plan->n_components; i++) {
        const weft__component *c = &plan->component[i];
        l.components += c->owner == rank;
        l.parameters += c->owner == rank ? weft_layer_param_count(c->layer) : 0;
    }
    for (const weft__edge *e = plan->edge; e < plan->edge + plan->n_edges; e++) {
        const weft__plan_parts *parts = &shapes->of[e->from];
        if (e->from_rank == e->to_rank)
            continue;
        if (e->from_rank == rank) {
            l.messages++;
            l.bytes += weft__plan_parts_bytes(parts, false);
        }
        if (e->to_rank == rank) {
            l.messages += weft__plan_gradients(parts) != 0;
            l.bytes += weft__plan_parts_bytes(parts, true);
        }
    }
    return l;
}

static weft_status add_loads(weft__text *text, const weft__plan *plan,
                             const weft__plan_shapes *shapes, int ranks)
{
    WEFT_TRY(weft__text_add(text, "rank\tcomponents\tparameters\tsends\tbytes\n"));
    for (int rank = 0; rank < ranks; rank++) {
        const load l = load_of(plan, shapes, rank);
        if (l.components == 0) {
            WEFT_TRY(weft__text_add(text, "%d\t0\t0\t0\t0\tnothing to do\n", rank));
            continue;
        }
        WEFT_TRY(weft__text_add(text, "%d\t%d\t", rank, l.components));
        WEFT_TRY(add_count(text, l.parameters));
        WEFT_TRY(weft__text_add(text, "\t%d\t", l.messages));
        WEFT_TRY(add_count(text, l.bytes));
        WEFT_TRY(weft__text_add(text, "\n"));
    }
    return WEFT_OK;
}

static weft_status print(weft__text *text, const weft__plan *plan, const weft__plan_shapes *shapes,
                         int ranks, FILE *to)
{
    WEFT_TRY(add_components(text, plan));
    WEFT_TRY(weft__columns_write(text->bytes, to));
    if (plan->n_edges > 0) {
        weft__text_clear(text);
        WEFT_TRY(weft__text_add(text, "\n"));
        WEFT_TRY(add_edges(text, plan, shapes));
        WEFT_TRY(weft__columns_write(text->bytes, to));
    }
    fprintf(to, "\na training step with batches of %lld:\n", (long long)shapes->rows);
    weft__text_clear(text);
    WEFT_TRY(add_loads(text, plan, shapes, ranks));
    return weft__columns_write(text->bytes, to);
}

weft_status weft__plan_print(const weft__plan *plan, const weft__plan_shapes *shapes, int ranks,
                             FILE *to)
{
    weft__text        text = { 0 };
    const weft_status done = print(&text, plan, shapes, ranks, to);
    weft__text_end(&text);
    return done;
}
