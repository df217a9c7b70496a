/* The plan of a chain list, on one process: what is refused, with which words, and
 * what is accepted, printed and told. */
#include "weft_test.h"
#include "weft/parallel.h"

#include <stdio.h>

/* ---- making plans ---------------------------------------------------------------- */

static weft_vars sum_forward(weft_layer *self, weft_vars in)
{
    weft_var *y = in.at[0];
    (void)self;
    for (int i = 1; i < in.n; i++)
        y = weft_add(y, in.at[i]);
    return weft_one(y);
}

static weft_vars pair_forward(weft_layer *self, weft_vars in)
{
    (void)self;
    return weft_two(in.at[0], weft_tanh(in.at[0]));
}

static weft_vars nothing_forward(weft_layer *self, weft_vars in)
{
    (void)self;
    in.n = 0;
    return in;
}

static weft_vars null_forward(weft_layer *self, weft_vars in)
{
    (void)self;
    (void)in;
    return weft_one(NULL);
}

static const weft_layer_kind sum = { .name = "sum", .forward = sum_forward };
static const weft_layer_kind pair = { .name = "pair", .forward = pair_forward };
static const weft_layer_kind nothing = { .name = "nothing", .forward = nothing_forward };
static const weft_layer_kind null = { .name = "null", .forward = null_forward };

/* One component of a plan in a table: a kind, or a linear layer, or the identity. */
typedef struct part {
    const char            *name;
    int                    owner;
    weft_ports             from, to;
    int                    in, out;
    const weft_layer_kind *kind;
} part;

enum { PARTS = 6 };

static weft_layer *layer_of(const part *p)
{
    if (p->kind != NULL)
        return weft_layer_create(p->kind);
    return p->in > 0 ? weft_linear_create(p->in, p->out, NULL) : weft_chain_create();
}

static weft_status add_all(weft_chain_list *model, const part *parts)
{
    WEFT_TRY(weft_chain_list_input(model, "x", WEFT_F32, 2, (int64_t[]){ WEFT_ROWS, 4 }));
    for (const part *p = parts; p < parts + PARTS && p->name != NULL; p++)
        WEFT_TRY(weft_chain_list_add(model, p->name, p->owner, layer_of(p), p->from, p->to));
    return WEFT_OK;
}

static weft_status check(const part *parts, int ranks)
{
    weft_chain_list *model = weft_chain_list_create(NULL);
    weft_status      done = add_all(model, parts);
    if (done == WEFT_OK)
        done = weft_chain_list_check(model, ranks, 8);
    weft_chain_list_destroy(model);
    return done;
}

/* ---- wrong ones --------------------------------------------------------------------- */

typedef struct wrong {
    int         ranks;
    part        parts[PARTS];
    weft_status status;
    const char *words[3]; /* all are in the message */
} wrong;

#define IN WEFT_FROM(WEFT_INPUT)
#define OUT WEFT_TO(WEFT_OUTPUT)
#define FROM(...) WEFT_FROM(__VA_ARGS__)
#define TO(...) WEFT_TO(__VA_ARGS__)

static void refuse(const wrong *w, int n)
{
    for (int i = 0; i < n; i++) {
        const weft_memory before = weft_memory_now();
        weft_error_clear();
        const weft_status got = check(w[i].parts, w[i].ranks);
        assert_int_equal(w[i].status, got);
        for (int k = 0; k < 3 && w[i].words[k] != NULL; k++)
            assert_message_has(w[i].words[k]);
        assert_int_equal(before.blocks, weft_memory_now().blocks);
    }
}

