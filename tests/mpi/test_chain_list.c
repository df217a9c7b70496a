/* Chain lists on 1 to 4 ranks: every shape has the bits of one process, wrong plans
 * fail on all ranks, messages are counted, a steady step allocates nothing. */
#include "mpi_test.h"
#include "parallel/chain_list.h"
#include "weft/optim.h"

static weft_comm *comm;
static weft_tape *tape;
static int        rank, size;

static int setup(void **state)
{
    (void)state;
    comm = weft_comm_create(MPI_COMM_WORLD, &(weft_comm_options){ .deadline = 20 });
    tape = weft_tape_create();
    rank = weft_comm_rank(comm);
    size = weft_comm_size(comm);
    weft_error_clear();
    return comm == NULL || tape == NULL;
}

static int teardown(void **state)
{
    (void)state;
    weft_tape_destroy(tape);
    weft_comm_destroy(comm);
    return 0;
}

#define IN WEFT_FROM(WEFT_INPUT)
#define OUT WEFT_TO(WEFT_OUTPUT)
#define FROM(...) WEFT_FROM(__VA_ARGS__)
#define TO(...) WEFT_TO(__VA_ARGS__)

/* ---- layers --------------------------------------------------------------------------- */

enum { WIDTH = 6 };

/* Children are named "0", "1", ... */
static void put(weft_layer *chain, weft_layer *layer)
{
    assert_ok(weft_chain_add(chain, NULL, layer));
}

static weft_layer *block(void)
{
    weft_layer *chain = weft_chain_create();
    put(chain, weft_linear_create(WIDTH, WIDTH, NULL));
    put(chain, weft_function_create("tanh", weft_tanh));
    return chain;
}

/* L = mean of (10^k x_k)^2 over all inputs together: their order matters. */
static weft_vars loss_forward(weft_layer *self, weft_vars in)
{
    weft_var *y = in.at[0];
    (void)self;
    for (int k = 1; k < in.n; k++)
        y = weft_add(weft_scale(y, 10), in.at[k]);
    return weft_one(weft_mean(weft_multiply(y, y)));
}

/* x -> (h, h W), of two shapes */
static weft_vars pair_forward(weft_layer *self, weft_vars in)
{
    weft_var *h = weft_tanh(in.at[0]);
    return weft_two(h, weft_forward(weft_layer_child_at(self, 0), h));
}

/* (a, b) -> (b W, a) */
static weft_vars twist_forward(weft_layer *self, weft_vars in)
{
    return weft_two(weft_forward(weft_layer_child_at(self, 0), in.at[1]), in.at[0]);
}

/* x -> (h, h, h) */
static weft_vars triple_forward(weft_layer *self, weft_vars in)
{
    weft_var *h = weft_forward(weft_layer_child_at(self, 0), in.at[0]);
    return (weft_vars){ 3, { h, h, h } };
}

/* Three contributions of different size to the gradient of one variable. */
static weft_vars mix_forward(weft_layer *self, weft_vars in)
{
    weft_var *a = weft_multiply(in.at[0], in.at[0]);
    weft_var *c = weft_tanh(in.at[2]), *b = weft_scale(in.at[1], 0.7);
    (void)self;
    return weft_one(weft_add(weft_add(c, b), a));
}

static const weft_layer_kind triple_kind = { .name = "triple", .forward = triple_forward };
static const weft_layer_kind mix_kind = { .name = "mix", .forward = mix_forward };
static const weft_layer_kind loss_kind = { .name = "loss", .forward = loss_forward };
static const weft_layer_kind pair_kind = { .name = "pair", .forward = pair_forward };
static const weft_layer_kind twist_kind = { .name = "twist", .forward = twist_forward };

static weft_layer *loss(void)
{
    return weft_layer_create(&loss_kind);
}

static weft_layer *pair(void)
{
    weft_layer *layer = weft_layer_create(&pair_kind);
    assert_ok(weft_layer_child(layer, "half", weft_linear_create(WIDTH, WIDTH / 2, NULL)));
    return layer;
}

static weft_layer *triple(void)
{
    weft_layer *layer = weft_layer_create(&triple_kind);
    assert_ok(weft_layer_child(layer, "in", weft_linear_create(WIDTH, WIDTH, NULL)));
    return layer;
}

static weft_layer *mix(void)
{
    return weft_layer_create(&mix_kind);
}

static weft_layer *twist(void)
{
    weft_layer *layer = weft_layer_create(&twist_kind);
    assert_ok(weft_layer_child(layer, "back", weft_linear_create(WIDTH / 2, WIDTH, NULL)));
    return layer;
}

/* ---- shapes: components with owners -------------------------------------------------- */

typedef struct part {
    int owner;
    weft_layer *(*layer)(void);
    weft_ports from, to;
} part;

enum { MAX_PARTS = 40 };

typedef struct shape {
    const char *name;
    int         least; /* ranks */
    int         n;
    part        at[MAX_PARTS];
} shape;

