/* More than 2^31 bytes in one message and in one bcast, on 2 ranks. Slow: takes 4.3
 * GB of memory. */
#include "comm_test.h"

enum { PLACES = 6 };

/* Where the tensor is marked, across every boundary that there is. */
static int64_t place(const weft_tensor *x, int i)
{
    const int64_t at[PLACES] = { 0,         (1 << 30) - 1,          1 << 30,
                                 INT32_MAX, (int64_t)INT32_MAX + 1, x->count - 1 };
    return at[i];
}

static bool is_marked(const weft_tensor *x)
{
    for (int i = 0; i < PLACES; i++)
        if (weft_tensor_get(x, place(x, i)) != i + 1)
            return false;
    return true;
}

static weft_tensor *make(bool marked)
{
    const int64_t n = ((int64_t)1 << 31) + 12345;
    weft_tensor  *x = weft_tensor_zeros(WEFT_U8, 1, &n);
    assert_non_null(x);
    for (int i = 0; marked && i < PLACES; i++)
        weft_tensor_set(x, place(x, i), i + 1);
    return x;
}

static void a_message_over_2_31_bytes_arrives(void **state)
{
    (void)state;
    weft_tensor     *x = make(rank == 0);
    const weft_route route = { .peer = 1 - rank, .label = "all of it" };

    if (rank == 0)
        assert_ok(weft_comm_send(comm, &route, 1, (const weft_tensor *[]){ x }));
    else
        assert_ok(weft_comm_recv(comm, &route, 1, &x));
    assert_everywhere(is_marked(x));
    weft_tensor_destroy(x);
}

static void a_bcast_over_2_31_elements_arrives(void **state)
{
    (void)state;
    weft_tensor *x = make(rank == 1);
    assert_ok(weft_comm_bcast(comm, x, 1, "all of it"));
    assert_everywhere(is_marked(x));
    weft_tensor_destroy(x);
}

int main(int argc, char **argv)
{
    static weft_comm_options patient = { .deadline = 200 };
    const struct CMUnitTest  tests[] = {
         comm_test_with(a_message_over_2_31_bytes_arrives, patient),
         comm_test_with(a_bcast_over_2_31_elements_arrives, patient),
    };
    MPI_Init(&argc, &argv);
    const int status = mpi_test_main(tests);
    MPI_Finalize();
    return status;
}
