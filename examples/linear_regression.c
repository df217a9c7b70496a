/* linear_regression.c -- the smallest program: fit a line, save it, use it.
 *
 *     y = x W^T + b                       x (N, 2), W (1, 2), b (1)
 *     L = (1/N) sum (y - t)^2
 *     theta <- theta - rate dL/dtheta     100 steps
 *
 *     build/examples/linear_regression
 */
#include <weft.h>

enum { N = 200, STEPS = 100, BATCH = 50 };

/* t = 3 x0 - 2 x1 + 0.5, with a little noise. */
static void make_samples(weft_tensor *x, weft_tensor *t)
{
    const weft_random draw = weft_random_stream(0, "samples"),
                      noise = weft_random_stream(0, "noise");

    for (int64_t i = 0; i < N; i++) {
        const double x0 = weft_random_normal(&draw, (uint64_t)(2 * i));
        const double x1 = weft_random_normal(&draw, (uint64_t)(2 * i + 1));
        weft_tensor_set(x, 2 * i, x0);
        weft_tensor_set(x, 2 * i + 1, x1);
        weft_tensor_set(t, i,
                        3 * x0 - 2 * x1 + 0.5 + 0.01 * weft_random_normal(&noise, (uint64_t)i));
    }
}

static void train(weft_layer *line, weft_optim *sgd, weft_batches *reader)
{
    weft_tape *tape;
    weft_batch batch;

    WEFT_MUST_NEW(tape = weft_tape_create());
    for (int step = 0; step < STEPS; step++) {
        WEFT_MUST(weft_batches_next(reader, &batch));
        const weft_vars in = weft_batch_vars(tape, &batch);
        weft_var *const L = weft_mean_squared_error(weft_forward(line, in.at[0]), in.at[1]);

        WEFT_MUST(weft_optim_minimize(sgd, L));
        if (step % 20 == 19)
            printf("step %3d: L = %.6f\n", step + 1, weft_item(L));
        WEFT_MUST(weft_tape_clear(tape));
    }
    weft_tape_destroy(tape);
}

/* A fresh program knows nothing but the file: the values are found by name. */
static void load_and_predict(const char *path, const weft_tensor *x, const weft_tensor *t)
{
    weft_layer  *line;
    weft_params *theta;
    weft_tape   *tape;
    weft_var    *y;

    WEFT_MUST_NEW(line = weft_linear_create(2, 1, NULL));
    WEFT_MUST_NEW(theta = weft_params_create(line, NULL));
    const weft_bundle values = weft_params_values(theta);
    WEFT_MUST(weft_load(path, &values));
    printf("W = (%.4f, %.4f), b = %.4f\n", weft_tensor_get(weft_bundle_find(&values, "W"), 0),
           weft_tensor_get(weft_bundle_find(&values, "W"), 1),
           weft_tensor_get(weft_bundle_find(&values, "b"), 0));

    /* One row of all samples, without a copy. */
    WEFT_MUST_NEW(tape = weft_tape_create());
    WEFT_MUST(weft_tape_mode_set(tape, WEFT_INFER));
    WEFT_MUST_NEW(y = weft_forward(line, weft_slice(weft_input(tape, x), 7, 8)));
    printf("sample 7: predicted %.4f, measured %.4f\n", weft_item(y), weft_tensor_get(t, 7));

    weft_tape_destroy(tape);
    weft_params_destroy(theta);
    weft_layer_destroy(line);
}

int main(int argc, char **argv)
{
    const char  *path = "linear_regression.h5";
    weft_tensor *x, *t;

    WEFT_MUST(weft_start(&argc, &argv));
    const weft_option option[] = {
        { 'o', "out", WEFT_OPTION_TEXT, &path, "FILE", "where to save W and b" },
        { 0 },
    };
    const int ends = weft_options_parse(argc, argv, "Fits a line to 200 samples.", option);
    if (ends >= 0)
        return weft_finish(ends);

    WEFT_MUST_NEW(x = weft_tensor_create(WEFT_F32, 2, (int64_t[]){ N, 2 }));
    WEFT_MUST_NEW(t = weft_tensor_create(WEFT_F32, 2, (int64_t[]){ N, 1 }));
    make_samples(x, t);

    weft_layer   *line;
    weft_params  *theta;
    weft_optim   *sgd;
    weft_dataset *samples;
    weft_batches *reader;
    WEFT_MUST_NEW(line = weft_linear_create(2, 1, NULL));
    WEFT_MUST_NEW(theta = weft_params_create(line, NULL));
    WEFT_MUST_NEW(sgd = weft_sgd_create(theta, &(weft_sgd_options){ .rate = 0.1 }));
    WEFT_MUST_NEW(samples = weft_tensor_dataset(2, (const char *[]){ "x", "t" },
                                                (const weft_tensor *[]){ x, t }));
    WEFT_MUST_NEW(reader = weft_batches_create(
                      samples, &(weft_batches_options){ .batch = BATCH, .shuffle = true }));

    train(line, sgd, reader);
    const weft_bundle values = weft_params_values(theta);
    WEFT_MUST(weft_save(path, &values));
    load_and_predict(path, x, t);

    weft_batches_destroy(reader);
    weft_dataset_destroy(samples);
    weft_optim_destroy(sgd);
    weft_params_destroy(theta);
    weft_layer_destroy(line);
    weft_tensor_destroy(t);
    weft_tensor_destroy(x);
    return weft_finish(0);
}
