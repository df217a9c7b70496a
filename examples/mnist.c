/* mnist.c -- what the MNIST examples share: their options and their data. */
#include "mnist.h"

#include <string.h>

int mnist_options_read(int argc, char **argv, const char *about, mnist_options *o)
{
    const char *dtype = "f32", *progress = "auto";

    *o = (mnist_options){
        .batch = 100,
        .epochs = 20,
        .units = 1000,
        .threads = 1,
        .out = "result",
    };
    const weft_option option[] = {
        { 'b', "batch", WEFT_OPTION_COUNT, &o->batch, "N", "samples in a batch" },
        { 'e', "epochs", WEFT_OPTION_INT, &o->epochs, "N", "passes over the training data" },
        { 'u', "units", WEFT_OPTION_COUNT, &o->units, "N", "width of the hidden layers" },
        { 'o', "out", WEFT_OPTION_TEXT, &o->out, "DIR", "for the log and the snapshots" },
        { 'r', "resume", WEFT_OPTION_TEXT, &o->resume, "FILE", "go on from this snapshot" },
        { 0, "seed", WEFT_OPTION_INT, &o->seed, "N", "of initial weights and order" },
        { 0, "dtype", WEFT_OPTION_WORD, &dtype, "f32|f64", "of all real numbers" },
        { 0, "data", WEFT_OPTION_TEXT, &o->data, "DIR",
          "IDX files; else $WEFT_DATA, else Debian's Fashion-MNIST" },
        { 0, "threads", WEFT_OPTION_FEW, &o->threads, "N", "of each rank" },
        { 0, "progress", WEFT_OPTION_WORD, &progress, "auto|on|off", "a bar while training" },
        { 0 },
    };

    const int ends = weft_options_parse(argc, argv, about, option);
    if (ends >= 0)
        return ends;
    WEFT_MUST(weft_dtype_parse(dtype, &o->dtype));
    WEFT_MUST(weft_progress_parse(progress, &o->progress));
    weft_threads_set((int)o->threads);
    return ends;
}

static weft_dataset *read_images(weft_comm *comm, const mnist_options *o, const char *part)
{
    const char *const folder = weft_mnist_folder(o->data);
    const bool        train = strcmp(part, "train") == 0;

    if (folder != NULL)
        return weft_mnist_open(folder, part, o->dtype);
    if (train)
        weft_say(comm, "nothing in --data, $WEFT_DATA, package dataset-fashion-mnist: "
                       "the images are synthetic\n");
    return weft_synthetic_mnist(train ? 60000 : 10000, part, 0, o->dtype);
}

weft_dataset *mnist_open(weft_comm *comm, const mnist_options *o, const char *part, bool reader)
{
    weft_dataset *images = reader ? read_images(comm, o, part) : NULL;
    int64_t       length = images != NULL ? weft_dataset_length(images) : 0;
    weft_tensor   known = weft_tensor_wrap(WEFT_I64, 0, NULL, &length);
    weft_status   all = reader && images == NULL ? weft_error_status() : WEFT_OK;

    all = weft_comm_agree(comm, all, "opening the data");
    if (all == WEFT_OK)
        all = weft_comm_allreduce(comm, &known, WEFT_REDUCE_MAX, "length of the data");
    if (all == WEFT_OK && !reader)
        images = weft_empty_dataset(length);
    if (all == WEFT_OK)
        return images;
    weft_dataset_destroy(images);
    return NULL;
}

static weft_layer *with_relu(int64_t in, int64_t out)
{
    weft_linear_options options = weft_linear_defaults();
    options.relu = true;
    return weft_linear_create(in, out, &options);
}

weft_layer *mnist_l1(int64_t units)
{
    return with_relu(784, units);
}

weft_layer *mnist_l2(int64_t units)
{
    return with_relu(units, units);
}

weft_layer *mnist_l3(int64_t units)
{
    return weft_linear_create(units, 10, NULL);
}
