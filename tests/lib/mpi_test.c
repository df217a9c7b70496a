/* mpi_test.c -- cmocka under mpiexec: all ranks fail together, and report in turn. */
#include "mpi_test.h"

#include <stdio.h>
#include <unistd.h>

static int innocent; /* tests this rank failed only because another did */

static int world_rank(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

void mpi_test_everywhere(bool mine, const char *condition, const char *file, int line)
{
    struct {
        int ok, rank;
    } first = { mine, world_rank() };

    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_2INT, MPI_MINLOC, MPI_COMM_WORLD);
    if (!first.ok) {
        innocent += mine;
        print_error("rank %d%s: %s\n", first.rank, mine ? " (not this one)" : "", condition);
        _fail(file, line);
    }
}

static void copy_out(FILE *from, int rank)
{
    char line[1024];
    rewind(from);
    while (fgets(line, sizeof line, from) != NULL)
        fprintf(stderr, "[%d] %s", rank, line);
    fflush(stderr);
}

int mpi_test_run(const char *group, const struct CMUnitTest *tests, size_t n)
{
    int size, failed, any;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int rank = world_rank();

    /* From here on this rank's output goes to its own file. */
    FILE     *mine = tmpfile();
    const int terminal = dup(STDERR_FILENO);
    if (mine == NULL || terminal < 0) {
        perror("mpi_test: a file for the output of a rank");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    fflush(stdout);
    dup2(fileno(mine), STDOUT_FILENO);
    dup2(fileno(mine), STDERR_FILENO);

    failed = _cmocka_run_group_tests(group, tests, n, NULL, NULL);

    fflush(stdout);
    dup2(terminal, STDERR_FILENO);
    for (int turn = 0; turn < size; turn++) {
        if (turn == rank && (rank == 0 || failed > innocent))
            copy_out(mine, rank);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return any != 0;
}
