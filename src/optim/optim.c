/* optim.c -- a rule and its state for a set of parameters: made, asked, ended. */
#include "optim/optim_impl.h"

#include <math.h>
#include <string.h>

/* ---- slots --------------------------------------------------------------- */

/* "l1/W" and "m" -> "l1/W/m" */
static char *join(weft_arena *arena, const char *path, const char *name)
{
    const size_t before = strlen(path), after = strlen(name) + 1;
    char        *text = weft_arena_take(arena, (int64_t)(before + 1 + after));

    if (text == NULL)
        return NULL;
    memcpy(text, path, before);
    text[before] = '/';
    memcpy(text + before + 1, name, after);
    return text;
}

/* Slot k of parameter i lies in its flat vector where the parameter lies in its own. */
static weft_status cut(weft_optim *optim, int i, int k)
{
    const int          at = i * optim->n_slots + k;
    const weft_tensor *x = &weft_params_var(optim->params, i)->value;
    const int64_t      offset = weft_params_offset(optim->params, i) * weft_dtype_bytes(x->dtype);
    char              *data = (char *)optim->flat[k] + offset;

    optim->piece[at] = weft_tensor_wrap(x->dtype, x->ndim, x->shape, data);
    optim->pieces[at] = &optim->piece[at];
    WEFT_TRY_NEW(optim->names[at] =
                     join(optim->arena, weft_params_name(optim->params, i), optim->rule->slot[k]));
    return WEFT_OK;
}

static weft_status take_flat(weft_optim *optim)
{
    const int64_t bytes = weft_tensor_bytes(weft_params_flat_values(optim->params));

    for (int k = 0; k < optim->n_slots; k++) {
        WEFT_TRY_NEW(optim->flat[k] = weft_arena_take(optim->arena, bytes));
        memset(optim->flat[k], 0, (size_t)bytes);
    }
    return WEFT_OK;
}

static weft_status take_tables(weft_optim *optim)
{
    const int64_t n = weft_params_n(optim->params), all = n * optim->n_slots;

    WEFT_TRY_NEW(optim->moved = weft_arena_take(optim->arena, n * (int64_t)sizeof *optim->moved));
    WEFT_TRY_NEW(optim->piece = weft_arena_take(optim->arena, all * (int64_t)sizeof *optim->piece));
    WEFT_TRY_NEW(optim->pieces =
                     weft_arena_take(optim->arena, all * (int64_t)sizeof *optim->pieces));
    WEFT_TRY_NEW(optim->names = weft_arena_take(optim->arena, all * (int64_t)sizeof *optim->names));
    return WEFT_OK;
}

static weft_status take_slots(weft_optim *optim)
{
    const weft_tensor *values = weft_params_flat_values(optim->params);

    WEFT_TRY_NEW(optim->arena =
                     weft_arena_create(optim->n_slots * weft_tensor_bytes(values), NULL));
    WEFT_TRY(take_flat(optim));
    WEFT_TRY(take_tables(optim));
    for (int i = 0; i < weft_params_n(optim->params); i++)
        for (int k = 0; k < optim->n_slots; k++)
            WEFT_TRY(cut(optim, i, k));
    return WEFT_OK;
}

/* ---- life ---------------------------------------------------------------- */

static weft_status take_hypers(weft_optim *optim, const double *hyper)
{
    const weft_rule *rule = optim->rule;

    while (optim->n_slots < WEFT_MAX_SLOTS && rule->slot[optim->n_slots] != NULL)
        optim->n_slots++;
    while (optim->n_hypers < WEFT_MAX_HYPERS && rule->hyper[optim->n_hypers] != NULL)
        optim->n_hypers++;
    for (int k = 0; k < optim->n_hypers; k++) {
        if (!isfinite(hyper[k]))
            return WEFT_FAIL(WEFT_E_ARG, "%s with %s %g", rule->name, rule->hyper[k], hyper[k]);
        optim->hyper[k] = (weft_hyper){ rule->hyper[k], hyper[k] };
        optim->value[k] = hyper[k];
    }
    return WEFT_OK;
}

static weft_status build(weft_optim *optim, const double *hyper)
{
    WEFT_TRY_NEW(optim->params);
    WEFT_TRY(take_hypers(optim, hyper));
    WEFT_TRY(take_slots(optim));
    return WEFT_OK;
}

weft_optim *weft_optim_create(weft_params *params, const weft_rule *rule, const double *hyper)
{
    weft_optim *optim = weft_alloc_zeroed(sizeof *optim);
    if (optim == NULL)
        return NULL;

    optim->rule = rule;
    optim->params = params;
    if (build(optim, hyper) != WEFT_OK) {
        weft_optim_destroy(optim);
        return NULL;
    }
    return optim;
}

void weft_optim_destroy(weft_optim *optim)
{
    if (optim == NULL)
        return;
    weft__hooks_destroy(optim->hooks);
    weft_arena_destroy(optim->arena);
    weft_free(optim);
}

/* ---- asking and setting -------------------------------------------------- */

int64_t weft_optim_steps(const weft_optim *optim)
{
    return optim->t;
}

void weft_optim_steps_set(weft_optim *optim, int64_t t)
{
    optim->t = t;
}

double weft_optim_rate(const weft_optim *optim)
{
    return optim->value[0];
}

void weft_optim_rate_set(weft_optim *optim, double rate)
{
    optim->value[0] = optim->hyper[0].value = rate;
}

const weft_rule *weft_optim_rule(const weft_optim *optim)
{
    return optim->rule;
}

const char *weft_optim_name(const weft_optim *optim)
{
    return optim->rule->name;
}

weft_bundle weft_optim_slots(const weft_optim *optim)
{
    return (weft_bundle){
        .n = weft_params_n(optim->params) * optim->n_slots,
        .name = (const char *const *)optim->names,
        .at = optim->pieces,
    };
}

int weft_optim_hypers(const weft_optim *optim, const weft_hyper **hyper)
{
    *hyper = optim->hyper;
    return optim->n_hypers;
}

weft_params *weft_optim_params(const weft_optim *optim)
{
    return optim->params;
}