static void wrong_edges_are_refused(void **state)
{
    const wrong w[] = {
        { 2,
          { { "a", 0, IN, TO(1, WEFT_OUTPUT), 0, 0, NULL } },
          WEFT_E_PLAN,
          { "'a' (rank 0), output port 0, sends message 1 to rank 1, which receives 0" } },
        { 2,
          { { "a", 0, IN, OUT, 0, 0, NULL }, { "b", 1, FROM(0), TO(0), 0, 0, NULL } },
          WEFT_E_PLAN,
          { "'b' (rank 1), input port 0, waits for message 1 from rank 0, which sends it 0" } },
        { 2,
          { { "a", 0, IN, TO(1), 0, 0, NULL }, { "b", 1, FROM(0, 0), OUT, 0, 0, &sum } },
          WEFT_E_PLAN,
          { "'b' (rank 1), input port 1, waits for message 2", "sends it 1" } },
        { 1,
          { { "a", 0, IN, TO(0, WEFT_OUTPUT), 0, 0, NULL } },
          WEFT_E_PLAN,
          { "'a' (rank 0), output port 0", "is never taken" } },
        { 1,
          { { "a", 0, FROM(0), OUT, 0, 0, NULL }, { "b", 0, IN, TO(0), 0, 0, NULL } },
          WEFT_E_PLAN,
          { "'a' (rank 0), input port 0", "what 'b' has not put yet" } },
        { 1,
          { { "a", 0, FROM(WEFT_INPUT, 0), TO(0, WEFT_OUTPUT), 0, 0, &sum } },
          WEFT_E_PLAN,
          { "'a' (rank 0), input port 1", "what 'a' has not put yet" } },
        { 1,
          { { "a", 0, FROM(WEFT_INPUT, 0), OUT, 0, 0, &sum } },
          WEFT_E_PLAN,
          { "'a' (rank 0), input port 1", "in which nothing is left" } },
    };
    (void)state;
    refuse(w, sizeof w / sizeof *w);
}

static void cycles_of_waiting_are_named_edge_by_edge(void **state)
{
    const wrong w[] = {
        { 2,
          { { "a", 0, FROM(1, WEFT_INPUT), TO(1), 0, 0, &sum },
            { "b", 1, FROM(0), TO(0), 0, 0, NULL },
            { "c", 0, IN, OUT, 0, 0, NULL } },
          WEFT_E_PLAN,
          { "a cycle of waiting", "'a' (rank 0) waits for edge 0 from 'b' (rank 1)",
            "'b' (rank 1) waits for edge 1 from 'a' (rank 0)" } },
        { 2, /* both receive first: a cycle only by the order of each rank's components */
          { { "a0", 0, FROM(1), OUT, 0, 0, NULL },
            { "b0", 0, IN, TO(1), 0, 0, NULL },
            { "a1", 1, FROM(0), TO(WEFT_OUTPUT_AT(1)), 0, 0, NULL },
            { "b1", 1, IN, TO(0), 0, 0, NULL } },
          WEFT_E_PLAN,
          { "'a0' (rank 0) waits for edge 0 from 'b1' (rank 1)",
            "'a1' (rank 1) waits for edge 1 from 'b0' (rank 0)" } },
        { 4, /* rank 0 waits for the cycle without being on it */
          { { "z", 0, FROM(1), OUT, 0, 0, NULL },
            { "a", 1, FROM(3, WEFT_INPUT), TO(2), 0, 0, &sum },
            { "b", 2, FROM(1), TO(3), 0, 0, NULL },
            { "c", 3, FROM(2), TO(1), 0, 0, NULL },
            { "d", 1, IN, TO(0), 0, 0, NULL } },
          WEFT_E_PLAN,
          { "waiting: 'a' (rank 1) waits for edge 1 from 'c' (rank 3); "
            "'c' (rank 3) waits for edge 3 from 'b' (rank 2); "
            "'b' (rank 2) waits for edge 2 from 'a' (rank 1)" } },
    };
    (void)state;
    refuse(w, sizeof w / sizeof *w);
    assert_null(strstr(weft_error_message(), "'z'"));
}

