/* replicas.c -- every rank the whole model, gradients averaged: g <- (1/K) sum_k g_k. */
#include "weft/parallel.h"

#include <string.h>

static weft_status average(const void *options, weft_params *params)
{
    weft_comm *const comm = *(weft_comm *const *)options;
    return weft_comm_allreduce(comm, weft_params_flat_grads(params), WEFT_REDUCE_MEAN,
                               "mean of the gradients");
}

/* ---- equal at the start: names, shapes, then values, against rank 0's ------------ */

enum { NAME = 56 }; /* bytes of a name that are compared */

/* A parameter in words and numbers, for another rank to compare. */
typedef struct described {
    char    name[NAME];
    int64_t dtype, ndim, shape[WEFT_MAX_AXES];
} described;

static described describe(const weft_params *params, int index)
{
    const weft_tensor *x = &weft_params_var(params, index)->value;
    described          d = { .dtype = x->dtype, .ndim = x->ndim };

    strncpy(d.name, weft_params_name(params, index), NAME - 1);
    memcpy(d.shape, x->shape, (size_t)x->ndim * sizeof *x->shape);
    return d;
}

static const char *describe_shape(const described *d)
{
    const weft_tensor like = weft_tensor_wrap((weft_dtype)d->dtype, (int)d->ndim, d->shape, NULL);
    return weft_shape_text(&like);
}

static weft_status compare_descriptions(const weft_params *params, const described *first)
{
    for (int i = 0; i < weft_params_n(params); i++) {
        const described mine = describe(params, i);
        if (memcmp(&mine, &first[i], sizeof mine) != 0)
            return WEFT_FAIL(WEFT_E_SHAPE, "parameter %d is %s %s here, and %s %s on rank 0", i,
                             mine.name, describe_shape(&mine), first[i].name,
                             describe_shape(&first[i]));
    }
    return WEFT_OK;
}

static weft_status compare_values(const weft_params *params, const weft_tensor *first)
{
    for (int i = 0; i < weft_params_n(params); i++) {
        const weft_tensor *x = &weft_params_var(params, i)->value;
        const char        *theirs =
            (const char *)first->data + weft_params_offset(params, i) * weft_dtype_bytes(x->dtype);
        if (memcmp(x->data, theirs, (size_t)weft_tensor_bytes(x)) != 0)
            return WEFT_FAIL(WEFT_E_VALUE,
                             "parameter %s differs from rank 0's when averaging begins: another "
                             "seed, or a step too many?",
                             weft_params_name(params, i));
    }
    return WEFT_OK;
}

/* ---- each of them agreed on before the next is sent ----------------------------------- */

static weft_status check_number(weft_comm *comm, const weft_params *params)
{
    int64_t     n = weft_params_n(params);
    weft_tensor first = weft_tensor_wrap(WEFT_I64, 0, NULL, &n);

    WEFT_TRY(weft_comm_bcast(comm, &first, 0, "number of parameters on rank 0"));
    const weft_status mine = n == weft_params_n(params)
                                 ? WEFT_OK
                                 : WEFT_FAIL(WEFT_E_SHAPE, "%d parameters here, %lld on rank 0",
                                             weft_params_n(params), (long long)n);
    return weft_comm_agree(comm, mine, "number of parameters");
}

/* @p room has place for the descriptions. */
static weft_status check_descriptions(weft_comm *comm, const weft_params *params, described *room)
{
    const int64_t bytes = weft_params_n(params) * (int64_t)sizeof *room;
    weft_tensor   first = weft_tensor_wrap(WEFT_U8, 1, &bytes, room);

    for (int i = 0; i < weft_params_n(params); i++)
        room[i] = describe(params, i);
    WEFT_TRY(weft_comm_bcast(comm, &first, 0, "names and shapes on rank 0"));
    return weft_comm_agree(comm, compare_descriptions(params, room), "equal names and shapes");
}

static weft_status check_values(weft_comm *comm, const weft_params *params, weft_tensor *room)
{
    WEFT_TRY(weft_comm_bcast(comm, room, 0, "parameters of rank 0"));
    return weft_comm_agree(comm, compare_values(params, room), "equal parameters");
}

static weft_status compare_with_first(weft_comm *comm, const weft_params *params, described *room,
                                      weft_tensor *values)
{
    WEFT_TRY(check_descriptions(comm, params, room));
    return check_values(comm, params, values);
}

static weft_status check_equal(weft_comm *comm, const weft_params *params)
{
    WEFT_TRY(check_number(comm, params));

    described   *room = weft_alloc(weft_params_n(params) * (int64_t)sizeof *room);
    weft_tensor *values = weft_tensor_copy(weft_params_flat_values(params));
    weft_status  done = room == NULL || values == NULL ? weft_error_status() : WEFT_OK;

    done = weft_comm_agree(comm, done, "room to compare parameters");
    if (done == WEFT_OK && room != NULL && values != NULL)
        done = compare_with_first(comm, params, room, values);
    weft_tensor_destroy(values);
    weft_free(room);
    return done;
}

weft_status weft_replicas_average(weft_comm *comm, weft_optim *optim)
{
    if (comm == NULL || optim == NULL)
        return WEFT_FAIL(WEFT_E_ARG, "averaging without %s",
                         comm == NULL ? "a communicator" : "an optimizer");
    WEFT_TRY(check_equal(comm, weft_optim_params(optim)));
    return weft_optim_add_hook(optim, average, &comm, sizeof comm);
}
