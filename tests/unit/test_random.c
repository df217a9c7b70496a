/* Random numbers: the published vectors of Philox, the places of streams, the
 * distributions, and orders. All is deterministic: limits are far from chance.
 */
#include "weft_test.h"
#include "base/random.h"

#include <stdlib.h>

/* ---- Philox: the known answers of Random123 1.09, philox4x32 with 10 rounds ---- */

static void assert_philox(const uint32_t counter[4], const uint32_t key[2],
                          const uint32_t expected[4])
{
    uint32_t got[4];
    weft_philox(counter, key, got);
    for (int i = 0; i < 4; i++)
        assert_int_equal(expected[i], got[i]);
}

static void philox_gives_the_published_numbers(void **state)
{
    (void)state;
    assert_philox((uint32_t[]){ 0, 0, 0, 0 }, (uint32_t[]){ 0, 0 },
                  (uint32_t[]){ 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 });
    assert_philox((uint32_t[]){ 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff },
                  (uint32_t[]){ 0xffffffff, 0xffffffff },
                  (uint32_t[]){ 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd });
    assert_philox((uint32_t[]){ 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344 },
                  (uint32_t[]){ 0xa4093822, 0x299f31d0 },
                  (uint32_t[]){ 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 });
}

/* ---- streams ---------------------------------------------------------------------- */

/* What is drawn decides every run that was ever started: it must not change. */
static void a_stream_gives_the_numbers_it_always_gave(void **state)
{
    (void)state;
    weft_random s = weft_random_stream(0, "l1/W");
    uint32_t    expected[4];

    assert_int_equal(s.step, 0);
    assert_int_equal(s.sample, 0);
    s.step = UINT64_C(0x123456789abc);
    s.sample = UINT64_C(0xfedcba987654);
    weft_philox((uint32_t[]){ 25, 0x56789abc, 0xba987654, 0xfedc1234 },
                (uint32_t[]){ (uint32_t)s.key, (uint32_t)(s.key >> 32) }, expected);
    for (uint64_t i = 0; i < 4; i++)
        assert_int_equal(expected[i], weft_random_bits(&s, 100 + i));
    assert_true(s.key == UINT64_C(0xee0461dab39cb03d));
}

static void a_block_is_four_numbers(void **state)
{
    (void)state;
    const weft_random s = { .key = 1, .step = 2, .sample = 3 };
    uint32_t          bits[4];
    weft__random_block(&s, 0xffffffff, bits);
    for (uint64_t i = 0; i < 4; i++)
        assert_int_equal(bits[i], weft_random_bits(&s, 4 * UINT64_C(0xffffffff) + i));
}

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Two of m numbers of 64 bits are equal by chance once in 2^65 / m^2 tries. */
static void no_two_places_give_the_same(void **state)
{
    (void)state;
    enum { KINDS = 5, EACH = 2000 };
    static uint64_t seen[KINDS * EACH];
    char            name[] = "l0000/W";

    for (uint64_t i = 0; i < EACH; i++) {
        weft_random s[KINDS];
        for (int j = 0; j < 4; j++)
            name[4 - j] = (char)('0' + i /
                                           (j == 0   ? 1u
                                            : j == 1 ? 10u
                                            : j == 2 ? 100u
                                                     : 1000u) %
                                           10);
        s[0] = weft_random_stream(i, "W");
        s[1] = weft_random_stream(0, name);
        s[2] = s[3] = s[4] = weft_random_stream(1, "W2");
        s[2].step = i + 1;
        s[3].sample = i + 1;
        s[4].step = s[4].sample = (i + 1) << 32; /* the high halves share a word */
        for (int k = 0; k < KINDS; k++)
            seen[KINDS * i + (uint64_t)k] =
                (uint64_t)weft_random_bits(&s[k], 0) << 32 | weft_random_bits(&s[k], 1);
    }
    qsort(seen, KINDS * EACH, sizeof *seen, by_value);
    for (int i = 1; i < KINDS * EACH; i++)
        assert_true(seen[i - 1] != seen[i]);
}

static double correlation(const weft_random *a, const weft_random *b, uint64_t n)
{
    double sum = 0;
    for (uint64_t i = 0; i < n; i++)
        sum += (weft_random_uniform(a, i) - 0.5) * (weft_random_uniform(b, i) - 0.5);
    return 12 * sum / (double)n;
}

/* The correlation of n pairs is 1 / sqrt(n) wide: 0.0032 here. */
static void streams_of_near_seeds_names_steps_are_not_alike(void **state)
{
    (void)state;
    const uint64_t    n = 100000;
    const weft_random a = weft_random_stream(0, "l1/W");
    const weft_random seed = weft_random_stream(1, "l1/W"), name = weft_random_stream(0, "l2/W");
    weft_random       step = a, sample = a;
    step.step = 1;
    sample.sample = 1;

    assert_near(1, correlation(&a, &a, n), 0.02);
    assert_near(0, correlation(&a, &seed, n), 0.015);
    assert_near(0, correlation(&a, &name, n), 0.015);
    assert_near(0, correlation(&a, &step, n), 0.015);
    assert_near(0, correlation(&a, &sample, n), 0.015);
}

/* ---- distributions ------------------------------------------------------------------- */

