/* chain_list_compare.c -- all ranks hold the same list: rank 0's in words, line by line. */
#include "parallel/chain_list.h"
#include "base/text.h"

#include <string.h>

static int line_length(const char *line)
{
    return (int)strcspn(line, "\n");
}

/* What a line of the text below is about: "component 'l1'". */
static const char *line_subject(const weft__plan *plan, int line, char *text, size_t room)
{
    const int input = line - 1, component = input - plan->n_inputs;

    if (line == 0)
        snprintf(text, room, "what parameters are made of");
    else if (component < 0)
        snprintf(text, room, "input '%s'", plan->input[input].name);
    else if (component < plan->n_components)
        snprintf(text, room, "component '%s'", plan->component[component].name);
    else
        snprintf(text, room, "component %d", component);
    return text;
}

/* @p mine and @p first (rank 0's) line by line. */
static weft_status compare_lines(const weft_chain_list *model, const char *mine, const char *first)
{
    char subject[200];

    for (int line = 0;; line++) {
        const int n = line_length(mine), m = line_length(first);
        if (n != m || memcmp(mine, first, (size_t)n) != 0)
            return WEFT_FAIL(WEFT_E_PLAN,
                             "%s differs between ranks 0 and %d: \"%.*s\" and "
                             "\"%.*s\"",
                             line_subject(&model->plan, line, subject, sizeof subject), model->rank,
                             m < 250 ? m : 250, first, n < 250 ? n : 250, mine);
        if (mine[n] == '\0' && first[m] == '\0')
            return WEFT_OK;
        mine += n + (mine[n] != '\0');
        first += m + (first[m] != '\0');
    }
}

static weft_status bcast_text(weft_comm *comm, char *text, int64_t bytes)
{
    weft_tensor x = weft_tensor_wrap(WEFT_U8, 1, &bytes, text);
    return weft_comm_bcast(comm, &x, 0, "plan of rank 0");
}

static weft_status bcast_length(weft_comm *comm, int64_t *bytes)
{
    weft_tensor x = weft_tensor_wrap(WEFT_I64, 0, NULL, bytes);
    return weft_comm_bcast(comm, &x, 0, "length of the plan of rank 0");
}

/* Rank 0's text, owned; NULL on every rank if one has no memory for it. */
static char *fetch_first(weft_comm *comm, const char *mine)
{
    int64_t bytes = (int64_t)strlen(mine) + 1;
    if (bcast_length(comm, &bytes) != WEFT_OK)
        return NULL;

    char             *first = weft_comm_rank(comm) == 0 ? weft_text_copy(mine) : weft_alloc(bytes);
    const weft_status here = first != NULL ? WEFT_OK : weft_error_status();
    if (weft_comm_agree(comm, here, "room for the plan") == WEFT_OK &&
        bcast_text(comm, first, bytes) == WEFT_OK)
        return first;
    weft_free(first);
    return NULL;
}

static weft_status compare_with_first(const weft_chain_list *model, const char *mine)
{
    char *first = fetch_first(model->comm, mine);
    if (first == NULL)
        return weft_error_status();
    const weft_status same = compare_lines(model, mine, first);
    weft_free(first);
    return weft_comm_agree(model->comm, same, "equal plans");
}

/* All that has to be equal, in lines. NULL: out of memory. */
static char *describe(const weft_chain_list *model, const weft_params_options *options)
{
    char *plan = weft__plan_text(&model->plan), *text = NULL;
    if (plan != NULL)
        text = weft__text_create("%s, seed %llu\n%s", weft_dtype_text(options->dtype),
                                 (unsigned long long)options->seed, plan);
    weft_free(plan);
    return text;
}

weft_status weft__chain_list_compare(const weft_chain_list     *model,
                                     const weft_params_options *options)
{
    char             *mine = describe(model, options);
    const weft_status here = mine != NULL ? WEFT_OK : weft_error_status();
    weft_status       done = weft_comm_agree(model->comm, here, "plan in words");

    if (done == WEFT_OK && mine != NULL)
        done = compare_with_first(model, mine);
    weft_free(mine);
    return done;
}
