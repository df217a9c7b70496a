/* The training loop in one process, without MPI: what it learns, writes and refuses. */
#include "weft_test.h"
#include "weft/train.h"

#include <string.h>

enum { N = 40, BATCH = 8 };

typedef struct world {
    weft_tensor  *x, *t;
    weft_layer   *line;
    weft_params  *theta;
    weft_optim   *sgd;
    weft_dataset *samples;
    weft_batches *batches, *test;
} world;

static weft_vars forward(void *context, weft_tape *tape, weft_vars batch)
{
    (void)tape;
    return weft_one(weft_mean_squared_error(weft_forward(context, batch.at[0]), batch.at[1]));
}

/* t = 2 x + 1 */
static world make(void)
{
    world w;

    w.x = weft_tensor_create(WEFT_F64, 2, (int64_t[]){ N, 1 });
    w.t = weft_tensor_create(WEFT_F64, 2, (int64_t[]){ N, 1 });
    for (int i = 0; i < N; i++) {
        weft_tensor_set(w.x, i, i / (double)N);
        weft_tensor_set(w.t, i, 2 * i / (double)N + 1);
    }
    w.line = weft_linear_create(1, 1, NULL);
    w.theta = weft_params_create(w.line, &(weft_params_options){ .dtype = WEFT_F64 });
    w.sgd = weft_sgd_create(w.theta, &(weft_sgd_options){ .rate = 0.5 });
    w.samples =
        weft_tensor_dataset(2, (const char *[]){ "x", "t" }, (const weft_tensor *[]){ w.x, w.t });
    w.batches =
        weft_batches_create(w.samples, &(weft_batches_options){ .batch = BATCH, .shuffle = true });
    w.test = weft_batches_create(w.samples, &(weft_batches_options){ .batch = 7, .once = true });
    assert_non_null(w.batches);
    assert_non_null(w.test);
    return w;
}

static void end(world *w)
{
    weft_batches_destroy(w->test);
    weft_batches_destroy(w->batches);
    weft_dataset_destroy(w->samples);
    weft_optim_destroy(w->sgd);
    weft_params_destroy(w->theta);
    weft_layer_destroy(w->line);
    weft_tensor_destroy(w->t);
    weft_tensor_destroy(w->x);
}

static weft_train_options options_of(const world *w)
{
    return (weft_train_options){
        .training = { .params = w->theta, .optim = w->sgd, .batches = w->batches },
        .forward = forward,
        .context = w->line,
        .value = { "loss" },
        .test = w->test,
        .epochs = 30,
    };
}

static void it_learns_and_prints_a_line_an_epoch(void **state)
{
    (void)state;
    world              w = make();
    weft_train_options o = options_of(&w);
    char               line[200];
    int                lines = 0;

    o.table = tmpfile();
    assert_ok(weft_train(&o));
    rewind(o.table);
    while (fgets(line, sizeof line, o.table) != NULL)
        lines++;
    assert_int_equal(31, lines);
    assert_near(2, weft_tensor_get(&weft_params_find(w.theta, "W")->value, 0), 0.02);
    assert_near(1, weft_tensor_get(&weft_params_find(w.theta, "b")->value, 0), 0.02);
    fclose(o.table);
    end(&w);
}

static void a_run_that_is_done_says_so(void **state)
{
    (void)state;
    world              w = make();
    weft_train_options o = options_of(&w);
    char               line[200] = "";

    assert_ok(weft_train(&o));
    const double W = weft_tensor_get(&weft_params_find(w.theta, "W")->value, 0);
    o.table = tmpfile();
    assert_ok(weft_train(&o));
    rewind(o.table);
    assert_non_null(fgets(line, sizeof line, o.table));
    assert_string_equal("all 30 epochs are done already, by step 150\n", line);
    assert_near(W, weft_tensor_get(&weft_params_find(w.theta, "W")->value, 0), 0);
    fclose(o.table);
    end(&w);
}

static void wrong_options_are_refused(void **state)
{
    (void)state;
    world                    w = make();
    const weft_train_options good = options_of(&w);
    weft_train_options       o = good;

    o.test = w.batches;
    assert_fails(WEFT_E_ARG, weft_train(&o));
    assert_message_has("test batches without end");

    o = good;
    o.training.batches = w.test;
    assert_fails(WEFT_E_ARG, weft_train(&o));
    assert_message_has("end after one epoch");

    o = good;
    o.training.optim = NULL;
    assert_fails(WEFT_E_ARG, weft_train(&o));
    assert_message_has("without an optimizer");

    o = good;
    o.value[0] = NULL;
    assert_fails(WEFT_E_ARG, weft_train(&o));
    assert_message_has("name of a loss");

    o = good;
    o.value[1] = "accuracy"; /* forward gives one value */
    assert_fails(WEFT_E_ARG, weft_train(&o));
    assert_message_has("2 values are named, but forward gave 1");
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_learns_and_prints_a_line_an_epoch),
        cmocka_unit_test(a_run_that_is_done_says_so),
        cmocka_unit_test(wrong_options_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