static void add(shape *s, int owner, weft_layer *(*layer)(void), weft_ports from, weft_ports to)
{
    s->at[s->n++] = (part){ owner, layer, from, to };
}

static int next_of(int r)
{
    return (r + 1) % size;
}

static int prev_of(int r)
{
    return (r + size - 1) % size;
}

/* All ranks but the first, and where that stands, the first. */
static weft_ports ranks_with_first_at(int place)
{
    weft_ports all = { 0 };
    for (int r = 1; r < size; r++) {
        if (all.n == place)
            all.at[all.n++] = 0;
        all.at[all.n++] = r;
    }
    if (all.n == place)
        all.at[all.n++] = 0;
    return all;
}

static shape chain_shape(void)
{
    shape s = { .name = "chain", .least = 1 };
    for (int r = 0; r < size; r++)
        add(&s, r, block, r == 0 ? IN : FROM(r - 1), TO(r == size - 1 ? 0 : r + 1));
    add(&s, 0, loss, FROM(size - 1), OUT);
    return s;
}

static shape cycle_shape(void) /* C49 */
{
    shape s = { .name = "cycle", .least = 2 };
    add(&s, 0, block, IN, TO(1));
    for (int r = 1; r < size; r++)
        add(&s, r, block, FROM(r - 1), TO(next_of(r)));
    add(&s, 0, loss, FROM(size - 1), OUT);
    return s;
}

static shape crossing_shape(void) /* C50: here also with all sends first */
{
    shape s = { .name = "crossing", .least = 2 };
    for (int r = 0; r < size; r++)
        add(&s, r, block, IN, TO(next_of(r)));
    for (int r = 0; r < size; r++)
        add(&s, r, loss, FROM(prev_of(r)), TO(WEFT_OUTPUT_AT(r)));
    return s;
}

static shape branching_shape(int place) /* C51 */
{
    shape            s = { .name = "branching", .least = 1 };
    const weft_ports all = ranks_with_first_at(place < size ? place : size - 1);
    add(&s, 0, block, IN, all);
    for (int i = 0; i < all.n; i++)
        add(&s, all.at[i], block, FROM(0), TO(0));
    add(&s, 0, loss, all, OUT);
    return s;
}

static shape branching_first(void)
{
    return branching_shape(0);
}

static shape branching_middle(void)
{
    return branching_shape(1);
}

static shape branching_last(void)
{
    return branching_shape(size - 1);
}

/* What one component gives is the output too, and is sent twice to one rank. */
static shape output_and_more(void)
{
    shape s = { .name = "output and more", .least = 1 };
    add(&s, 0, block, IN, TO(size - 1, 0, size - 1));
    add(&s, size - 1, block, FROM(0), TO(0));
    add(&s, 0, block, FROM(0), TO(0));
    add(&s, size - 1, loss, FROM(0), TO(WEFT_OUTPUT_AT(1)));
    add(&s, 0, loss, FROM(size - 1, 0), TO(WEFT_OUTPUT_AT(0)));
    return s;
}

static shape twist_shape(void) /* C52 */
{
    shape s = { .name = "twist", .least = 2 };
    int   output = 0;
    add(&s, 0, block, IN, TO(1));
    for (int r = 1; r < size - 1; r++) {
        add(&s, r, block, FROM(r - 1), TO(r));
        add(&s, r, block, IN, TO(r - 1));
        add(&s, r, block, IN, TO(r + 1));
    }
    add(&s, size - 1, loss, FROM(size - 2), TO(WEFT_OUTPUT_AT(output)));
    add(&s, size - 1, block, IN, TO(size - 2));
    for (int r = 1; r < size - 1; r++) {
        add(&s, r, block, FROM(r + 1), TO(r));
        add(&s, r, loss, FROM(r, r), TO(WEFT_OUTPUT_AT(++output)));
    }
    add(&s, 0, loss, FROM(1), TO(WEFT_OUTPUT_AT(++output)));
    return s;
}

static shape tuple_shape(void) /* C53 */
{
    shape s = { .name = "tuples", .least = 2 };
    add(&s, 0, pair, IN, TO(1));
    add(&s, 1, twist, FROM(0), TO(size - 1, 0));
    if (size > 2)
        add(&s, size - 1, loss, FROM(1), TO(WEFT_OUTPUT_AT(1)));
    else
        add(&s, 1, loss, FROM(1), TO(WEFT_OUTPUT_AT(1)));
    add(&s, 0, loss, FROM(1), OUT);
    return s;
}

static shape (*const shapes[])(void) = {
    chain_shape,    cycle_shape,     crossing_shape, branching_first, branching_middle,
    branching_last, output_and_more, twist_shape,    tuple_shape,
};

enum { SHAPES = sizeof shapes / sizeof *shapes };

/* ---- the undivided model: one tape, plain variables, no messages ---------------------- */