/* Chi squared of 255 degrees: 255, give or take 22.6. */
static void uniforms_fill_the_interval_evenly(void **state)
{
    (void)state;
    enum { BINS = 256, N = 256 * 1000 };
    const weft_random s = weft_random_stream(7, "uniform");
    int               count[BINS] = { 0 };
    double            chi = 0;

    for (uint64_t i = 0; i < N; i++) {
        const double u = weft_random_uniform(&s, i);
        assert_true(u >= 0 && u < 1);
        count[(int)(u * BINS)]++;
    }
    for (int i = 0; i < BINS; i++)
        chi += (count[i] - 1000.0) * (count[i] - 1000.0) / 1000;
    assert_true(chi > 150 && chi < 370);
}

static void uniforms_do_not_follow_each_other(void **state)
{
    (void)state;
    const uint64_t    n = 200000;
    const weft_random s = weft_random_stream(7, "uniform");
    for (uint64_t lag = 1; lag <= 5; lag++) {
        double sum = 0;
        for (uint64_t i = 0; i < n; i++)
            sum += (weft_random_uniform(&s, i) - 0.5) * (weft_random_uniform(&s, i + lag) - 0.5);
        assert_near(0, 12 * sum / (double)n, 0.012);
    }
}

static void normals_have_the_moments_of_a_normal(void **state)
{
    (void)state;
    const uint64_t    n = 400000;
    const weft_random s = weft_random_stream(3, "normal");
    double            m1 = 0, m2 = 0, m3 = 0, m4 = 0, follow = 0, before = 0, within = 0;

    for (uint64_t i = 0; i < n; i++) {
        const double x = weft_random_normal(&s, i);
        assert_true(isfinite(x));
        m1 += x;
        m2 += x * x;
        m3 += x * x * x;
        m4 += x * x * x * x;
        follow += x * before;
        within += fabs(x) < 1;
        before = x;
    }
    assert_near(0, m1 / (double)n, 0.01);
    assert_near(1, m2 / (double)n, 0.015);
    assert_near(0, m3 / (double)n, 0.03);
    assert_near(3, m4 / (double)n, 0.1);
    assert_near(0, follow / (double)n, 0.01);
    assert_near(0.6826894921, within / (double)n, 0.005);
}

static void a_normal_is_box_and_mullers(void **state)
{
    (void)state;
    const weft_random s = weft_random_stream(3, "normal");
    for (uint64_t i = 0; i < 1000; i++) {
        const double u = weft_random_uniform(&s, 2 * i) + 0x1p-32;
        const double v = weft_random_uniform(&s, 2 * i + 1);
        assert_near(sqrt(-2 * log(u)) * cos(2 * acos(-1) * v), weft_random_normal(&s, i), 1e-9);
    }
}

/* ---- orders ----------------------------------------------------------------------------- */

static void an_order_has_every_number_once(void **state)
{
    (void)state;
    enum { N = 1000 };
    for (int64_t n = 0; n < N; n = 2 * n + 1) {
        int64_t order[N] = { 0 };
        bool    seen[N] = { false };
        weft_random_order(5, 1, n, order);
        for (int64_t i = 0; i < n; i++) {
            assert_in_range(order[i], 0, n - 1);
            assert_false(seen[order[i]]);
            seen[order[i]] = true;
        }
    }
}

static int64_t places_shared(uint64_t seed, int64_t epoch, uint64_t seed2, int64_t epoch2)
{
    enum { N = 1000 };
    int64_t a[N], b[N], shared = 0;
    weft_random_order(seed, epoch, N, a);
    weft_random_order(seed2, epoch2, N, b);
    for (int i = 0; i < N; i++)
        shared += a[i] == b[i];
    return shared;
}

/* Two random orders share one place on average, whatever their length. */
static void an_order_depends_on_seed_and_epoch(void **state)
{
    (void)state;
    assert_int_equal(1000, places_shared(1, 2, 1, 2));
    assert_in_range(places_shared(1, 2, 1, 3), 0, 10);
    assert_in_range(places_shared(1, 2, 2, 2), 0, 10);
    assert_in_range(places_shared(1, 2, 2, 1), 0, 10);
}

/* 24 orders of 4, 1,000 times each, give or take 31; chi squared of 23 degrees. */
static void all_orders_are_equally_likely(void **state)
{
    (void)state;
    int    count[256] = { 0 };
    double chi = 0;
    int    kinds = 0;

    for (int64_t epoch = 0; epoch < 24000; epoch++) {
        int64_t o[4];
        weft_random_order(11, epoch, 4, o);
        count[o[0] << 6 | o[1] << 4 | o[2] << 2 | o[3]]++;
    }
    for (int i = 0; i < 256; i++)
        if (count[i] > 0) {
            kinds++;
            chi += (count[i] - 1000.0) * (count[i] - 1000.0) / 1000;
        }
    assert_int_equal(24, kinds);
    assert_true(chi > 5 && chi < 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox_gives_the_published_numbers),
        cmocka_unit_test(a_stream_gives_the_numbers_it_always_gave),
        cmocka_unit_test(a_block_is_four_numbers),
        cmocka_unit_test(no_two_places_give_the_same),
        cmocka_unit_test(streams_of_near_seeds_names_steps_are_not_alike),
        cmocka_unit_test(uniforms_fill_the_interval_evenly),
        cmocka_unit_test(uniforms_do_not_follow_each_other),
        cmocka_unit_test(normals_have_the_moments_of_a_normal),
        cmocka_unit_test(a_normal_is_box_and_mullers),
        cmocka_unit_test(an_order_has_every_number_once),
        cmocka_unit_test(an_order_depends_on_seed_and_epoch),
        cmocka_unit_test(all_orders_are_equally_likely),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
