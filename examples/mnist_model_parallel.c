/* mnist_model_parallel.c -- one network whose layers live on different ranks.
 *
 *     h1 = relu(x W1^T + b1)          x (B, 784), W1 (u, 784)      l1
 *     h2 = relu(h1 W2^T + b2)         W2 (u, u)                    l2
 *     y  = h2 W3^T + b3               W3 (10, u)                   l3
 *     L  = softmax_cross_entropy(y, t)                             loss
 *
 * The model is the same list of four components on any number of ranks; only
 * their owners change. Rank 0 has the images and the labels, so it owns l1 and
 * the loss. What crosses from rank to rank is h1, h2 and y on the way forward,
 * and their gradients on the way back.
 *
 *     mpiexec -n 2 build/examples/mnist_model_parallel --epochs 5
 */
#include "mnist.h"

static weft_chain_list *network(weft_comm *world, const mnist_options *o)
{
    /* Owners of l1, l2, l3. 1 rank: 0 0 0; 2: 0 1 1, there and back; more: 0 1 2. */
    const int        last = weft_comm_size(world) - 1;
    const int        r1 = 0, r2 = last < 1 ? last : 1, r3 = last < 2 ? last : 2;
    weft_chain_list *model;

    WEFT_MUST_NEW(model = weft_chain_list_create(world));
    WEFT_MUST(weft_chain_list_input(model, "x", o->dtype, 2, (int64_t[]){ WEFT_ROWS, 784 }));
    WEFT_MUST(weft_chain_list_input(model, "t", WEFT_I32, 1, (int64_t[]){ WEFT_ROWS }));

    WEFT_MUST(weft_chain_list_add(model, "l1", r1, mnist_l1(o->units), /* from the images */
                                  WEFT_FROM(WEFT_INPUT_AT(0)), WEFT_TO(r2)));
    WEFT_MUST(weft_chain_list_add(model, "l2", r2, mnist_l2(o->units), /* rank to rank */
                                  WEFT_FROM(r1), WEFT_TO(r3)));
    WEFT_MUST(weft_chain_list_add(model, "l3", r3, mnist_l3(o->units), /* and back to 0 */
                                  WEFT_FROM(r2), WEFT_TO(0)));
    WEFT_MUST(weft_chain_list_add(model, "loss", 0, weft_classifier_create(), /* with labels */
                                  WEFT_FROM(r3, WEFT_INPUT_AT(1)), WEFT_TO(WEFT_OUTPUT)));

    const weft_params_options start = { .seed = (uint64_t)o->seed, .dtype = o->dtype };
    WEFT_MUST(weft_chain_list_build(model, &start));
    return model;
}

int main(int argc, char **argv)
{
    mnist_options    o;
    weft_comm       *world;
    weft_chain_list *model;
    weft_optim      *adam;
    weft_dataset    *images, *test_images;
    weft_batches    *batches, *test;

    WEFT_MUST(weft_start(&argc, &argv));
    const int ends = mnist_options_read(
        argc, argv, "Trains a network on MNIST or a sibling, its layers on different ranks.", &o);
    if (ends >= 0)
        return weft_finish(ends);

    WEFT_MUST_NEW(world = weft_comm_create(MPI_COMM_WORLD, NULL));
    WEFT_MUST_NEW(model = network(world, &o));
    WEFT_MUST_NEW(adam = weft_adam_create(weft_chain_list_params(model), NULL));
    if (weft_comm_rank(world) == 0)
        WEFT_MUST(weft_chain_list_print(model, weft_comm_size(world), o.batch, stdout));

    /* Only rank 0 reads images; the others go through as many empty samples. */
    const bool                 reader = weft_comm_rank(world) == 0;
    const weft_batches_options shuffled = {
        .batch = o.batch,
        .shuffle = true,
        .seed = (uint64_t)o.seed,
    };
    const weft_batches_options once = { .batch = o.batch, .once = true };
    WEFT_MUST_NEW(images = mnist_open(world, &o, "train", reader));
    WEFT_MUST_NEW(test_images = mnist_open(world, &o, "test", reader));
    WEFT_MUST_NEW(batches = weft_batches_create(images, &shuffled));
    WEFT_MUST_NEW(test = weft_batches_create(test_images, &once));

    const weft_train_options training = {
        .training = {
            .comm = world,
            .model = model,
            .optim = adam,
            .batches = batches,
            .seed = (uint64_t)o.seed,
        },
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
    weft_chain_list_destroy(model);
    weft_comm_destroy(world);
    return weft_finish(0);
}
