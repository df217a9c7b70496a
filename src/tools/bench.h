/* bench.h -- what a workload of `weft bench` is. */
#ifndef WEFT__BENCH_H
#define WEFT__BENCH_H

#include "weft.h"

typedef struct bench_options {
    int64_t     batch, samples;
    weft_dtype  dtype;
    const char *data;
} bench_options;

typedef struct bench_workload {
    const char *name;
    void *(*create)(weft_comm *world, const bench_options *options); /* NULL: failed */
    void (*destroy)(void *state);                                    /* NULL is fine */
    weft_status (*train)(void *state, int64_t steps);                /* whole steps */
    weft_status (*gemms)(void *state, int64_t steps); /* their products of matrices alone */
    double (*loss)(const void *state);                /* of the last step */
} bench_workload;

extern const bench_workload bench_w1;

#endif