static void wrong_ports_are_refused(void **state)
{
    const wrong w[] = {
        { 2,
          { { "a", 2, IN, OUT, 0, 0, NULL } },
          WEFT_E_PLAN,
          { "'a' belongs to rank 2: there are 2" } },
        { 2, { { "a", -1, IN, OUT, 0, 0, NULL } }, WEFT_E_PLAN, { "'a' belongs to rank -1" } },
        { 2,
          { { "a", 0, IN, TO(2), 0, 0, NULL } },
          WEFT_E_PLAN,
          { "'a' (rank 0) sends to rank 2: there are 2" } },
        { 2,
          { { "a", 0, FROM(7), OUT, 0, 0, NULL } },
          WEFT_E_PLAN,
          { "'a' (rank 0) takes from rank 7: there are 2" } },
        { 1,
          { { "a", 0, FROM(WEFT_OUTPUT), OUT, 0, 0, NULL } },
          WEFT_E_PLAN,
          { "'a' (rank 0), input port 0: -2 is no rank" } },
        { 1,
          { { "a", 0, IN, TO(WEFT_INPUT), 0, 0, NULL } },
          WEFT_E_PLAN,
          { "'a' (rank 0), output port 0: -1 is no rank" } },
        { 1,
          { { "a", 0, FROM(WEFT_INPUT_AT(3)), OUT, 0, 0, NULL } },
          WEFT_E_PLAN,
          { "'a' (rank 0) takes input number 3: the model has 1" } },
        { 1,
          { { "a", 0, { 0 }, OUT, 0, 0, NULL } },
          WEFT_E_PLAN,
          { "'a' (rank 0) takes nothing" } },
        { 1,
          { { "a", 0, IN, { 0 }, 0, 0, NULL } },
          WEFT_E_PLAN,
          { "what component 'a' (rank 0) gives goes nowhere" } },
        { 1, { { .name = NULL } }, WEFT_E_PLAN, { "no components" } },
        { 0, { { "a", 0, IN, OUT, 0, 0, NULL } }, WEFT_E_ARG, { "a plan for 0 ranks" } },
    };
    (void)state;
    refuse(w, sizeof w / sizeof *w);
}

static void wrong_outputs_are_refused(void **state)
{
    const wrong w[] = {
        { 2,
          { { "a", 0, IN, TO(WEFT_OUTPUT, 1), 0, 0, NULL }, { "b", 1, FROM(0), OUT, 0, 0, NULL } },
          WEFT_E_PLAN,
          { "'a' (rank 0) and 'b' (rank 1) both give the model's output 0" } },
        { 1,
          { { "a", 0, IN, TO(WEFT_OUTPUT, WEFT_OUTPUT_AT(0)), 0, 0, NULL } },
          WEFT_E_PLAN,
          { "both give the model's output 0" } },
        { 1,
          { { "a", 0, IN, TO(WEFT_OUTPUT, WEFT_OUTPUT_AT(2)), 0, 0, NULL } },
          WEFT_E_PLAN,
          { "no component gives the model's output 1; 'a' (rank 0) gives 2" } },
        { 2,
          { { "a", 0, IN, TO(1), 0, 0, NULL },
            { "b", 1, FROM(0), TO(0), 0, 0, NULL },
            { "c", 0, FROM(1), TO(1), 0, 0, NULL },
            { "d", 1, FROM(0), TO(1), 0, 0, NULL },
            { "e", 1, FROM(1), TO(1), 0, 0, NULL } },
          WEFT_E_PLAN,
          { "no component gives the model's output" } },
    };
    (void)state;
    refuse(w, sizeof w / sizeof *w);
}

