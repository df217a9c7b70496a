/* mnist_data_parallel.c -- every rank the whole network, each its own images.
 *
 *     L_k = softmax_cross_entropy(f(x_k; theta), t_k)      on rank k of K
 *     theta <- Adam(theta, (1/K) sum_k dL_k/dtheta)        on all
 *
 * All ranks start from the same theta and make the same steps, so theta is never
 * sent again. One line makes the program data parallel: weft_replicas_average().
 * --batch is the number of images on each rank.
 *
 *     mpiexec -n 2 build/examples/mnist_data_parallel --epochs 5
 */
#include "mnist.h"

typedef struct {
    weft_layer *f;    /* l1, l2, l3 */
    weft_layer *loss; /* and accuracy */
} network;

static weft_vars forward(void *context, weft_tape *tape, weft_vars batch)
{
    const network *const net = context;
    (void)tape;
    weft_var *const x = batch.at[0], *const t = batch.at[1];
    return weft_layer_forward(net->loss, weft_two(weft_forward(net->f, x), t));
}

static network describe(int64_t units)
{
    network net;

    WEFT_MUST_NEW(net.f = weft_chain_create());
    WEFT_MUST(weft_chain_add(net.f, "l1", mnist_l1(units)));
    WEFT_MUST(weft_chain_add(net.f, "l2", mnist_l2(units)));
    WEFT_MUST(weft_chain_add(net.f, "l3", mnist_l3(units)));
    WEFT_MUST_NEW(net.loss = weft_classifier_create());
    return net;
}

int main(int argc, char **argv)
{
    mnist_options o;
    weft_comm    *world;
    weft_params  *theta;
    weft_optim   *adam;
    weft_dataset *images, *test_images;
    weft_batches *batches, *test;

    WEFT_MUST(weft_start(&argc, &argv));
    const int ends = mnist_options_read(
        argc, argv, "Trains a network on MNIST or a sibling, each rank on its share.", &o);
    if (ends >= 0)
        return weft_finish(ends);

    WEFT_MUST_NEW(world = weft_comm_create(MPI_COMM_WORLD, NULL));
    network                   net = describe(o.units);
    const weft_params_options start = { .seed = (uint64_t)o.seed, .dtype = o.dtype };
    WEFT_MUST_NEW(theta = weft_params_create(net.f, &start));
    WEFT_MUST_NEW(adam = weft_adam_create(theta, NULL));
    WEFT_MUST(weft_replicas_average(world, adam));
    weft_say(world, "%d ranks, %lld images each a step, %lld together\n", weft_comm_size(world),
             (long long)o.batch, (long long)o.batch * weft_comm_size(world));

    /* Training: equal shares of a shuffled set. Testing: every image once. */
    const int                  rank = weft_comm_rank(world), size = weft_comm_size(world);
    const weft_batches_options shuffled = {
        .batch = o.batch,
        .shuffle = true,
        .equal = true,
        .seed = (uint64_t)o.seed,
        .rank = rank,
        .size = size,
    };
    const weft_batches_options once = {
        .batch = o.batch,
        .once = true,
        .rank = rank,
        .size = size,
    };
    WEFT_MUST_NEW(images = mnist_open(world, &o, "train", true));
    WEFT_MUST_NEW(test_images = mnist_open(world, &o, "test", true));
    WEFT_MUST_NEW(batches = weft_batches_create(images, &shuffled));
    WEFT_MUST_NEW(test = weft_batches_create(test_images, &once));

    const weft_train_options training = {
        .training = {
            .comm = world,
            .params = theta,
            .optim = adam,
            .batches = batches,
            .seed = (uint64_t)o.seed,
        },
        .forward = forward,
        .context = &net,
        .value = { "loss", "accuracy" },
        .test = test,
        .epochs = o.epochs,
        .out = o.out,
        .resume = o.resume,
        .table = stdout,
        .bar = stderr,
        .progress = o.progress,
    };
    WEFT_MUST(weft_train(&training));

    weft_batches_destroy(test);
    weft_batches_destroy(batches);
    weft_dataset_destroy(test_images);
    weft_dataset_destroy(images);
    weft_optim_destroy(adam);
    weft_params_destroy(theta);
    weft_layer_destroy(net.loss);
    weft_layer_destroy(net.f);
    weft_comm_destroy(world);
    return weft_finish(0);
}