typedef struct whole {
    weft__plan   plan;
    int          order[MAX_PARTS];
    weft_layer  *all;
    weft_params *params;
    weft_optim  *optim;
    weft_tape   *tape;
    weft_vars    output;
} whole;

static void whole_create(whole *w, const shape *s, weft_dtype dtype)
{
    memset(w, 0, sizeof *w);
    w->all = weft_chain_create();
    w->tape = weft_tape_create();
    assert_ok(weft__plan_input_add(&w->plan, "x", dtype, 2, (int64_t[]){ WEFT_ROWS, WIDTH }));
    for (int i = 0; i < s->n; i++) {
        weft_layer *layer = s->at[i].layer();
        assert_ok(weft__plan_component_add(&w->plan, NULL, s->at[i].owner, layer, s->at[i].from,
                                           s->at[i].to));
        put(w->all, layer);
    }
    assert_ok(weft__plan_check(&w->plan, size, w->order));
    w->params = weft_params_create(w->all, &(weft_params_options){ .seed = 3, .dtype = dtype });
    w->optim = weft_adam_create(w->params, NULL);
    assert_non_null(w->optim);
}

static void whole_forward(whole *w, const weft_tensor *x)
{
    weft_vars held[4 * MAX_PARTS], in, input = weft_one(weft_input(w->tape, x));
    weft_vars given[MAX_PARTS];

    for (int i = 0; i < w->plan.n_components; i++) {
        const weft__component *c = &w->plan.component[w->order[i]];
        assert_ok(weft__plan_gather(&w->plan, c, &input, held, &in));
        given[w->order[i]] = weft_layer_forward(c->layer, in);
        for (int port = 0; port < c->to.n; port++)
            if (c->out_edge[port] >= 0)
                held[c->out_edge[port]] = given[w->order[i]];
    }
    w->output.n = 0;
    for (int k = 0, giver; (giver = weft__plan_giver(&w->plan, k)) >= 0; k++)
        for (int i = 0; i < given[giver].n; i++)
            w->output.at[w->output.n++] = given[giver].at[i];
}

static void whole_destroy(whole *w)
{
    weft_tape_destroy(w->tape);
    weft_optim_destroy(w->optim);
    weft_params_destroy(w->params);
    weft_layer_destroy(w->all);
    weft__plan_clear(&w->plan);
}

/* ---- the divided one ------------------------------------------------------------------- */

static weft_chain_list *divide(const shape *s, weft_comm *over, weft_dtype dtype)
{
    weft_chain_list *model = weft_chain_list_create(over);

    assert_ok(weft_chain_list_input(model, "x", dtype, 2, (int64_t[]){ WEFT_ROWS, WIDTH }));
    for (int i = 0; i < s->n; i++)
        assert_ok(weft_chain_list_add(model, NULL, s->at[i].owner, s->at[i].layer(), s->at[i].from,
                                      s->at[i].to));
    assert_ok(weft_chain_list_build(model, &(weft_params_options){ .seed = 3, .dtype = dtype }));
    return model;
}

static weft_tensor *batch(weft_dtype dtype, int64_t rows, int step)
{
    const weft_random random = weft_random_stream(7, "batch");
    weft_tensor      *x = weft_tensor_create(dtype, 2, (int64_t[]){ rows, WIDTH });
    for (int64_t i = 0; i < x->count; i++)
        weft_tensor_set(x, i, weft_random_normal(&random, (uint64_t)(1000 * step + i)));
    return x;
}

/* ---- same bits ------------------------------------------------------------------------------ */

static bool same_bits(const weft_tensor *a, const weft_tensor *b)
{
    return a->dtype == b->dtype && weft_tensor_same_shape(a, b) &&
           memcmp(a->data, b->data, (size_t)weft_tensor_bytes(a)) == 0;
}

static bool same_params(const weft_params *mine, const weft_params *all)
{
    for (int i = 0; i < weft_params_n(mine); i++) {
        const weft_var *a = weft_params_var(mine, i);
        const weft_var *b = weft_params_find(all, weft_params_name(mine, i));
        if (b == NULL || !same_bits(&a->value, &b->value) || a->has_grad != b->has_grad ||
            (a->has_grad && !same_bits(&a->grad, &b->grad))) {
            print_error("%s differs\n", weft_params_name(mine, i));
            return false;
        }
    }
    return true;
}

/* Outputs of this rank are the undivided ones, those of others delegates. */
static bool same_outputs(const weft_chain_list *model, weft_vars mine, weft_vars all)
{
    bool same = mine.n == all.n;
    for (int i = 0; i < mine.n && same; i++)
        same = mine.at[i] != NULL &&
               (mine.at[i]->value.count == 0 || same_bits(&mine.at[i]->value, &all.at[i]->value));
    if (weft_chain_list_output_owner(model) == rank)
        same = same && mine.at[0]->value.count == 1;
    return same;
}

