/* Replicas: gradients averaged over ranks by one line, from equal parameters. */
#include "comm_test.h"
#include "weft/parallel.h"

enum { OUT = 3, IN = 2 };

typedef struct replica {
    weft_layer  *layer;
    weft_params *theta;
    weft_optim  *sgd;
    weft_tape   *tape;
} replica;

/* linear(in, OUT) from @p seed under SGD of rate 1, so that a step is minus the gradient. */
static replica make(int64_t in, uint64_t seed, weft_dtype dtype)
{
    replica                   r;
    const weft_params_options start = { .seed = seed, .dtype = dtype };

    assert_non_null(r.layer = weft_linear_create(in, OUT, NULL));
    assert_non_null(r.theta = weft_params_create(r.layer, &start));
    assert_non_null(r.sgd = weft_sgd_create(r.theta, &(weft_sgd_options){ .rate = 1 }));
    assert_non_null(r.tape = weft_tape_create());
    return r;
}

static void end(replica *r)
{
    weft_tape_destroy(r->tape);
    weft_optim_destroy(r->sgd);
    weft_params_destroy(r->theta);
    weft_layer_destroy(r->layer);
}

/* L = scale * sum(W), so dL/dW is scale everywhere and b has no gradient. */
static weft_status step(replica *r, double scale)
{
    weft_var *W = weft_on(r->tape, weft_params_find(r->theta, "W"));
    WEFT_TRY(weft_optim_minimize(r->sgd, weft_scale(weft_sum(W), scale)));
    return weft_tape_clear(r->tape);
}

static double element(const replica *r, const char *name)
{
    return weft_tensor_get(&weft_params_find(r->theta, name)->value, 1);
}

/* C63: gradients r become (P - 1) / 2 on every rank, twice in a row. */
static void a_step_takes_the_mean_of_the_gradients(void **state)
{
    (void)state;
    for (int d = WEFT_F32; d <= WEFT_F64; d++) {
        replica      r = make(IN, 7, (weft_dtype)d);
        const double W = element(&r, "W"), b = element(&r, "b"), mean = (size - 1) / 2.0;
        const double tolerance = d == WEFT_F32 ? 1e-6 : 1e-14;

        assert_ok(weft_replicas_average(comm, r.sgd));
        assert_ok(step(&r, rank));
        assert_everywhere(fabs(element(&r, "W") - (W - mean)) < tolerance);
        assert_ok(step(&r, rank + 1));
        assert_everywhere(fabs(element(&r, "W") - (W - mean - mean - 1)) < 2 * tolerance);
        assert_everywhere(element(&r, "b") == b); /* C64: absent everywhere */
        end(&r);
    }
}

/* C66: absent on some ranks counts as zero there, and nobody waits. */
static void an_absent_gradient_counts_as_zero(void **state)
{
    (void)state;
    replica      r = make(IN, 7, WEFT_F64);
    const double W = element(&r, "W"), b = element(&r, "b");

    assert_ok(weft_replicas_average(comm, r.sgd));
    weft_var *x = weft_on(r.tape, weft_params_find(r.theta, rank == 0 ? "W" : "b"));
    assert_ok(weft_optim_minimize(r.sgd, weft_sum(x)));
    assert_everywhere(fabs(element(&r, "W") - (W - 1.0 / size)) < 1e-14);
    assert_everywhere(fabs(element(&r, "b") - (b - (size - 1.0) / size)) < 1e-14);
    assert_ok(weft_tape_clear(r.tape));
    end(&r);
}

/* C62, C77: no broadcast and no lost step, since equal seeds give equal values; other
 * values are refused on all ranks. */
static void other_values_are_refused(void **state)
{
    (void)state;
    replica           r = make(IN, rank == size - 1 ? 8 : 7, WEFT_F64);
    const weft_status got = weft_replicas_average(comm, r.sgd);
    const bool        alone = size == 1, mine = rank == size - 1;

    assert_everywhere(got == (alone ? WEFT_OK : mine ? WEFT_E_VALUE : WEFT_E_PEER));
    assert_everywhere(alone || strstr(weft_error_message(), "parameter W differs") != NULL);
    end(&r);
}

/* Also where both take the same room in the arena. */
static void other_shapes_are_refused(void **state)
{
    (void)state;
    replica           r = make(rank == size - 1 ? IN + 1 : IN, 7, WEFT_F64);
    const weft_status got = weft_replicas_average(comm, r.sgd);
    const bool        alone = size == 1, mine = rank == size - 1;

    assert_everywhere(got == (alone ? WEFT_OK : mine ? WEFT_E_SHAPE : WEFT_E_PEER));
    assert_everywhere(alone || strstr(weft_error_message(), "W (3, 3) f64 here") != NULL);
    end(&r);
}

static void another_dtype_is_refused(void **state)
{
    (void)state;
    replica           r = make(IN, 7, rank == size - 1 ? WEFT_F32 : WEFT_F64);
    const weft_status got = weft_replicas_average(comm, r.sgd);
    const bool        alone = size == 1, mine = rank == size - 1;

    assert_everywhere(got == (alone ? WEFT_OK : mine ? WEFT_E_SHAPE : WEFT_E_PEER));
    end(&r);
}

static void another_number_is_refused(void **state)
{
    (void)state;
    weft_layer  *chain = weft_chain_create();
    weft_params *theta;
    weft_optim  *sgd;

    for (int i = 0; i < (rank == size - 1 ? 2 : 1); i++)
        assert_ok(weft_chain_add(chain, NULL, weft_linear_create(IN, IN, NULL)));
    assert_non_null(theta = weft_params_create(chain, NULL));
    assert_non_null(sgd = weft_sgd_create(theta, NULL));
    const weft_status got = weft_replicas_average(comm, sgd);
    assert_everywhere(got == (size == 1 ? WEFT_OK : rank == size - 1 ? WEFT_E_SHAPE : WEFT_E_PEER));
    assert_everywhere(size == 1 ||
                      strstr(weft_error_message(), "4 parameters here, 2 on rank 0") != NULL);
    weft_optim_destroy(sgd);
    weft_params_destroy(theta);
    weft_layer_destroy(chain);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        comm_test(a_step_takes_the_mean_of_the_gradients),
        comm_test(an_absent_gradient_counts_as_zero),
        comm_test(other_values_are_refused),
        comm_test(other_shapes_are_refused),
        comm_test(another_dtype_is_refused),
        comm_test(another_number_is_refused),
    };
    MPI_Init(&argc, &argv);
    const int status = mpi_test_main(tests);
    MPI_Finalize();
    return status;
}
