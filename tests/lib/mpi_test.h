/* mpi_test.h -- cmocka under mpiexec: K processes run the same tests together.
 *
 * Two things differ from a test in one process. A rank that fails alone would
 * leave the others waiting inside a collective: assert_everywhere() makes all
 * ranks fail together and says who was first. And K ranks printing at once is
 * noise: each rank writes to its own file, and rank 0 prints its own report
 * plus those of the ranks that failed.
 */
#ifndef WEFT_MPI_TEST_H
#define WEFT_MPI_TEST_H

#include "weft_test.h"

#include <mpi.h>
#include <stdbool.h>

/* Collective over the world. */
#define assert_everywhere(condition)                                                               \
    mpi_test_everywhere((condition), #condition, __FILE__, __LINE__)

void mpi_test_everywhere(bool mine, const char *condition, const char *file, int line);

/* Run the group on every rank, report rank by rank, return 0 if all passed. */
#define mpi_test_main(tests) mpi_test_run(#tests, (tests), sizeof(tests) / sizeof *(tests))

int mpi_test_run(const char *group, const struct CMUnitTest *tests, size_t n);

#endif