static weft_vars run(weft_chain_list *model, weft_tape *on, const weft_tensor *x)
{
    weft_tape_step_set(on, &(weft_step){ .rows = x->shape[0] });
    return weft_chain_list_forward(model, on, weft_one(weft_input(on, x)));
}

static void compare(const shape *s, weft_dtype dtype)
{
    whole            w;
    weft_chain_list *model = divide(s, comm, dtype);
    weft_optim      *adam = weft_adam_create(weft_chain_list_params(model), NULL);

    whole_create(&w, s, dtype);
    for (int step = 0; step < 4; step++) {
        weft_tensor    *x = batch(dtype, step % 2 ? 3 : 5, step);
        const weft_vars y = run(model, tape, x);
        whole_forward(&w, x);
        assert_everywhere(same_outputs(model, y, w.output));

        assert_ok(weft_tape_backward(tape, y.n, y.at));
        assert_ok(weft_tape_backward(w.tape, w.output.n, w.output.at));
        assert_everywhere(same_params(weft_chain_list_params(model), w.params));

        assert_ok(weft_optim_step(adam));
        assert_ok(weft_optim_step(w.optim));
        assert_everywhere(same_params(weft_chain_list_params(model), w.params));
        assert_ok(weft_tape_clear(tape));
        assert_ok(weft_tape_clear(w.tape));
        weft_tensor_destroy(x);
    }
    whole_destroy(&w);
    weft_optim_destroy(adam);
    weft_chain_list_destroy(model);
}

static void every_shape_has_the_bits_of_one_process(void **state)
{
    (void)state;
    for (int i = 0; i < SHAPES; i++) {
        const shape s = shapes[i]();
        if (s.least > size)
            continue;
        print_message("    %s\n", s.name);
        compare(&s, WEFT_F32);
        compare(&s, WEFT_F64);
    }
}

static shape twins_shape(int other)
{
    shape s = { .name = "twins" };
    add(&s, 0, triple, IN, TO(other));
    add(&s, other, mix, FROM(0), TO(0));
    add(&s, 0, loss, FROM(other), OUT);
    return s;
}

/* Its three gradients are added in one order, wherever they come from. */
static void a_variable_three_times_in_a_tuple_has_one_order_of_sums(void **state)
{
    const shape      near = twins_shape(0), far = twins_shape(size - 1);
    weft_comm       *self = weft_comm_create(MPI_COMM_SELF, NULL);
    weft_chain_list *one = divide(&near, self, WEFT_F32), *two = divide(&far, comm, WEFT_F32);
    weft_tape       *alone = weft_tape_create();
    weft_tensor     *x = batch(WEFT_F32, 50, 0);
    (void)state;

    assert_ok(weft_backward(run(one, alone, x).at[0]));
    assert_ok(weft_backward(run(two, tape, x).at[0]));
    assert_everywhere(same_params(weft_chain_list_params(two), weft_chain_list_params(one)));
    assert_ok(weft_tape_clear(tape));
    weft_tape_destroy(alone);
    weft_tensor_destroy(x);
    weft_chain_list_destroy(one);
    weft_chain_list_destroy(two);
    weft_comm_destroy(self);
}

/* ---- the classifier: the same four components, whoever owns them ------------------------- */

typedef struct owners {
    int l1, l2, l3, loss;
} owners;

static owners owners_here(void)
{
    switch (size) {
    case 1:
        return (owners){ 0, 0, 0, 0 };
    case 2:
        return (owners){ 0, 1, 1, 0 };
    case 3:
        return (owners){ 0, 1, 2, 0 };
    default:
        return (owners){ 1, 2, 0, 3 };
    }
}

enum { IMAGE = 12, UNITS = 8, CLASSES = 4 };

static weft_layer *hidden(void)
{
    weft_layer *chain = weft_chain_create();
    put(chain, weft_linear_create(UNITS, UNITS, NULL));
    put(chain, weft_function_create("relu", weft_relu));
    put(chain, weft_dropout_create(0.25));
    return chain;
}

static void describe(weft_chain_list *model, weft_dtype dtype, owners o)
{
    weft_linear_options relu = weft_linear_defaults();
    relu.relu = true;

    assert_ok(weft_chain_list_input(model, "x", dtype, 2, (int64_t[]){ WEFT_ROWS, IMAGE }));
    assert_ok(weft_chain_list_input(model, "t", WEFT_I32, 1, (int64_t[]){ WEFT_ROWS }));
    assert_ok(weft_chain_list_add(model, "l1", o.l1, weft_linear_create(IMAGE, UNITS, &relu),
                                  FROM(WEFT_INPUT_AT(0)), TO(o.l2)));
    assert_ok(weft_chain_list_add(model, "l2", o.l2, hidden(), FROM(o.l1), TO(o.l3)));
    assert_ok(weft_chain_list_add(model, "l3", o.l3, weft_linear_create(UNITS, CLASSES, NULL),
                                  FROM(o.l2), TO(o.loss)));
    assert_ok(weft_chain_list_add(model, "loss", o.loss, weft_classifier_create(),
                                  FROM(o.l3, WEFT_INPUT_AT(1)), OUT));
}