static void shapes_that_do_not_fit_are_refused_by_component(void **state)
{
    const wrong w[] = {
        { 2,
          { { "l1", 0, IN, TO(1), 4, 5, NULL }, { "l2", 1, FROM(0), OUT, 6, 2, NULL } },
          WEFT_E_SHAPE,
          { "'l2' (rank 1), given (8, 5) f32: ", "(2, 6)" } },
        { 1,
          { { "l1", 0, IN, OUT, 3, 5, NULL } },
          WEFT_E_SHAPE,
          { "'l1' (rank 0), given (8, 4) f32" } },
        { 1,
          { { "a", 0, IN, OUT, 0, 0, &nothing } },
          WEFT_E_PLAN,
          { "'a' (rank 0) gives 0 variables" } },
        { 1,
          { { "a", 0, IN, OUT, 0, 0, &null } },
          WEFT_E_PLAN,
          { "'a' (rank 0), given (8, 4) f32, gives a NULL and no reason" } },
    };
    (void)state;
    refuse(w, sizeof w / sizeof *w);
}

static weft_vars double_forward(weft_layer *self, weft_vars in)
{
    (void)self;
    for (int i = 0; i < in.n; i++)
        in.at[in.n + i] = weft_tanh(in.at[i]);
    in.n *= 2;
    return in;
}

static const weft_layer_kind doubling = { .name = "double", .forward = double_forward };

static void tuples_have_a_limit(void **state)
{
    const wrong w[] = {
        { 1,
          { { "a", 0, IN, TO(0), 0, 0, &doubling },
            { "b", 0, FROM(0), TO(0), 0, 0, &doubling },
            { "c", 0, FROM(0), TO(0), 0, 0, &doubling },
            { "d", 0, FROM(0), TO(0, 0), 0, 0, &doubling },
            { "e", 0, FROM(0, 0), OUT, 0, 0, &sum } },
          WEFT_E_PLAN,
          { "'e' (rank 0) would take more than 16 variables" } },
        { 1,
          { { "a", 0, IN, TO(0), 0, 0, &doubling },
            { "b", 0, FROM(0), TO(0), 0, 0, &doubling },
            { "c", 0, FROM(0), TO(0), 0, 0, &doubling },
            { "d", 0, FROM(0), TO(WEFT_OUTPUT, WEFT_OUTPUT_AT(1)), 0, 0, &doubling } },
          WEFT_E_PLAN,
          { "the model gives 32 variables" } },
    };
    (void)state;
    refuse(w, sizeof w / sizeof *w);
}

static void dtypes_that_do_not_fit_are_refused(void **state)
{
    weft_chain_list *model = weft_chain_list_create(NULL);
    (void)state;
    assert_ok(weft_chain_list_input(model, "x", WEFT_F32, 2, (int64_t[]){ WEFT_ROWS, 4 }));
    assert_ok(weft_chain_list_input(model, "t", WEFT_F64, 1, (int64_t[]){ WEFT_ROWS }));
    assert_ok(weft_chain_list_add(model, "loss", 0, weft_classifier_create(), IN, OUT));
    assert_fails(WEFT_E_DTYPE, weft_chain_list_check(model, 1, 8));
    assert_message_has("'loss' (rank 0), given (8, 4) f32, (8) f64");
    weft_chain_list_destroy(model);
}

static void inputs_are_declared_and_taken(void **state)
{
    weft_chain_list *model = weft_chain_list_create(NULL);
    (void)state;
    assert_ok(weft_chain_list_add(model, "a", 0, weft_chain_create(), IN, OUT));
    assert_fails(WEFT_E_PLAN, weft_chain_list_check(model, 1, 8));
    assert_message_has("'a' (rank 0) takes the model's inputs, and none is declared");
    weft_chain_list_destroy(model);

    model = weft_chain_list_create(NULL);
    assert_ok(weft_chain_list_input(model, "x", WEFT_F32, 1, (int64_t[]){ WEFT_ROWS }));
    assert_ok(weft_chain_list_input(model, "t", WEFT_I32, 1, (int64_t[]){ WEFT_ROWS }));
    assert_ok(weft_chain_list_add(model, "a", 0, weft_chain_create(), FROM(WEFT_INPUT_AT(0)), OUT));
    assert_fails(WEFT_E_PLAN, weft_chain_list_check(model, 1, 8));
    assert_message_has("no component takes the model's input 't'");
    assert_fails(WEFT_E_ARG, weft_chain_list_check(model, 1, 0) == WEFT_E_PLAN
                                 ? weft_chain_list_input(model, "x", WEFT_F32, 0, NULL)
                                 : WEFT_OK);
    assert_message_has("two inputs are called 'x'");
    assert_fails(WEFT_E_ARG,
                 weft_chain_list_input(model, "y", WEFT_F32, 2, (int64_t[]){ 3, WEFT_ROWS }));
    assert_message_has("input 'y': extent 1 is -1");
    assert_fails(WEFT_E_ARG, weft_chain_list_input(model, "y", (weft_dtype)77, 0, NULL));
    assert_fails(WEFT_E_ARG, weft_chain_list_input(model, "y", WEFT_F32, 9, NULL));
    assert_fails(WEFT_E_ARG, weft_chain_list_input(model, "", WEFT_F32, 0, NULL));
    weft_chain_list_destroy(model);
}

