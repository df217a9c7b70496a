/* checkpoint_tensors.c -- the tensors of a checkpoint: which, where they lie, and
 * whether all ranks think so. */
#include "train/checkpoint.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- ranks ---- */

weft_status weft__checkpoint_agree(const weft__checkpoint *c, weft_status mine)
{
    weft_comm *const comm = c->training->comm;
    return comm == NULL ? mine : weft_comm_agree(comm, mine, "checkpoint");
}

enum { MOST_FACTS = 8 };

static const char RULE[] = "the rule"; /* the fact that is a word */

/* The first letters of a word as a number. */
enum { LETTERS = 8 };

static int64_t letters(const char *word)
{
    uint64_t number = 0;

    for (int i = 0; i < LETTERS && word[i] != '\0'; i++)
        number = 256 * number + (unsigned char)word[i];
    return (int64_t)number;
}

/* A fact's value in words. */
typedef struct value_text {
    char at[32];
} value_text;

static value_text text_of(const weft__fact *fact, int64_t value)
{
    value_text text = { "" };
    int        n = 0;

    if (fact->name != RULE) {
        snprintf(text.at, sizeof text.at, "%" PRId64, value);
        return text;
    }
    for (int shift = 8 * (LETTERS - 1); shift >= 0; shift -= 8)
        if ((uint64_t)value >> shift != 0)
            text.at[n++] = (char)((uint64_t)value >> shift & 0xff);
    return text;
}

/* The largest of x and of ~x = -x - 1 over ranks tell the largest and the smallest x. */
weft_status weft__checkpoint_compare(const weft__checkpoint *c, int n, const weft__fact *fact)
{
    int64_t     both[2 * MOST_FACTS];
    weft_tensor x = weft_tensor_wrap(WEFT_I64, 1, (int64_t[]){ 2 * n }, both);

    for (int i = 0; i < n; i++) {
        both[i] = fact[i].value;
        both[n + i] = ~fact[i].value;
    }
    if (c->training->comm != NULL)
        WEFT_TRY(weft_comm_allreduce(c->training->comm, &x, WEFT_REDUCE_MAX, "checkpoint"));
    for (int i = 0; i < n; i++)
        if (both[i] != ~both[n + i])
            return WEFT_FAIL(WEFT_E_STATE, "%s: %s differs between ranks: %s to %s, and %s here",
                             c->path, fact[i].name, text_of(&fact[i], ~both[n + i]).at,
                             text_of(&fact[i], both[i]).at, text_of(&fact[i], fact[i].value).at);
    return WEFT_OK;
}

/* ---- which ---- */

static int count_slots(const weft_rule *rule)
{
    int n = 0;

    while (n < WEFT_MAX_SLOTS && rule->slot[n] != NULL)
        n++;
    return n;
}

static weft_tensor without_data(const weft_tensor *x)
{
    return weft_tensor_wrap(x->dtype, x->ndim, x->shape, NULL);
}

/* Parameter number `index` of those here, and its slots. */
static void find_here(weft__kept *kept, const weft__checkpoint *c, weft_var *param, int index)
{
    kept->value = &param->value;
    if (c->n_slots > 0)
        kept->slot = weft_optim_slots(c->training->optim).at + index * c->n_slots;
}

static void list_model(weft__checkpoint *c, const weft_placed *placed)
{
    for (int i = 0; i < c->n; i++) {
        const weft_placed *p = &placed[i];
        c->kept[i] = (weft__kept){ .name = p->name,
                                   .owner = p->owner,
                                   .like = weft_tensor_wrap(p->dtype, p->ndim, p->shape, NULL) };
        if (p->here != NULL)
            find_here(&c->kept[i], c, p->here, p->index);
    }
}

static void list_params(weft__checkpoint *c, weft_params *params)
{
    for (int i = 0; i < c->n; i++) {
        weft_var *const param = weft_params_var(params, i);
        c->kept[i] = (weft__kept){ .name = weft_params_name(params, i),
                                   .like = without_data(&param->value) };
        find_here(&c->kept[i], c, param, i);
    }
}