static weft_chain_list *classifier(weft_comm *over, weft_dtype dtype, owners o)
{
    weft_chain_list *model = weft_chain_list_create(over);
    describe(model, dtype, o);
    assert_ok(weft_chain_list_build(model, &(weft_params_options){ .seed = 5, .dtype = dtype }));
    return model;
}

typedef struct samples {
    weft_tensor *x, *t;
} samples;

static samples samples_create(weft_dtype dtype, int64_t rows)
{
    const weft_random random = weft_random_stream(9, "samples");
    samples           s = { weft_tensor_create(dtype, 2, (int64_t[]){ rows, IMAGE }),
                            weft_tensor_create(WEFT_I32, 1, &rows) };
    for (int64_t i = 0; i < s.x->count; i++)
        weft_tensor_set(s.x, i, weft_random_uniform(&random, (uint64_t)i));
    for (int64_t i = 0; i < rows; i++)
        weft_tensor_set(s.t, i, (double)(i % CLASSES));
    return s;
}

static void samples_destroy(samples s)
{
    weft_tensor_destroy(s.x);
    weft_tensor_destroy(s.t);
}

/* Images where l1 is and labels where the loss is, nothing elsewhere. */
static weft_vars forward(weft_chain_list *model, weft_tape *on, owners o, int here, samples s,
                         int64_t step)
{
    const weft_vars none = { 0 };
    weft_vars       in = weft_two(here == o.l1 ? weft_input(on, s.x) : NULL,
                            here == o.loss ? weft_input(on, s.t) : NULL);

    weft_tape_step_set(on, &(weft_step){ .seed = 5, .step = step, .rows = s.x->shape[0] });
    return weft_chain_list_forward(model, on, here == o.l1 || here == o.loss ? in : none);
}

static void compare_classifier(weft_dtype dtype)
{
    const owners     o = owners_here(), one = { 0, 0, 0, 0 };
    weft_comm       *self = weft_comm_create(MPI_COMM_SELF, NULL);
    weft_chain_list *divided = classifier(comm, dtype, o),
                    *undivided = classifier(self, dtype, one);
    weft_params *mine = weft_chain_list_params(divided), *all = weft_chain_list_params(undivided);
    weft_optim  *adam = weft_adam_create(mine, NULL), *adam1 = weft_adam_create(all, NULL);
    weft_tape   *alone = weft_tape_create();

    for (int step = 0; step < 6; step++) {
        samples         s = samples_create(dtype, step % 3 == 2 ? 5 : 16);
        const weft_vars y = forward(divided, tape, o, rank, s, step);
        const weft_vars z = forward(undivided, alone, one, 0, s, step);
        assert_everywhere(y.n == 2 && z.n == 2);
        assert_everywhere(rank != o.loss || (same_bits(&y.at[0]->value, &z.at[0]->value) &&
                                             same_bits(&y.at[1]->value, &z.at[1]->value)));
        assert_everywhere(rank == o.loss ||
                          (y.at[0]->value.count == 0 && y.at[1]->value.ndim == 1));
        if (step % 2) { /* parameter by parameter, inside backward */
            assert_ok(weft_optim_minimize(adam, y.at[0]));
            assert_ok(weft_optim_minimize(adam1, z.at[0]));
        } else {
            assert_ok(weft_backward(y.at[0]));
            assert_ok(weft_backward(z.at[0]));
            assert_everywhere(same_params(mine, all));
            assert_ok(weft_optim_step(adam));
            assert_ok(weft_optim_step(adam1));
        }
        assert_everywhere(same_params(mine, all));
        assert_ok(weft_tape_clear(tape));
        assert_ok(weft_tape_clear(alone));
        samples_destroy(s);
    }
    weft_tape_destroy(alone);
    weft_optim_destroy(adam);
    weft_optim_destroy(adam1);
    weft_chain_list_destroy(divided);
    weft_chain_list_destroy(undivided);
    weft_comm_destroy(self);
}

static void a_classifier_has_the_same_bits_on_any_number_of_ranks(void **state)
{
    (void)state;
    compare_classifier(WEFT_F32);
    compare_classifier(WEFT_F64);
}