static void names_are_unique_and_layers_taken_even_so(void **state)
{
    const weft_memory before = weft_memory_now();
    weft_chain_list  *model = weft_chain_list_create(NULL);
    weft_ports        wide = { .n = WEFT_MAX_PORTS + 1 };
    (void)state;

    assert_ok(weft_chain_list_add(model, "l1", 0, weft_chain_create(), IN, TO(0)));
    assert_fails(WEFT_E_ARG,
                 weft_chain_list_add(model, "l1", 0, weft_linear_create(2, 2, NULL), FROM(0), OUT));
    assert_message_has("components 0 and 1 are both called 'l1'");
    assert_fails(WEFT_E_ARG,
                 weft_chain_list_add(model, "a/b", 0, weft_chain_create(), FROM(0), OUT));
    assert_message_has("'a/b'");
    assert_fails(WEFT_E_ARG, weft_chain_list_add(model, "", 0, weft_chain_create(), FROM(0), OUT));
    assert_fails(WEFT_E_ARG, weft_chain_list_add(model, "l2", 0, weft_chain_create(), wide, OUT));
    assert_message_has("'l2' with 17 inputs");
    assert_fails(WEFT_E_ARG, weft_chain_list_add(model, "l2", 0, weft_linear_create(-1, 2, NULL),
                                                 FROM(0), OUT));
    weft_error_clear();
    assert_fails(WEFT_E_ARG, weft_chain_list_add(model, "l2", 0, NULL, FROM(0), OUT));
    assert_ok(weft_chain_list_add(model, NULL, 0, weft_chain_create(), FROM(0), OUT));
    assert_string_equal("1", weft_chain_list_name(model, 1));
    assert_int_equal(2, weft_chain_list_n(model));
    weft_chain_list_destroy(model);
    assert_int_equal(before.blocks, weft_memory_now().blocks);
}

/* ---- right ones --------------------------------------------------------------------------- */

static void legal_shapes_pass(void **state)
{
    const struct {
        int  ranks;
        part parts[PARTS];
    } right[] = {
        /* both send first, then receive */
        { 2,
          { { "a0", 0, IN, TO(1), 0, 0, NULL },
            { "a1", 1, IN, TO(0), 0, 0, NULL },
            { "b0", 0, FROM(1), TO(1), 0, 0, NULL },
            { "b1", 1, FROM(0), TO(1), 0, 0, NULL },
            { "c1", 1, FROM(0, 1), OUT, 0, 0, &sum } } },
        /* there and back, an idle rank */
        { 4,
          { { "a", 0, IN, TO(2), 4, 3, NULL },
            { "b", 2, FROM(0), TO(0), 3, 5, NULL },
            { "c", 0, FROM(2), OUT, 5, 2, NULL } } },
        /* a branch with the own rank in the middle */
        { 3,
          { { "p", 1, IN, TO(0, 1, 2), 4, 3, NULL },
            { "c0", 0, FROM(1), TO(1), 3, 3, NULL },
            { "c1", 1, FROM(1), TO(1), 3, 3, NULL },
            { "c2", 2, FROM(1), TO(1), 3, 3, NULL },
            { "m", 1, FROM(0, 1, 2), OUT, 0, 0, &sum } } },
        /* the components of a rank need not stand in the order of the data */
        { 2,
          { { "b", 1, FROM(0), TO(0), 0, 0, NULL },
            { "a", 0, IN, TO(1), 0, 0, NULL },
            { "c", 0, FROM(1), OUT, 0, 0, NULL } } },
        /* two outputs, the second first */
        { 2,
          { { "a", 0, IN, TO(1, WEFT_OUTPUT_AT(1)), 0, 0, &pair },
            { "b", 1, FROM(0), OUT, 0, 0, &sum } } },
    };
    (void)state;
    for (size_t i = 0; i < sizeof right / sizeof *right; i++)
        assert_ok(check(right[i].parts, right[i].ranks));
}

