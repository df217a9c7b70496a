/* hooks.c -- what happens to gradients before the rule, in the order added. */
#include "optim/optim_impl.h"

#include <string.h>

static weft__hook *create(weft_hook *hook, const void *options, size_t bytes)
{
    weft__hook *made = weft_alloc_zeroed(sizeof *made);
    if (made == NULL)
        return NULL;

    made->hook = hook;
    made->options = weft_alloc((int64_t)bytes);
    if (made->options == NULL) {
        weft__hooks_destroy(made);
        return NULL;
    }
    if (bytes > 0)
        memcpy(made->options, options, bytes);
    return made;
}

weft_status weft_optim_add_hook(weft_optim *optim, weft_hook *hook, const void *options,
                                size_t bytes)
{
    weft__hook **end;

    WEFT_TRY_NEW(optim);
    end = &optim->hooks;
    while (*end != NULL)
        end = &(*end)->next;
    WEFT_TRY_NEW(*end = create(hook, options, bytes));
    return WEFT_OK;
}

weft_status weft__hooks_run(const weft__hook *first, weft_params *params)
{
    for (const weft__hook *h = first; h != NULL; h = h->next)
        WEFT_TRY(h->hook(h->options, params));
    return WEFT_OK;
}

void weft__hooks_destroy(weft__hook *first)
{
    while (first != NULL) {
        weft__hook *next = first->next;
        weft_free(first->options);
        weft_free(first);
        first = next;
    }
}