static void parameters_are_placed_under_names_without_owners(void **state)
{
    static const char *const name[] = { "l1/W", "l1/b", "l2/0/W", "l2/0/b", "l3/W", "l3/b" };
    const owners             o = owners_here();
    const int                owner[] = { o.l1, o.l1, o.l2, o.l2, o.l3, o.l3 };
    weft_chain_list         *model = classifier(comm, WEFT_F64, o);
    weft_params             *mine = weft_chain_list_params(model);
    const weft_placed       *p;
    (void)state;

    assert_int_equal(6, weft_chain_list_placed(model, &p));
    for (int i = 0; i < 6; i++) {
        assert_string_equal(name[i], p[i].name);
        assert_int_equal(owner[i], p[i].owner);
        assert_int_equal(WEFT_F64, p[i].dtype);
        assert_true((p[i].here != NULL) == (owner[i] == rank));
        if (p[i].here == NULL)
            continue;
        assert_string_equal(name[i], weft_params_name(mine, p[i].index));
        assert_ptr_equal(p[i].here, weft_params_var(mine, p[i].index));
        assert_int_equal(p[i].ndim, p[i].here->value.ndim);
        assert_memory_equal(p[i].shape, p[i].here->value.shape,
                            sizeof(int64_t) * (size_t)p[i].ndim);
    }
    assert_int_equal(IMAGE, p[0].shape[1]);
    assert_everywhere(true);
    weft_chain_list_destroy(model);
}

/* ---- messages and memory ------------------------------------------------------------------- */

static void messages_and_bytes_are_exactly_those_of_the_plan(void **state)
{
    const owners     o = { 0, size - 1, size - 1, 0 };
    weft_chain_list *model = weft_chain_list_create(comm);
    const int64_t    rows = 16, there = rows * UNITS * 8, back = rows * CLASSES * 8;
    samples          s = samples_create(WEFT_F64, rows);
    const bool       last = rank == size - 1 && size > 1, first = rank == 0 && size > 1;
    (void)state;

    describe(model, WEFT_F64, o);
    assert_ok(weft_chain_list_build(model, &(weft_params_options){ .dtype = WEFT_F64 }));
    for (int step = 0; step < 3; step++) {
        const weft_traffic before = weft_comm_traffic(model->comm);
        const weft_vars    y = forward(model, tape, o, rank, s, step);
        assert_ok(weft_backward(y.at[0]));
        assert_ok(weft_tape_clear(tape));
        const weft_traffic now = weft_comm_traffic(model->comm);
        /* l1 to l2, l3 to loss, and the gradient of each the other way */
        assert_everywhere(now.messages_sent - before.messages_sent == (first || last ? 2 : 0));
        assert_everywhere(now.messages_received - before.messages_received ==
                          (first || last ? 2 : 0));
        assert_everywhere(now.bytes_sent - before.bytes_sent == (first || last ? there + back : 0));
        assert_everywhere(now.collectives == before.collectives);
    }
    samples_destroy(s);
    weft_chain_list_destroy(model);
}

static void inference_sends_no_gradients(void **state)
{
    const owners     o = owners_here();
    weft_chain_list *model = classifier(comm, WEFT_F32, o);
    samples          s = samples_create(WEFT_F32, 10);
    weft_tape       *eval = weft_tape_create();
    const int        sends = (rank == o.l1 && o.l2 != rank) + (rank == o.l2 && o.l3 != rank) +
                      (rank == o.l3 && o.loss != rank);
    (void)state;

    assert_ok(weft_tape_mode_set(eval, WEFT_INFER));
    const weft_traffic before = weft_comm_traffic(model->comm);
    const weft_vars    y = forward(model, eval, o, rank, s, 0);
    assert_everywhere(y.n == 2 && y.at[0] != NULL);
    assert_everywhere(rank != o.loss || isfinite(weft_item(y.at[1])));
    assert_ok(weft_tape_clear(eval));
    const weft_traffic now = weft_comm_traffic(model->comm);
    assert_everywhere(now.messages_sent - before.messages_sent == sends);
    weft_tape_destroy(eval);
    samples_destroy(s);
    weft_chain_list_destroy(model);
}

static weft_chain_list *passing(int end)
{
    weft_chain_list *model = weft_chain_list_create(comm);
    assert_ok(weft_chain_list_input(model, "x", WEFT_F32, 2, (int64_t[]){ WEFT_ROWS, WIDTH }));
    assert_ok(weft_chain_list_add(model, "pass", 0, weft_chain_create(), IN, TO(end)));
    assert_ok(weft_chain_list_add(model, "block", end, block(), FROM(0), TO(end)));
    assert_ok(weft_chain_list_add(model, "loss", end, loss(), FROM(end), OUT));
    assert_ok(weft_chain_list_build(model, NULL));
    return model;
}

static void an_edge_without_a_gradient_takes_no_message_back(void **state)
{
    weft_chain_list *model = passing(size - 1);
    weft_tensor     *x = batch(WEFT_F32, 5, 0);
    (void)state;

    assert_ok(weft_backward(run(model, tape, x).at[0]));
    assert_ok(weft_tape_clear(tape));
    assert_everywhere(weft_comm_traffic(model->comm).messages_sent == (rank == 0 && size > 1));
    weft_tensor_destroy(x);
    weft_chain_list_destroy(model);
}

