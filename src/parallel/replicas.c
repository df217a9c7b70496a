/* replicas.c -- every rank the whole model, gradients averaged: g <- (1/K) sum_k g_k. */
#include "weft/parallel.h"

#include <string.h>

static weft_status average(const void *options, weft_params *params)
{
    weft_comm *const comm = *(weft_comm *const *)options;
    return weft_comm_allreduce(comm, weft_params_flat_grads(params), WEFT_REDUCE_MEAN,
                               "mean of the gradients");
}

/* Whether this rank's parameters are rank 0's, bit by bit. */
static weft_status compare(const weft_tensor *mine, const weft_tensor *first)
{
    if (memcmp(mine->data, first->data, (size_t)weft_tensor_bytes(mine)) != 0)
        return WEFT_FAIL(WEFT_E_VALUE, "the parameters here are not those of rank 0 when averaging "
                                       "begins: another seed, or a step too many?");
    return WEFT_OK;
}

/* Number and dtype of the elements, before any of them are sent. */
static weft_status compare_sizes(weft_comm *comm, const weft_tensor *mine)
{
    int64_t     size[2] = { mine->count, mine->dtype }, most[2] = { size[0], size[1] };
    weft_tensor all = weft_tensor_wrap(WEFT_I64, 1, (int64_t[]){ 2 }, most);

    WEFT_TRY(weft_comm_bcast(comm, &all, 0, "size of the parameters"));
    if (size[0] == most[0] && size[1] == most[1])
        return weft_comm_agree(comm, WEFT_OK, "size of the parameters");
    return weft_comm_agree(comm,
                           WEFT_FAIL(WEFT_E_SHAPE, "%s of parameters here, %lld on rank 0",
                                     weft_shape_text(mine), (long long)most[0]),
                           "size of the parameters");
}

static weft_status check_equal(weft_comm *comm, const weft_tensor *mine, weft_tensor *first)
{
    WEFT_TRY(weft_comm_bcast(comm, first, 0, "parameters of rank 0"));
    return weft_comm_agree(comm, compare(mine, first), "equal parameters");
}

weft_status weft_replicas_average(weft_comm *comm, weft_optim *optim)
{
    const weft_tensor *mine = weft_params_flat_values(weft_optim_params(optim));
    weft_tensor       *first;
    weft_status        done;

    WEFT_TRY(compare_sizes(comm, mine));
    first = weft_tensor_copy(mine);
    done = weft_comm_agree(comm, first == NULL ? weft_error_status() : WEFT_OK, "room to compare");
    if (done == WEFT_OK)
        done = check_equal(comm, mine, first);
    weft_tensor_destroy(first);
    return done != WEFT_OK ? done : weft_optim_add_hook(optim, average, &comm, sizeof comm);
}
