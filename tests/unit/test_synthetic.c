/* The synthetic set: the same bytes everywhere; ten classes that a linear model
 * learns well but not perfectly. */
#include "weft_test.h"
#include "weft/data.h"

enum { PIXELS = 784, CLASSES = 10 };

/* Pixels back to the bytes that they were. */
static void read_all(const weft_dataset *d, uint8_t *x, uint8_t *t)
{
    weft_tensor *row = weft_tensor_create(WEFT_F64, 2, (int64_t[]){ 1, PIXELS });
    weft_tensor *label = weft_tensor_create(WEFT_I32, 1, (int64_t[]){ 1 });

    for (int64_t i = 0; i < weft_dataset_length(d); i++) {
        assert_ok(weft_dataset_read(d, 0, 1, &i, row));
        assert_ok(weft_dataset_read(d, 1, 1, &i, label));
        for (int k = 0; k < PIXELS; k++)
            x[i * PIXELS + k] = (uint8_t)lround(255 * ((double *)row->data)[k]);
        t[i] = (uint8_t) * (int32_t *)label->data;
    }
    weft_tensor_destroy(row);
    weft_tensor_destroy(label);
}

typedef struct {
    int64_t  n;
    uint8_t *x, *t;
} set;

static set make(int64_t n, const char *part, uint64_t seed)
{
    set           s = { n, weft_alloc(n * PIXELS), weft_alloc(n) };
    weft_dataset *d = weft_synthetic_mnist(n, part, seed, WEFT_F64);
    assert_non_null(d);
    read_all(d, s.x, s.t);
    weft_dataset_destroy(d);
    return s;
}

static void drop(set s)
{
    weft_free(s.x);
    weft_free(s.t);
}

/* FNV-1a. */
static uint64_t hash(const uint8_t *bytes, int64_t n)
{
    uint64_t h = UINT64_C(0xCBF29CE484222325);
    for (int64_t i = 0; i < n; i++)
        h = (h ^ bytes[i]) * UINT64_C(0x100000001B3);
    return h;
}

static void the_bytes_are_the_same_on_every_machine(void **state)
{
    (void)state;
    const set train = make(100, "train", 0), test = make(100, "test", 0);
    assert_int_equal(UINT64_C(0xCDC536FB7DD04C14), hash(train.x, 100 * PIXELS));
    assert_int_equal(UINT64_C(0x9A4E101F3E8C6ECC), hash(train.t, 100));
    assert_int_equal(UINT64_C(0x9F0780566BD14A8F), hash(test.x, 100 * PIXELS));
    drop(train);
    drop(test);
}

static void a_sample_depends_on_seed_part_and_number_alone(void **state)
{
    (void)state;
    const set few = make(3, "train", 5), many = make(50, "train", 5);
    const set other = make(3, "train", 6), test = make(3, "test", 5);
    assert_memory_equal(few.x, many.x, 3 * PIXELS);
    assert_memory_not_equal(few.x, other.x, 3 * PIXELS);
    assert_memory_not_equal(few.x, test.x, 3 * PIXELS);
    assert_memory_not_equal(few.x, few.x + PIXELS, PIXELS);
    drop(few);
    drop(many);
    drop(other);
    drop(test);
}

static void classes_are_balanced(void **state)
{
    (void)state;
    const set s = make(10000, "train", 1);
    int       of[CLASSES] = { 0 };
    for (int64_t i = 0; i < s.n; i++) {
        assert_in_range(s.t[i], 0, CLASSES - 1);
        of[s.t[i]]++;
    }
    for (int c = 0; c < CLASSES; c++)
        assert_in_range(of[c], 850, 1150); /* 1000 and five standard deviations */
    drop(s);
}

/* ---- a linear model, by hand: this room knows no layers ----------------------------- */

typedef double weights[CLASSES][PIXELS + 1];

/* p <- softmax of W x; @return the class of the largest. */
static int classify(weights W, const uint8_t *x, double p[CLASSES])
{
    int    best = 0;
    double sum = 0;
    for (int c = 0; c < CLASSES; c++) {
        p[c] = W[c][PIXELS];
        for (int k = 0; k < PIXELS; k++)
            p[c] += W[c][k] * x[k] / 255;
        best = p[c] > p[best] ? c : best;
    }
    for (int c = 0; c < CLASSES; c++)
        sum += exp(p[c] - p[best]);
    for (int c = 0, b = best; c < CLASSES; c++)
        if (c != b)
            p[c] = exp(p[c] - p[b]) / sum;
    p[best] = 1 / sum;
    return best;
}

static void learn(weights W, const uint8_t *x, int t, double rate)
{
    double p[CLASSES];
    classify(W, x, p);
    for (int c = 0; c < CLASSES; c++) {
        const double g = rate * (p[c] - (c == t));
        for (int k = 0; k < PIXELS; k++)
            W[c][k] -= g * x[k] / 255;
        W[c][PIXELS] -= g;
    }
}

static void a_linear_model_learns_it_well_but_not_perfectly(void **state)
{
    (void)state;
    static weights W;
    const set      train = make(6000, "train", 0), test = make(2000, "test", 0);
    int            right = 0;
    double         p[CLASSES];

    for (int epoch = 0; epoch < 4; epoch++)
        for (int64_t i = 0; i < train.n; i++)
            learn(W, train.x + i * PIXELS, train.t[i], 0.01);
    for (int64_t i = 0; i < test.n; i++)
        right += classify(W, test.x + i * PIXELS, p) == test.t[i];
    assert_in_range(right, 1800, 1980);
    drop(train);
    drop(test);
}

static void what_can_not_be_made_is_refused(void **state)
{
    (void)state;
    assert_null(weft_synthetic_mnist(0, "train", 0, WEFT_F32));
    assert_message_has("a synthetic set of 0 samples");
    assert_null(weft_synthetic_mnist(10, "validation", 0, WEFT_F32));
    assert_message_has("\"validation\"");
    assert_null(weft_synthetic_mnist(10, "test", 0, WEFT_U8));
    assert_int_equal(WEFT_E_DTYPE, weft_error_status());
}

static void nothing_is_left_in_memory(void **state)
{
    (void)state;
    assert_int_equal(0, weft_memory_now().blocks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bytes_are_the_same_on_every_machine),
        cmocka_unit_test(a_sample_depends_on_seed_part_and_number_alone),
        cmocka_unit_test(classes_are_balanced),
        cmocka_unit_test(a_linear_model_learns_it_well_but_not_perfectly),
        cmocka_unit_test(what_can_not_be_made_is_refused),
        cmocka_unit_test(nothing_is_left_in_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
