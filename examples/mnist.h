/* mnist.h -- what the MNIST examples share: their options and their data. */
#ifndef MNIST_H
#define MNIST_H

#include <weft.h>

typedef struct mnist_options {
    int64_t            batch, epochs, units, seed, threads;
    const char        *out, *resume, *data;
    weft_dtype         dtype;
    weft_progress_mode progress;
} mnist_options;

/* Read the command line. -1: go on; else what main returns. */
int mnist_options_read(int argc, char **argv, const char *about, mnist_options *options);

/* The images of "train" or "test", found as --data says; on ranks that are not a
 * reader, an empty set of the same length. Collective. */
weft_dataset *mnist_open(weft_comm *comm, const mnist_options *options, const char *part,
                         bool reader);

/* Three linear layers as a chain, or one at a time: l1, l2 with ReLU, l3. */
weft_layer *mnist_l1(int64_t units);
weft_layer *mnist_l2(int64_t units);
weft_layer *mnist_l3(int64_t units);

#endif