static weft_status check(const weft_training *t, const char *path)
{
    if (path == NULL || *path == '\0')
        return WEFT_FAIL(WEFT_E_ARG, "a checkpoint without a file name");
    if ((t->model == NULL) == (t->params == NULL))
        return WEFT_FAIL(WEFT_E_ARG, "%s: a checkpoint of %s", path,
                         t->model == NULL ? "no parameters" : "both a chain list and params");

    const weft_params *params = t->model != NULL ? weft_chain_list_params(t->model) : t->params;
    if (params == NULL)
        return WEFT_FAIL(WEFT_E_STATE, "%s: a checkpoint of a model that is not built", path);
    if (t->optim != NULL && weft_optim_params(t->optim) != params)
        return WEFT_FAIL(WEFT_E_ARG, "%s: the optimizer moves other parameters", path);
    return WEFT_OK;
}

static weft_status list(weft__checkpoint *c)
{
    const weft_training *t = c->training;
    const weft_placed   *placed = NULL;

    WEFT_TRY(check(t, c->path));
    c->n = t->model != NULL ? weft_chain_list_placed(t->model, &placed) : weft_params_n(t->params);
    if (t->optim != NULL) {
        c->slot = weft_optim_rule(t->optim)->slot;
        c->n_slots = count_slots(weft_optim_rule(t->optim));
    }
    WEFT_TRY_NEW(c->kept = weft_alloc_zeroed(c->n * (int64_t)sizeof *c->kept));
    if (t->model != NULL)
        list_model(c, placed);
    else
        list_params(c, t->params);
    return WEFT_OK;
}

static weft_status compare_structure(const weft__checkpoint *c)
{
    const weft_training *t = c->training;
    const weft__fact     fact[] = {
            { "whether there is a chain list", t->model != NULL },
            { "whether there is an optimizer", t->optim != NULL },
            { RULE, t->optim != NULL ? letters(weft_optim_name(t->optim)) : 0 },
            { "whether there are batches", t->batches != NULL },
            { "the length of the data set", t->batches ? weft_batches_length(t->batches) : 0 },
            { "the number of parameters", c->n },
            { "the seed", (int64_t)t->seed },
    };
    return weft__checkpoint_compare(c, (int)(sizeof fact / sizeof *fact), fact);
}

weft_status weft__checkpoint_begin(weft__checkpoint *c, const weft_training *training,
                                   const char *path)
{
    weft_comm *const comm = training->comm;

    *c = (weft__checkpoint){ .training = training, .path = path, .size = 1 };
    if (comm != NULL) {
        c->rank = weft_comm_rank(comm);
        c->size = weft_comm_size(comm);
    }
    WEFT_TRY(weft__checkpoint_agree(c, list(c)));
    WEFT_TRY(compare_structure(c));
    return WEFT_OK;
}

void weft__checkpoint_end(weft__checkpoint *c)
{
    weft_free(c->kept);
}

/* ---- each ---- */

static weft_status visit_at(weft__checkpoint_visit *visit, void *context, const weft__kept *kept,
                            weft_tensor *here, char *path)
{
    const weft__kept_tensor x = { path, kept->owner, &kept->like, here };
    const weft_status       done = path == NULL ? weft_error_status() : visit(context, &x);

    weft_free(path);
    return done;
}

static weft_status visit_slot(const weft__checkpoint *c, const weft__kept *kept, int k,
                              weft__checkpoint_visit *visit, void *context)
{
    return visit_at(visit, context, kept, kept->slot != NULL ? kept->slot[k] : NULL,
                    weft__text_create(WEFT__OPTIMIZER "/%s/%s", kept->name, c->slot[k]));
}

weft_status weft__checkpoint_each(const weft__checkpoint *c, weft__checkpoint_visit *visit,
                                  void *context)
{
    for (int i = 0; i < c->n; i++) {
        const weft__kept *kept = &c->kept[i];
        WEFT_TRY(visit_at(visit, context, kept, kept->value,
                          weft__text_create(WEFT__MODEL "/%s", kept->name)));
        for (int k = 0; k < c->n_slots; k++)
            WEFT_TRY(visit_slot(c, kept, k, visit, context));
    }
    return WEFT_OK;
}

/* Nothing else is under way between steps; the last edge is no model's. */
weft_route weft__checkpoint_route(const weft__checkpoint *c, const weft__kept_tensor *x)
{
    return (weft_route){ .peer = c->rank == 0 ? x->owner : 0,
                         .edge = WEFT_MAX_EDGE,
                         .label = "checkpoint" };
}

int64_t weft__checkpoint_most_bytes(const weft__checkpoint *c)
{
    int64_t most = 0;

    for (int i = 0; i < c->n; i++) {
        const int64_t bytes = weft_tensor_bytes(&c->kept[i].like);
        if (c->kept[i].owner != 0 && bytes > most)
            most = bytes;
    }
    return most;
}