/* ---- in words ------------------------------------------------------------------------------- */

static weft_chain_list *classifier(int last)
{
    weft_linear_options relu = weft_linear_defaults();
    weft_chain_list    *model = weft_chain_list_create(NULL);

    relu.relu = true;
    assert_ok(weft_chain_list_input(model, "x", WEFT_F32, 2, (int64_t[]){ WEFT_ROWS, 784 }));
    assert_ok(weft_chain_list_input(model, "t", WEFT_I32, 1, (int64_t[]){ WEFT_ROWS }));
    assert_ok(weft_chain_list_add(model, "l1", 0, weft_linear_create(784, 1000, &relu),
                                  FROM(WEFT_INPUT_AT(0)), TO(last)));
    assert_ok(
        weft_chain_list_add(model, "l2", last, weft_linear_create(1000, 10, NULL), FROM(0), TO(0)));
    assert_ok(weft_chain_list_add(model, "loss", 0, weft_classifier_create(),
                                  FROM(last, WEFT_INPUT_AT(1)), OUT));
    return model;
}

static void inputs_with_fixed_rows_need_no_others(void **state)
{
    weft_chain_list *model = weft_chain_list_create(NULL);
    (void)state;
    assert_ok(weft_chain_list_input(model, "x", WEFT_F32, 2, (int64_t[]){ 7, 4 }));
    assert_ok(weft_chain_list_add(model, "a", 0, weft_dropout_create(0.5), IN, OUT));
    assert_ok(weft_chain_list_check(model, 1, 0));
    assert_ok(weft_chain_list_check(model, 1, 100));
    weft_chain_list_destroy(model);

    model = classifier(0);
    assert_fails(WEFT_E_ARG, weft_chain_list_check(model, 1, 0));
    assert_message_has("a batch of 0 rows");
    weft_chain_list_destroy(model);
}

static void the_text_is_the_same_for_every_placement_but_for_owners(void **state)
{
    weft_chain_list *model = classifier(1), *whole = classifier(0);
    char            *text = weft_chain_list_text(model), *one = weft_chain_list_text(whole);
    (void)state;

    assert_string_equal("input x: (rows, 784) f32\n"
                        "input t: (rows) i32\n"
                        "l1 @0: linear from x to l2 @1; W (1000, 784); b (1000)\n"
                        "l2 @1: linear from l1 @0 to loss @0; W (10, 1000); b (10)\n"
                        "loss @0: classifier from l2 @1, t to output 0\n",
                        text);
    for (char *at = text; (at = strchr(at, '@')) != NULL;)
        *++at = '0';
    assert_string_equal(one, text);
    assert_int_equal(0, weft_chain_list_output_owner(model));
    assert_int_equal(1, weft_chain_list_owner(model, 1));
    weft_free(text);
    weft_free(one);
    weft_chain_list_destroy(model);
    weft_chain_list_destroy(whole);
}