static void an_input_that_wants_a_gradient_over_such_an_edge_is_refused(void **state)
{
    weft_chain_list *model = passing(size - 1);
    weft_var        *x = weft_variable(tape, WEFT_F32, 2, (int64_t[]){ 5, WIDTH }, true);
    (void)state;

    weft_tensor_fill(&x->value, 1);
    weft_tape_step_set(tape, &(weft_step){ .rows = 5 });
    if (rank == 0 && size > 1) {
        assert_null(weft_chain_list_forward(model, tape, weft_one(x)).at[0]);
        assert_int_equal(WEFT_E_STATE, weft_error_status());
        assert_message_has("pass to block: part 0 needs a gradient");
    }
    assert_everywhere(weft_comm_traffic(model->comm).messages_sent == 0);
    weft_chain_list_destroy(model);
}

/* Batches of two sizes and an evaluation take turns. */
static void a_steady_step_allocates_nothing(void **state)
{
    const owners     o = owners_here();
    weft_chain_list *model = classifier(comm, WEFT_F32, o);
    weft_optim      *adam = weft_adam_create(weft_chain_list_params(model), NULL);
    weft_tape       *eval = weft_tape_create();
    samples          full = samples_create(WEFT_F32, 16), last = samples_create(WEFT_F32, 7);
    int64_t          allocations = 0;
    (void)state;

    assert_ok(weft_tape_mode_set(eval, WEFT_INFER));
    for (int round = 0; round < 8; round++) {
        if (round == 4)
            allocations = weft_memory_now().allocations;
        for (int k = 0; k < 3; k++) {
            const weft_vars y = forward(model, tape, o, rank, k == 2 ? last : full, round);
            assert_ok(weft_optim_minimize(adam, y.at[0]));
            assert_ok(weft_tape_clear(tape));
        }
        assert_non_null(forward(model, eval, o, rank, last, round).at[0]);
        assert_ok(weft_tape_clear(eval));
    }
    if (!WEFT_PLAIN_ARENAS)
        assert_everywhere(weft_memory_now().allocations == allocations);
    samples_destroy(full);
    samples_destroy(last);
    weft_tape_destroy(eval);
    weft_optim_destroy(adam);
    weft_chain_list_destroy(model);
}

static void nothing_is_left_behind(void **state)
{
    int64_t blocks = 0;
    (void)state;
    for (int round = 0; round < 3; round++) { /* the communicator keeps what it used before */
        weft_chain_list_destroy(classifier(comm, WEFT_F32, owners_here()));
        weft_chain_list_destroy(NULL);
        assert_everywhere(round < 2 || weft_memory_now().blocks == blocks);
        blocks = weft_memory_now().blocks;
    }
}

/* ---- failures ----------------------------------------------------------------------------------
 */

static void fails_everywhere(weft_chain_list *model, weft_status first, const char *words)
{
    const weft_status done = weft_chain_list_build(model, NULL);
    if (done == WEFT_OK || strstr(weft_error_message(), words) == NULL)
        print_error("%s: %s\n", weft_status_text(done), weft_error_message());
    assert_everywhere(done == first || done == WEFT_E_PEER);
    assert_everywhere(strstr(weft_error_message(), words) != NULL);
    assert_everywhere(weft_chain_list_params(model) == NULL || first == WEFT_OK);
    weft_chain_list_destroy(model);
}

/* A list that is another one on the last rank. */
static weft_chain_list *disputed(int units, int owner, const char *name, int more)
{
    const bool       me = rank == size - 1;
    weft_chain_list *model = weft_chain_list_create(comm);

    assert_ok(weft_chain_list_input(model, "x", WEFT_F32, 2, (int64_t[]){ WEFT_ROWS, WIDTH }));
    assert_ok(weft_chain_list_add(model, "a", 0, weft_linear_create(WIDTH, me ? units : 3, NULL),
                                  IN, TO(me ? owner : 0)));
    assert_ok(weft_chain_list_add(model, me ? name : "b", me ? owner : 0, block(), FROM(0), OUT));
    for (int i = 0; me && i < more; i++)
        assert_ok(weft_chain_list_add(model, NULL, 0, block(), FROM(0), TO(0)));
    return model;
}

static void ranks_with_different_lists_are_named(void **state)
{
    char both[64];
    (void)state;
    if (size == 1)
        return;
    snprintf(both, sizeof both, "differs between ranks 0 and %d", size - 1);
    fails_everywhere(disputed(4, 0, "b", 0), WEFT_E_PLAN, both);
    fails_everywhere(disputed(4, 0, "b", 0), WEFT_E_PLAN, "component 'a' differs");
    fails_everywhere(disputed(3, 1, "b", 0), WEFT_E_PLAN, "component 'a' differs");
    fails_everywhere(disputed(3, 0, "c", 0), WEFT_E_PLAN, "component 'a' differs");
    fails_everywhere(disputed(3, 0, "b", 1), WEFT_E_PLAN, "component '2' differs");
}

