/* The tree of a checkpoint is that of Chainer's trainer, for the network of
 * tests/golden/chainer. Skipped (77) without h5py. */
#include "test_folder.h"
#include "weft/train.h"

#include <sys/wait.h>

enum { SAMPLES = 10 };

static const char *root(void)
{
    const char *const root = getenv("WEFT_ROOT");
    return root != NULL ? root : ".";
}

/* linear 4 -> 3, ReLU, linear 3 -> 2 */
static weft_layer *network(void)
{
    weft_layer *predictor = weft_chain_create(), *all = weft_chain_create();

    assert_ok(weft_chain_add(predictor, "l1", weft_linear_create(4, 3, NULL)));
    assert_ok(weft_chain_add(predictor, "relu", weft_function_create("relu", weft_relu)));
    assert_ok(weft_chain_add(predictor, "l2", weft_linear_create(3, 2, NULL)));
    assert_ok(weft_chain_add(all, "predictor", predictor));
    return all;
}

static weft_dataset *samples(weft_tensor *x, weft_tensor *t)
{
    const weft_random stream = weft_random_stream(1, "data");

    for (int64_t i = 0; i < x->count; i++)
        weft_tensor_set(x, i, weft_random_normal(&stream, (uint64_t)i));
    for (int64_t i = 0; i < t->count; i++)
        weft_tensor_set(t, i, (double)(i % 2));
    return weft_tensor_dataset(2, (const char *[]){ "x", "t" }, (const weft_tensor *[]){ x, t });
}

static void step(weft_training *training, weft_layer *layer, weft_tape *tape)
{
    weft_batch batch;

    assert_ok(weft_batches_next(training->batches, &batch));
    const weft_vars in = weft_batch_vars(tape, &batch);
    weft_var *const y = weft_forward(layer, in.at[0]);
    assert_ok(weft_optim_minimize(training->optim, weft_softmax_cross_entropy(y, in.at[1])));
    assert_ok(weft_tape_clear(tape));
}

static int script(const char *path)
{
    char line[2000];

    snprintf(line, sizeof line,
             "/usr/bin/python3 %s/tests/golden/checkpoint.py %s %s/tests/golden/chainer/tr_adam.h5",
             root(), path, root());
    const int status = system(line);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static void a_checkpoint_has_the_tree_of_chainers_trainer(void **state)
{
    const weft_params_options  options = { .seed = 3 };
    const weft_batches_options order = { .batch = 4, .shuffle = true, .seed = 3 };
    weft_layer                *layer = network();
    weft_tensor               *x = weft_tensor_create(WEFT_F32, 2, (int64_t[]){ SAMPLES, 4 });
    weft_tensor               *t = weft_tensor_create(WEFT_I32, 1, (int64_t[]){ SAMPLES });
    weft_dataset              *data = samples(x, t);
    weft_tape                 *tape = weft_tape_create();
    weft_training              training = { .seed = 3, .elapsed = 1.25 };
    (void)state;

    training.params = weft_params_create(layer, &options);
    training.optim = weft_adam_create(training.params, NULL);
    training.batches = weft_batches_create(data, &order);
    step(&training, layer, tape);
    step(&training, layer, tape);
    assert_ok(weft_checkpoint_save(&training, test_path("x.h5")));
    assert_int_equal(script(test_path("x.h5")), 0);

    weft_tape_destroy(tape);
    weft_batches_destroy(training.batches);
    weft_optim_destroy(training.optim);
    weft_params_destroy(training.params);
    weft_dataset_destroy(data);
    weft_tensor_destroy(t);
    weft_tensor_destroy(x);
    weft_layer_destroy(layer);
}

static int skipped(void)
{
    puts("skipped: no python3-h5py");
    return 77;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_checkpoint_has_the_tree_of_chainers_trainer,
                                        test_folder_begin, test_folder_end),
    };

    if (system("/usr/bin/python3 -c 'import h5py, numpy' 2>/dev/null") != 0)
        return skipped();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
