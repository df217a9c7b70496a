/* Ranks that do not do the same, though their messages fit: another label, other
 * chunks, fewer steps. Both sides are named, and nobody hangs. On 2 ranks. */
#include "comm_test.h"
#include "weft/data.h"
#include "weft/ops.h"
#include "weft/parallel.h"
#include "weft/train.h"

#include <stdio.h>

/* Waits are short only once all ranks are there. */
static int open_hurried(void **state)
{
    const int failed = comm_test_open(state);
    if (!failed)
        weft_comm_deadline_set(comm, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    return failed;
}

/* A rank may still wait while the other has failed; what the communicator had is MPI's
 * for good. */
static int close_broken(void **state)
{
    (void)state;
    MPI_Barrier(MPI_COMM_WORLD);
    weft_comm_destroy(comm);
    MPI_Barrier(MPI_COMM_WORLD);
    return 0;
}

#define broken_test(name) cmocka_unit_test_setup_teardown(name, open_hurried, close_broken)

static bool says(const char *words)
{
    return strstr(weft_error_message(), words) != NULL;
}

/* ---- labels ----------------------------------------------------------------------- */

static double       number, numbers[2];
static weft_tensor  x = { .dtype = WEFT_F64, .count = 1, .data = &number };
static weft_tensor  both[2] = { { .dtype = WEFT_F64, .count = 1, .data = numbers },
                                { .dtype = WEFT_F64, .count = 1, .data = numbers + 1 } };
static weft_tensor *into[2] = { &both[0], &both[1] };

static weft_status allreduce(const char *label)
{
    return weft_comm_allreduce(comm, &x, WEFT_REDUCE_SUM, label);
}

static weft_status bcast(const char *label)
{
    return weft_comm_bcast(comm, &x, 0, label);
}

static weft_status gather(const char *label)
{
    return weft_comm_gather(comm, &x, into, 0, label);
}

static weft_status allgather(const char *label)
{
    return weft_comm_allgather(comm, &x, into, label);
}

static weft_status agree(const char *label)
{
    return weft_comm_agree(comm, WEFT_OK, label);
}

/* Of two ranks at least the one that receives first is told; the other may find
 * nothing wrong, or wait for what does not come. */
static void are_told_apart(const char *kind, weft_status (*call)(const char *label))
{
    char words[200];
    snprintf(words, sizeof words, "rank %d's %s '%s' (operation 1) came instead", 1 - rank, kind,
             rank == 0 ? "losses" : "weights");

    const weft_status got = call(rank == 0 ? "weights" : "losses");
    const bool        named = got == WEFT_E_STATE && says(words);
    int               mine = named, any;
    MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    assert_everywhere(any);
    assert_everywhere(named || got == WEFT_OK || got == WEFT_E_TIMEOUT);
}

static void sums_under_two_labels_are_no_pair(void **state)
{
    (void)state;
    are_told_apart("allreduce", allreduce);
}

static void bcasts_under_two_labels_are_no_pair(void **state)
{
    (void)state;
    are_told_apart("bcast", bcast);
}

static void gathers_under_two_labels_are_no_pair(void **state)
{
    (void)state;
    are_told_apart("gather", gather);
}

static void allgathers_under_two_labels_are_no_pair(void **state)
{
    (void)state;
    are_told_apart("allgather", allgather);
}

static void agreements_under_two_labels_are_no_pair(void **state)
{
    (void)state;
    are_told_apart("agree", agree);
}

/* ---- the same label, and yet no pair ------------------------------------------------ */

static void a_sum_and_a_maximum_are_no_pair(void **state)
{
    (void)state;
    const weft_reduction how = rank == 0 ? WEFT_REDUCE_SUM : WEFT_REDUCE_MAX;
    const weft_status    got = weft_comm_allreduce(comm, &x, how, "losses");

    assert_everywhere(got == (rank == 0 ? WEFT_E_STATE : WEFT_E_TIMEOUT));
    assert_everywhere(rank != 0 || says("allreduce 'losses' of 1 f64 with rank 1: rank 1's "
                                        "allreduce 'losses' (operation 1) is a maximum, this "
                                        "rank's a sum"));
}

/* Rank 1 takes the first of two bcasts, and its gather comes as rank 0's third call. */
static void a_call_left_out_is_noticed_at_the_next(void **state)
{
    (void)state;
    assert_everywhere(bcast("weights") == WEFT_OK);
    assert_everywhere(rank != 0 || bcast("weights") == WEFT_OK);

    const weft_status got = gather("losses");
    assert_everywhere(got == (rank == 0 ? WEFT_E_STATE : WEFT_OK));
    assert_everywhere(rank != 0 || says("rank 1's gather 'losses' (operation 2) is collective 2 "
                                        "there, 3 on this rank"));
}

/* Only as much of a label travels as fits into a header. */
static void a_long_label_meets_itself(void **state)
{
    (void)state;
    const char *const label = "a label of more than forty letters, of which a header has no "
                              "room for the last";
    number = 1;
    assert_ok(allreduce(label));
    assert_everywhere(number == 2);
}

/* ---- chunks ------------------------------------------------------------------------- */

static void chunks_of_two_sizes_are_named(void **state)
{
    const weft_comm_options mine = { .deadline = 1, .chunk_bytes = rank == 0 ? 100 : 200 };
    weft_comm              *other = weft_comm_create(MPI_COMM_WORLD, &mine);
    const weft_route        route = { .peer = 1 - rank, .label = "h1" };
    const weft_tensor      *read = &x;
    weft_tensor            *write = &both[0];
    (void)state;

    assert_non_null(other);
    weft_request *sent = weft_comm_send_start(other, &route, 1, &read);
    assert_non_null(sent);
    assert_everywhere(weft_comm_recv(other, &route, 1, &write) == WEFT_E_COMM);
    assert_everywhere(says(rank == 0 ? "recv of edge 0 'h1' from rank 1, micro-batch 0: it cuts "
                                       "messages at 200 bytes, this rank at 100"
                                     : "recv of edge 0 'h1' from rank 0, micro-batch 0: it cuts "
                                       "messages at 100 bytes, this rank at 200"));
    MPI_Barrier(MPI_COMM_WORLD);
    weft_comm_destroy(other);
}

/* ---- shares (C93) ------------------------------------------------------------------- */

enum { SAMPLES = 5 };

/* Five samples over two ranks, in batches of one: rank 0 has 3 steps, rank 1 has 2. */
typedef struct {
    weft_tensor  *data;
    weft_dataset *set;
    weft_batches *batches;
    weft_layer   *layer;
    weft_params  *params;
    weft_optim   *optim;
    weft_tape    *tape;
} replica;

static replica begin(void)
{
    const weft_batches_options own = { .batch = 1, .once = true, .rank = rank, .size = size };
    replica r = { .data = weft_tensor_zeros(WEFT_F32, 2, (int64_t[]){ SAMPLES, 2 }) };

    r.set = weft_tensor_dataset(1, (const char *[]){ "x" }, (const weft_tensor *[]){ r.data });
    r.batches = weft_batches_create(r.set, &own);
    r.layer = weft_linear_create(2, 1, NULL);
    r.params = weft_params_create(r.layer, NULL);
    r.optim = weft_sgd_create(r.params, NULL);
    r.tape = weft_tape_create();
    assert_everywhere(r.batches != NULL && r.optim != NULL && r.tape != NULL);
    assert_ok(weft_replicas_average(comm, r.optim));
    return r;
}

static void end(replica *r)
{
    weft_tape_destroy(r->tape);
    weft_optim_destroy(r->optim);
    weft_params_destroy(r->params);
    weft_layer_destroy(r->layer);
    weft_batches_destroy(r->batches);
    weft_dataset_destroy(r->set);
    weft_tensor_destroy(r->data);
}

/* @return the steps made until the share is through or one fails with *why. */
static int train(const replica *r, weft_status *why)
{
    weft_batch batch;

    for (int steps = 0;; steps++) {
        assert_ok(weft_batches_next(r->batches, &batch));
        if (batch.step.rows == 0)
            return steps;
        const weft_vars in = weft_batch_vars(r->tape, &batch);
        *why = weft_optim_minimize(r->optim, weft_sum(weft_forward(r->layer, in.at[0])));
        assert_ok(weft_tape_clear(r->tape));
        if (*why != WEFT_OK)
            return steps;
    }
}

/* Rank 1 has no more samples and does nothing any more. */
static void a_rank_that_runs_dry_and_stays_away_is_waited_for_no_longer_than_said(void **state)
{
    replica      r = begin();
    weft_status  why = WEFT_OK;
    const double begun = weft_seconds();
    (void)state;

    assert_everywhere(train(&r, &why) == 2);
    assert_everywhere(why == (rank == 0 ? WEFT_E_TIMEOUT : WEFT_OK));
    assert_everywhere(rank != 0 || says("allreduce 'mean of the gradients' of 32 f32 with rank 1"));
    assert_everywhere(weft_seconds() - begun < 10);
    end(&r);
}

/* Rank 1 has no more samples and goes on to what comes after the loop: of the same
 * kind, dtype and count as the mean of the gradients, and yet no pair. */
static void a_rank_that_runs_dry_and_goes_on_is_named(void **state)
{
    static float values[32];
    weft_tensor  other = weft_tensor_wrap(WEFT_F32, 1, (int64_t[]){ 32 }, values);
    replica      r = begin();
    weft_status  why = WEFT_OK;
    (void)state;

    const int steps = train(&r, &why);
    if (rank == 1)
        why = weft_comm_allreduce(comm, &other, WEFT_REDUCE_MEAN, "mean of the losses");
    assert_everywhere(steps == 2);
    assert_everywhere(why == (rank == 0 ? WEFT_E_STATE : WEFT_E_TIMEOUT));
    assert_everywhere(rank != 0 || says("rank 1's allreduce 'mean of the losses'"));
    end(&r);
}

/* ---- rules ---------------------------------------------------------------------------- */

static void rules_that_differ_are_named(void **state)
{
    replica       r = begin();
    weft_optim   *other = weft_momentum_create(r.params, NULL);
    weft_training run = { .comm = comm, .params = r.params };
    (void)state;

    run.optim = rank == 0 ? r.optim : other;
    assert_everywhere(weft_checkpoint_save(&run, "never-written.h5") == WEFT_E_STATE);
    assert_everywhere(says(rank == 0
                               ? "the rule differs between ranks: sgd to momentum, and sgd here"
                               : "the rule differs between ranks: sgd to momentum, and "
                                 "momentum here"));
    weft_optim_destroy(other);
    end(&r);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        broken_test(sums_under_two_labels_are_no_pair),
        broken_test(bcasts_under_two_labels_are_no_pair),
        broken_test(gathers_under_two_labels_are_no_pair),
        broken_test(allgathers_under_two_labels_are_no_pair),
        broken_test(agreements_under_two_labels_are_no_pair),
        broken_test(a_sum_and_a_maximum_are_no_pair),
        broken_test(a_call_left_out_is_noticed_at_the_next),
        comm_test(a_long_label_meets_itself),
        broken_test(chunks_of_two_sizes_are_named),
        broken_test(a_rank_that_runs_dry_and_stays_away_is_waited_for_no_longer_than_said),
        broken_test(a_rank_that_runs_dry_and_goes_on_is_named),
        comm_test(rules_that_differ_are_named),
    };
    MPI_Init(&argc, &argv);
    const int status = mpi_test_main(tests);
    MPI_Finalize();
    return status;
}
