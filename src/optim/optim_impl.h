/* optim_impl.h -- what an optimizer is made of: a rule, its state, its hooks. */
#ifndef WEFT__OPTIM_IMPL_H
#define WEFT__OPTIM_IMPL_H

#include "weft/optim.h"

typedef struct weft__hook {
    weft_hook         *hook;
    void              *options; /* a copy, ours */
    struct weft__hook *next;
} weft__hook;

struct weft_optim {
    const weft_rule *rule;
    weft_params     *params;
    int64_t          t;

    int        n_hypers;
    weft_hyper hyper[WEFT_MAX_HYPERS];
    double     value[WEFT_MAX_HYPERS]; /* of hyper[k], as the rule takes them */

    int           n_slots;
    weft_arena   *arena;                /* slots and the tables below */
    void         *flat[WEFT_MAX_SLOTS]; /* each laid out as the parameters are */
    weft_tensor  *piece;                /* of parameter i and slot k, at i n_slots + k */
    weft_tensor **pieces;               /* piece by piece, as a bundle wants them */
    char        **names;
    bool         *moved; /* of parameter i, in the step that is being made */

    weft__hook *hooks; /* in the order added */
};

weft_status weft__hooks_run(const weft__hook *first, weft_params *params);
void        weft__hooks_destroy(weft__hook *first); /* NULL is allowed */

/* WEFT_E_ARG for options that Adam and AdamW cannot work with. */
weft_status weft__adam_check(const char *name, const weft_adam_options *options);

#endif
