/* one_rank_fails.c -- rank 1 fails in the middle of a step that all others wait for:
 * for failures.sh.
 */
#include <weft.h>

static weft_status step(const weft_comm *comm)
{
    if (weft_comm_rank(comm) == 1)
        return WEFT_FAIL(WEFT_E_VALUE, "the reason, on rank 1");
    return WEFT_OK;
}

int main(int argc, char **argv)
{
    weft_comm *comm;

    WEFT_MUST(weft_start(&argc, &argv));
    WEFT_MUST_NEW(comm = weft_comm_create(MPI_COMM_WORLD, NULL));
    WEFT_MUST(step(comm));
    WEFT_MUST(weft_comm_barrier(comm, "which rank 1 does not reach"));
    weft_comm_destroy(comm);
    return weft_finish(0);
}