static void the_printed_table_is_aligned_and_complete(void **state)
{
    static const char expected[] =
        "   component  rank  kind        parameters  from      to\n"
        "0  l1            0  linear         785,000  x         l2 @1\n"
        "1  l2            1  linear          10,010  l1 @0     loss @0\n"
        "2  loss          0  classifier           0  l2 @1, t  output 0\n"
        "\n"
        "   edge        ranks   carries          bytes    back\n"
        "0  l1 to l2    0 to 1  (100, 1000) f32  400,000  400,000\n"
        "1  l2 to loss  1 to 0  (100, 10) f32      4,000    4,000\n"
        "\n"
        "a training step with batches of 100:\n"
        "rank  components  parameters  sends  bytes\n"
        "   0           2     785,000      2  404,000\n"
        "   1           1      10,010      2  404,000\n"
        "   2           0           0      0        0  nothing to do\n";
    char             text[2048];
    FILE            *to = tmpfile();
    weft_chain_list *model = classifier(1);
    (void)state;

    assert_ok(weft_chain_list_print(model, 3, 100, to));
    rewind(to);
    text[fread(text, 1, sizeof text - 1, to)] = '\0';
    assert_string_equal(expected, text);
    fclose(to);
    assert_fails(WEFT_E_PLAN, weft_chain_list_print(model, 1, 100, stdout));
    weft_chain_list_destroy(model);
}

static void a_plan_alone_can_not_be_built_or_run(void **state)
{
    weft_chain_list *model = classifier(0);
    weft_tape       *tape = weft_tape_create();
    (void)state;

    assert_fails(WEFT_E_STATE, weft_chain_list_build(model, NULL));
    assert_null(weft_chain_list_params(model));
    weft_tape_step_set(tape, &(weft_step){ .rows = 3 });
    assert_null(weft_chain_list_forward(model, tape, (weft_vars){ 0 }).at[0]);
    assert_message_has("before weft_chain_list_build()");
    weft_tape_destroy(tape);
    weft_chain_list_destroy(model);
}

static void a_layer_can_be_in_one_place_only(void **state)
{
    weft_chain_list *model = weft_chain_list_create(NULL);
    weft_layer      *once = weft_chain_create(), *chain = weft_chain_create();
    weft_layer      *inner = weft_linear_create(2, 1, NULL);
    (void)state;

    assert_ok(weft_chain_add(chain, "inner", inner));
    assert_ok(weft_chain_list_add(model, "a", 0, once, IN, OUT));
    assert_fails(WEFT_E_ARG, weft_chain_list_add(model, "b", 0, once, IN, OUT));
    assert_message_has("component 'b': a layer can be in one place only");
    assert_fails(WEFT_E_ARG, weft_chain_list_add(model, NULL, 0, inner, IN, OUT));
    assert_message_has("component 'linear': a layer can be in one place only");
    assert_int_equal(1, weft_chain_list_n(model));
    weft_chain_list_destroy(model);
    weft_layer_destroy(chain);
    assert_int_equal(0, weft_memory_now().blocks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_edges_are_refused),
        cmocka_unit_test(cycles_of_waiting_are_named_edge_by_edge),
        cmocka_unit_test(wrong_ports_are_refused),
        cmocka_unit_test(wrong_outputs_are_refused),
        cmocka_unit_test(shapes_that_do_not_fit_are_refused_by_component),
        cmocka_unit_test(tuples_have_a_limit),
        cmocka_unit_test(dtypes_that_do_not_fit_are_refused),
        cmocka_unit_test(inputs_are_declared_and_taken),
        cmocka_unit_test(names_are_unique_and_layers_taken_even_so),
        cmocka_unit_test(legal_shapes_pass),
        cmocka_unit_test(inputs_with_fixed_rows_need_no_others),
        cmocka_unit_test(the_text_is_the_same_for_every_placement_but_for_owners),
        cmocka_unit_test(the_printed_table_is_aligned_and_complete),
        cmocka_unit_test(a_layer_can_be_in_one_place_only),
        cmocka_unit_test(a_plan_alone_can_not_be_built_or_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
