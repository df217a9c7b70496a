/* matrix.c -- a tensor of any number of axes seen as a matrix. */
#include "ops/ops_impl.h"

int64_t weft__count_from(const weft_tensor *x, int axis)
{
    int64_t count = 1;
    for (int i = axis; i < x->ndim; i++) {
        if (x->shape[i] == 0)
            return 0;
        /* Only where another extent is 0 can this be: else x would not exist. */
        count = count > INT64_MAX / x->shape[i] ? INT64_MAX : count * x->shape[i];
    }
    return count;
}

weft__matrix weft__by_last_axis(const weft_tensor *x)
{
    const int64_t cols = x->ndim > 0 ? x->shape[x->ndim - 1] : 1;
    return (weft__matrix){ .rows = cols > 0 ? x->count / cols : 0, .cols = cols };
}

weft__matrix weft__by_first_axis(const weft_tensor *x)
{
    return (weft__matrix){ .rows = x->shape[0], .cols = weft__count_from(x, 1) };
}