static void ranks_with_different_seeds_are_named(void **state)
{
    weft_chain_list  *model = weft_chain_list_create(comm);
    const weft_status expected = size == 1 ? WEFT_OK : WEFT_E_PLAN;
    (void)state;
    describe(model, WEFT_F32, owners_here());
    const weft_status done =
        weft_chain_list_build(model, &(weft_params_options){ .seed = rank == size - 1 });
    assert_everywhere(done == expected || done == WEFT_E_PEER);
    if (size > 1)
        assert_message_has("seed 1");
    assert_fails(WEFT_E_STATE, weft_chain_list_build(model, NULL));
    assert_message_has("second time");
    assert_fails(WEFT_E_STATE, weft_chain_list_add(model, "z", 0, block(), IN, OUT));
    assert_everywhere(true);
    weft_chain_list_destroy(model);
}

static void wrong_plans_fail_on_all_ranks_before_any_message(void **state)
{
    weft_chain_list *model = weft_chain_list_create(comm);
    (void)state;
    assert_ok(weft_chain_list_input(model, "x", WEFT_F32, 2, (int64_t[]){ WEFT_ROWS, WIDTH }));
    assert_ok(weft_chain_list_add(model, "a", size, block(), IN, OUT));
    fails_everywhere(model, WEFT_E_PLAN, "'a' belongs to rank");

    /* parameters of another dtype than the input: seen where they are */
    model = weft_chain_list_create(comm);
    assert_ok(weft_chain_list_input(model, "x", WEFT_F64, 2, (int64_t[]){ WEFT_ROWS, WIDTH }));
    assert_ok(weft_chain_list_add(model, "a", size - 1, block(), IN, OUT));
    const weft_status done = weft_chain_list_build(model, NULL);
    assert_everywhere(done == (rank == size - 1 ? WEFT_E_DTYPE : WEFT_E_PEER));
    assert_message_has("'a'");
    assert_everywhere(true);
    weft_chain_list_destroy(model);
}

/* Everything on rank 0, so that no other waits. */
static void wrong_steps_are_refused(void **state)
{
    const owners     o = { 0, 0, 0, 0 };
    weft_chain_list *model = classifier(comm, WEFT_F32, o);
    samples          s = samples_create(WEFT_F32, 4), wide = samples_create(WEFT_F64, 4);
    weft_tape       *dry = weft_tape_create();
    (void)state;

    if (rank == 0) {
        weft_vars in = weft_two(weft_input(tape, s.x), weft_input(tape, s.t));
        assert_null(weft_chain_list_forward(model, tape, in).at[0]);
        assert_message_has("a step of 0 rows");
        weft_tape_step_set(tape, &(weft_step){ .rows = 5 });
        assert_null(weft_chain_list_forward(model, tape, in).at[0]);
        assert_int_equal(WEFT_E_SHAPE, weft_error_status());
        assert_message_has("'x' is (4, 12) f32 in a step of 5 rows");
        weft_tape_step_set(tape, &(weft_step){ .rows = 4 });
        assert_null(weft_chain_list_forward(model, tape, weft_one(in.at[0])).at[0]);
        assert_message_has("1 inputs for a model of 2");
        assert_null(weft_chain_list_forward(model, tape, weft_two(in.at[0], NULL)).at[0]);
        assert_message_has("rank 0 has no data for the model's input 't'");
        in.at[0] = weft_input(tape, wide.x);
        assert_null(weft_chain_list_forward(model, tape, in).at[0]);
        assert_int_equal(WEFT_E_DTYPE, weft_error_status());
        assert_ok(weft_tape_mode_set(dry, WEFT_DRY));
        assert_null(weft_chain_list_forward(model, dry, (weft_vars){ 0 }).at[0]);
        assert_message_has("dry");
    }
    assert_everywhere(true);
    assert_ok(weft_tape_clear(tape));
    weft_tape_destroy(dry);
    samples_destroy(s);
    samples_destroy(wide);
    weft_chain_list_destroy(model);
}

#define with(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        with(every_shape_has_the_bits_of_one_process),
        with(a_variable_three_times_in_a_tuple_has_one_order_of_sums),
        with(a_classifier_has_the_same_bits_on_any_number_of_ranks),
        with(parameters_are_placed_under_names_without_owners),
        with(messages_and_bytes_are_exactly_those_of_the_plan),
        with(inference_sends_no_gradients),
        with(an_edge_without_a_gradient_takes_no_message_back),
        with(an_input_that_wants_a_gradient_over_such_an_edge_is_refused),
        with(a_steady_step_allocates_nothing),
        with(nothing_is_left_behind),
        with(ranks_with_different_lists_are_named),
        with(ranks_with_different_seeds_are_named),
        with(wrong_plans_fail_on_all_ranks_before_any_message),
        with(wrong_steps_are_refused),
    };
    MPI_Init(&argc, &argv);
    const int status = mpi_test_main(tests);
    MPI_Finalize();
    return status;
}
