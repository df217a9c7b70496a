/* bench_w1.c -- workload w1: 784-1000-1000-10, ReLU, softmax cross-entropy, Adam, on
 * images; over several ranks the gradients are averaged.
 */
#include "tools/bench.h"

#include "tensor/gemm.h"

#include <stdlib.h>

enum { LAYERS = 3, CLASSES = 10 };

static const int64_t width[LAYERS + 1] = { 784, 1000, 1000, CLASSES };

typedef struct {
    weft_layer   *f, *loss;
    weft_params  *theta;
    weft_optim   *adam;
    weft_dataset *images;
    weft_batches *batches;
    weft_tape    *tape;
    double        last_loss;

    weft_tensor *x[LAYERS + 1], *W[LAYERS], *gW[LAYERS]; /* operands of the products alone */
    int64_t      batch;
} w1;

/* ---- making it ------------------------------------------------------------------------ */

static weft_layer *linear(int i)
{
    weft_linear_options o = weft_linear_defaults();
    o.relu = i + 1 < LAYERS;
    return weft_linear_create(width[i], width[i + 1], &o);
}

static weft_status make_model(w1 *s, weft_comm *world, weft_dtype dtype)
{
    WEFT_TRY_NEW(s->f = weft_chain_create());
    for (int i = 0; i < LAYERS; i++)
        WEFT_TRY(weft_chain_add(s->f, NULL, linear(i)));
    WEFT_TRY_NEW(s->loss = weft_classifier_create());
    WEFT_TRY_NEW(s->theta = weft_params_create(s->f, &(weft_params_options){ .dtype = dtype }));
    WEFT_TRY_NEW(s->adam = weft_adam_create(s->theta, NULL));
    WEFT_TRY_NEW(s->tape = weft_tape_create());
    return weft_comm_size(world) > 1 ? weft_replicas_average(world, s->adam) : WEFT_OK;
}

static weft_status make_data(w1 *s, weft_comm *world, const bench_options *o)
{
    const char *const          folder = weft_mnist_folder(o->data);
    const weft_batches_options batches = { .batch = o->batch,
                                           .shuffle = true,
                                           .equal = true,
                                           .rank = weft_comm_rank(world),
                                           .size = weft_comm_size(world) };

    WEFT_TRY_NEW(s->images = folder != NULL
                                 ? weft_mnist_open(folder, "train", o->dtype)
                                 : weft_synthetic_mnist(o->samples, "train", 0, o->dtype));
    if (weft_dataset_length(s->images) < o->batch * weft_comm_size(world))
        return WEFT_FAIL(
            WEFT_E_ARG, "%lld images are fewer than one batch of %lld on each of %d ranks",
            (long long)weft_dataset_length(s->images), (long long)o->batch, weft_comm_size(world));
    WEFT_TRY_NEW(s->batches = weft_batches_create(s->images, &batches));
    return WEFT_OK;
}

static weft_tensor *operand(weft_dtype dtype, int64_t rows, int64_t columns)
{
    weft_tensor *x = weft_tensor_create(dtype, 2, (int64_t[]){ rows, columns });

    for (int64_t i = 0; x != NULL && i < x->count; i++)
        weft_tensor_set(x, i, (double)(i % 101 - 50) * 1e-3);
    return x;
}

static weft_status make_operands(w1 *s, const bench_options *o)
{
    s->batch = o->batch;
    for (int i = 0; i <= LAYERS; i++)
        WEFT_TRY_NEW(s->x[i] = operand(o->dtype, o->batch, width[i]));
    for (int i = 0; i < LAYERS; i++) {
        WEFT_TRY_NEW(s->W[i] = operand(o->dtype, width[i + 1], width[i]));
        WEFT_TRY_NEW(s->gW[i] = operand(o->dtype, width[i + 1], width[i]));
    }
    return WEFT_OK;
}

static weft_status make(w1 *s, weft_comm *world, const bench_options *o)
{
    WEFT_TRY(make_model(s, world, o->dtype));
    WEFT_TRY(make_data(s, world, o));
    return make_operands(s, o);
}

static void destroy(void *state)
{
    w1 *s = state;
    if (s == NULL)
        return;
    for (int i = 0; i <= LAYERS; i++)
        weft_tensor_destroy(s->x[i]);
    for (int i = 0; i < LAYERS; i++) {
        weft_tensor_destroy(s->W[i]);
        weft_tensor_destroy(s->gW[i]);
    }
    weft_tape_destroy(s->tape);
    weft_batches_destroy(s->batches);
    weft_dataset_destroy(s->images);
    weft_optim_destroy(s->adam);
    weft_params_destroy(s->theta);
    weft_layer_destroy(s->loss);
    weft_layer_destroy(s->f);
    weft_free(s);
}

static void *create(weft_comm *world, const bench_options *o)
{
    w1 *s = weft_alloc_zeroed(sizeof *s);

    if (s != NULL && make(s, world, o) != WEFT_OK) {
        destroy(s);
        s = NULL;
    }
    return s;
}

/* ---- running it -------------------------------------------------------------------------- */

static weft_status train(void *state, int64_t steps)
{
    w1        *s = state;
    weft_batch batch;

    for (int64_t i = 0; i < steps; i++) {
        WEFT_TRY(weft_batches_next(s->batches, &batch));
        const weft_vars in = weft_batch_vars(s->tape, &batch);
        const weft_vars y =
            weft_layer_forward(s->loss, weft_two(weft_forward(s->f, in.at[0]), in.at[1]));
        WEFT_TRY(weft_optim_minimize(s->adam, y.at[0]));
        s->last_loss = weft_item(y.at[0]);
        WEFT_TRY(weft_tape_clear(s->tape));
    }
    return WEFT_OK;
}

static void product(bool ta, bool tb, int64_t m, int64_t n, int64_t k, const weft_tensor *a,
                    const weft_tensor *b, const weft_tensor *c)
{
    const int64_t lda = ta ? m : k, ldb = tb ? k : n;

    if (c->dtype == WEFT_F32)
        weft__gemm_f32(ta, tb, m, n, k, 1, a->data, lda, b->data, ldb, 0, c->data, n);
    else
        weft__gemm_f64(ta, tb, m, n, k, 1, a->data, lda, b->data, ldb, 0, c->data, n);
}

/* The eight products of a step, in its order: x W^T; then g^T x and g W. */
static weft_status gemms(void *state, int64_t steps)
{
    const w1 *s = state;

    for (int64_t step = 0; step < steps; step++) {
        for (int i = 0; i < LAYERS; i++)
            product(false, true, s->batch, width[i + 1], width[i], s->x[i], s->W[i], s->x[i + 1]);
        for (int i = LAYERS - 1; i >= 0; i--) {
            product(true, false, width[i + 1], width[i], s->batch, s->x[i + 1], s->x[i], s->gW[i]);
            if (i > 0)
                product(false, false, s->batch, width[i], width[i + 1], s->x[i + 1], s->W[i],
                        s->x[i]);
        }
    }
    return WEFT_OK;
}

static double loss(const void *state)
{
    return ((const w1 *)state)->last_loss;
}

const bench_workload bench_w1 = {
    .name = "w1", .create = create, .destroy = destroy, .train = train, .gemms = gemms, .loss = loss
};
