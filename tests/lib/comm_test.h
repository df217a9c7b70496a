/* comm_test.h -- a communicator for each test, and tensors that know whose they are. */
#ifndef WEFT_COMM_TEST_H
#define WEFT_COMM_TEST_H

#include "mpi_test.h"
#include "weft/comm.h"

static weft_comm  *comm;
static int         rank, size;
static weft_memory before; /* the memory before there was a communicator */

/* cmocka's setup; *state: options, NULL for a deadline of 20 s. */
static inline int comm_test_open(void **state)
{
    static const weft_comm_options usual = { .deadline = 20 };
    before = weft_memory_now();
    comm = weft_comm_create(MPI_COMM_WORLD, *state != NULL ? *state : &usual);
    if (comm == NULL)
        return 1;
    rank = weft_comm_rank(comm);
    size = weft_comm_size(comm);
    weft_error_clear();
    return 0;
}

/* cmocka's teardown: a communicator leaves nothing behind. */
static inline int comm_test_close(void **state)
{
    (void)state;
    weft_comm_destroy(comm);
    return weft_memory_now().blocks != before.blocks;
}

#define comm_test(name) cmocka_unit_test_setup_teardown(name, comm_test_open, comm_test_close)
#define comm_test_with(name, options)                                                              \
    cmocka_unit_test_prestate_setup_teardown(name, comm_test_open, comm_test_close, &(options))

/* Element i is (value + i) mod 100, which every dtype holds. */
static inline void comm_test_count_from(weft_tensor *x, int value)
{
    for (int64_t i = 0; i < x->count; i++)
        weft_tensor_set(x, i, (double)((value + i) % 100));
}

static inline bool comm_test_counts_from(const weft_tensor *x, int value)
{
    for (int64_t i = 0; i < x->count; i++)
        if (weft_tensor_get(x, i) != (double)((value + i) % 100))
            return false;
    return true;
}

static inline weft_tensor *comm_test_tensor(weft_dtype dtype, int ndim, const int64_t *shape,
                                            int value)
{
    weft_tensor *x = weft_tensor_create(dtype, ndim, shape);
    assert_non_null(x);
    comm_test_count_from(x, value);
    return x;
}

/* A vector of n. */
static inline weft_tensor *comm_test_vector(weft_dtype dtype, int64_t n, int value)
{
    return comm_test_tensor(dtype, 1, &n, value);
}

/* Shapes that tests go through. */
enum { COMM_TEST_SHAPES = 5, COMM_TEST_DTYPES = 5 };
static const struct {
    int     ndim;
    int64_t shape[WEFT_MAX_AXES];
} comm_test_shape[COMM_TEST_SHAPES] = {
    { 1, { 18 } },
    { 0, { 0 } },
    { 2, { 0, 3 } },
    { 4, { 5, 2, 5, 3 } },
    { 8, { 1, 2, 1, 2, 1, 2, 1, 3 } },
};

#endif
