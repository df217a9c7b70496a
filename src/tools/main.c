/* main.c -- the program `weft`: a table of commands. */
#include "tensor/gemm.h"
#include "tools/command.h"
#include "weft/io.h"
#include "weft/program.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    command    *run;
    const char *help;
} table[] = {
    { "bench", bench_command, "measure training speed and the share of the machine's limit" },
};

enum { COMMANDS = sizeof table / sizeof *table };

static int usage(int status)
{
    weft_comm *const world = weft_comm_create(MPI_COMM_WORLD, NULL);

    weft_say(world, "usage: [mpiexec -n RANKS] weft COMMAND [options]\n\n");
    for (int i = 0; i < COMMANDS; i++)
        weft_say(world, "  %-10s %s\n", table[i].name, table[i].help);
    weft_say(world,
             "\nweft COMMAND --help tells a command's options; weft --version the versions.\n");
    weft_comm_destroy(world);
    return status;
}

static int version(void)
{
    weft_comm *const world = weft_comm_create(MPI_COMM_WORLD, NULL);

    weft_say(world, "weft %s\n%s\nHDF5 %s\nproducts of matrices: %s\nkernels: %s\n", weft_version(),
             weft_mpi_version(), weft_hdf5_version(), weft__gemm_text(), weft_kernels());
    weft_comm_destroy(world);
    return 0;
}

static int run(int argc, char **argv)
{
    static char name[40];

    if (argc < 2)
        return usage(2);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return usage(0);
    if (strcmp(argv[1], "--version") == 0)
        return version();
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(argv[1], table[i].name) == 0) {
            snprintf(name, sizeof name, "weft %s", table[i].name);
            argv[1] = name; /* what its --help and complaints begin with */
            return table[i].run(argc - 1, argv + 1);
        }
    return usage(2);
}

int main(int argc, char **argv)
{
    WEFT_MUST(weft_start(&argc, &argv));
    return weft_finish(run(argc, argv));
}
