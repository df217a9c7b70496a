/* Products of matrices, against a loop in double. */
#include "weft_test.h"
#include "tensor/gemm.h"
#include "weft/tensor.h"

#include <limits.h>
#include <stdlib.h>

#ifdef _OPENMP
#include <omp.h>
#endif

typedef struct shape {
    int64_t m, n, k;
} shape;

/* A product in double, the same in float, and what is expected of both. Leading
 * extents are longer than the rows by pad; what lies between must stay. */
typedef struct product {
    shape   s;
    bool    ta, tb;
    int64_t lda, ldb, ldc;
    int64_t na, nb, nc; /* elements, pads included */
    double *a, *b, *c, *expected;
    float  *fa, *fb, *fc;
} product;

static double *draw(int64_t n, const char *name)
{
    const weft_random r = weft_random_stream(1, name);
    double           *x = weft_alloc((n + 1) * (int64_t)sizeof *x);
    for (int64_t i = 0; i < n; i++) /* of few bits, so that a float holds them too */
        x[i] = floor(64 * weft_random_uniform(&r, (uint64_t)i)) / 32 - 1;
    return x;
}

static float *as_float(int64_t n, const double *x)
{
    float *y = weft_alloc((n + 1) * (int64_t)sizeof *y);
    for (int64_t i = 0; i < n; i++)
        y[i] = (float)x[i];
    return y;
}

static product make(shape s, bool ta, bool tb, int64_t pad)
{
    product p = { .s = s, .ta = ta, .tb = tb };
    p.lda = (ta ? s.m : s.k) + pad;
    p.ldb = (tb ? s.k : s.n) + pad;
    p.ldc = s.n + pad;
    p.na = (ta ? s.k : s.m) * p.lda;
    p.nb = (tb ? s.n : s.k) * p.ldb;
    p.nc = s.m * p.ldc;
    p.a = draw(p.na, "a");
    p.b = draw(p.nb, "b");
    p.c = draw(p.nc, "c");
    p.expected = draw(p.nc, "c");
    p.fa = as_float(p.na, p.a);
    p.fb = as_float(p.nb, p.b);
    p.fc = as_float(p.nc, p.c);
    return p;
}

static void end(product *p)
{
    void *blocks[] = { p->a, p->b, p->c, p->expected, p->fa, p->fb, p->fc };
    for (int i = 0; i < 7; i++)
        weft_free(blocks[i]);
}

static void expect(product *p, double alpha, double beta)
{
    for (int64_t i = 0; i < p->s.m; i++)
        for (int64_t j = 0; j < p->s.n; j++) {
            double  sum = 0;
            double *c = &p->expected[i * p->ldc + j];
            for (int64_t l = 0; l < p->s.k; l++)
                sum += p->a[p->ta ? l * p->lda + i : i * p->lda + l] *
                       p->b[p->tb ? j * p->ldb + l : l * p->ldb + j];
            *c = alpha * sum + (beta == 0 ? 0 : beta * *c);
        }
}

static void multiply(product *p, double alpha, double beta)
{
    weft__gemm_f64(p->ta, p->tb, p->s.m, p->s.n, p->s.k, alpha, p->a, p->lda, p->b, p->ldb, beta,
                   p->c, p->ldc);
    weft__gemm_f32(p->ta, p->tb, p->s.m, p->s.n, p->s.k, (float)alpha, p->fa, p->lda, p->fb, p->ldb,
                   (float)beta, p->fc, p->ldc);
}

static void assert_right(const product *p)
{
    const double terms = (double)(p->s.k + 1);
    for (int64_t i = 0; i < p->nc; i++) {
        assert_near(p->expected[i], p->c[i], 1e-15 * terms);
        assert_near(p->expected[i], (double)p->fc[i], 3e-7 * terms);
    }
}

static void check(shape s, double alpha, double beta, int64_t pad)
{
    for (int t = 0; t < 4; t++) {
        product p = make(s, t & 1, t & 2, pad);
        expect(&p, alpha, beta);
        multiply(&p, alpha, beta);
        assert_right(&p);
        end(&p);
    }
}

static const shape SHAPES[] = {
    { 1, 1, 1 },     { 1, 10, 7 },    { 7, 1, 3 },    { 3, 5, 1 },
    { 2, 3, 4 },     { 17, 31, 13 },  { 64, 64, 64 }, { 65, 33, 97 },
    { 100, 10, 53 }, { 1, 129, 257 }, { 130, 1, 67 }, { 5, 300, 2 },
};

enum { N_SHAPES = sizeof SHAPES / sizeof *SHAPES };

static int setup(void **state)
{
    weft_threads_set(*(int *)*state);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    weft_threads_set(1);
    weft__gemm_longest = INT_MAX;
    return weft_memory_now().blocks != 0;
}

static void products_are_right(void **state)
{
    (void)state;
    for (int i = 0; i < N_SHAPES; i++)
        check(SHAPES[i], 1, 0, 0);
}

static void products_are_added_where_beta_is_1(void **state)
{
    (void)state;
    for (int i = 0; i < N_SHAPES; i++)
        check(SHAPES[i], 1, 1, 0);
}

static void factors_count(void **state)
{
    (void)state;
    for (int i = 0; i < N_SHAPES; i++)
        check(SHAPES[i], -0.5, 2, 0);
}

static void rows_may_lie_apart(void **state)
{
    (void)state;
    for (int i = 0; i < N_SHAPES; i++) {
        check(SHAPES[i], 1, 0, 3);
        check(SHAPES[i], 1, 1, 5);
    }
}

/* As memory of an arena may hold anything, also what is not a number. */
static void with_beta_0_the_old_values_are_not_read(void **state)
{
    (void)state;
    for (int i = 0; i < N_SHAPES; i++)
        for (int t = 0; t < 4; t++) {
            product p = make(SHAPES[i], t & 1, t & 2, 0);
            for (int64_t j = 0; j < p.nc; j++) {
                p.c[j] = (double)NAN;
                p.fc[j] = NAN;
            }
            expect(&p, 1, 0);
            multiply(&p, 1, 0);
            assert_right(&p);
            end(&p);
        }
}

static void empty_sums_are_0(void **state)
{
    (void)state;
    for (int beta = 0; beta < 3; beta++)
        check((shape){ 4, 5, 0 }, 1, beta, 0);

    float c[] = { NAN, NAN };
    weft__gemm_f32(false, false, 1, 2, 0, 1, NULL, 0, NULL, 2, 0, c, 2);
    assert_near(0, (double)c[0], 0);
    assert_near(0, (double)c[1], 0);
}

static void products_without_elements_touch_nothing(void **state)
{
    (void)state;
    float c[] = { 7 };
    weft__gemm_f32(false, false, 0, 1, 3, 1, NULL, 3, NULL, 1, 0, c, 1);
    weft__gemm_f32(false, true, 1, 0, 3, 1, NULL, 3, NULL, 3, 0, c, 0);
    weft__gemm_f64(true, false, 0, 0, 0, 1, NULL, 0, NULL, 0, 0, NULL, 0);
    assert_near(7, (double)c[0], 0);
}

/* As where an extent does not fit in the CBLAS's int. */
static void long_products_are_cut_into_pieces(void **state)
{
    (void)state;
    weft__gemm_longest = 29;
    for (int i = 0; i < N_SHAPES; i++) {
        check(SHAPES[i], 1, 0, 0);
        check(SHAPES[i], -0.5, 1, 3);
    }
}

/* A stride beyond the CBLAS's int, for which there need be no memory behind it. */
static void long_strides_are_not_cut_off(void **state)
{
    (void)state;
    const double a[] = { 1, 2, 3 }, b[] = { 4, 5, 6 };
    double       c[] = { 0 };
    weft__gemm_f64(false, false, 1, 1, 3, 1, a, INT64_C(1) << 40, b, 1, 0, c, INT64_C(1) << 32);
    assert_near(32, c[0], 0);
}

static void the_same_product_has_the_same_bits(void **state)
{
    (void)state;
    product p = make((shape){ 100, 300, 200 }, false, true, 0);
    product q = make((shape){ 100, 300, 200 }, false, true, 0);
    multiply(&p, 1, 0);
    for (int i = 0; i < 5; i++) {
        multiply(&q, 1, 0);
        assert_memory_equal(p.c, q.c, (size_t)p.nc * sizeof *p.c);
        assert_memory_equal(p.fc, q.fc, (size_t)p.nc * sizeof *p.fc);
    }
    end(&p);
    end(&q);
}

/* The program around has threads of its own, whose number is not ours to set. */
static void what_the_program_set_for_openmp_stays(void **state)
{
    (void)state;
#ifdef _OPENMP
    const int before = omp_get_max_threads();
    omp_set_num_threads(3);
    check((shape){ 64, 64, 64 }, 1, 0, 0);
    assert_int_equal(3, omp_get_max_threads());
    omp_set_num_threads(before);
#else
    skip();
#endif
}

static void the_libraries_are_named(void **state)
{
    (void)state;
    assert_non_null(strstr(weft__gemm_text(), "f32"));
    assert_non_null(strstr(weft__gemm_text(), "f64"));
#if WEFT_GEMM_ONEDNN
    assert_ptr_equal(weft__gemm_text(), strstr(weft__gemm_text(), "oneDNN "));
#endif
#if WEFT_OPENBLAS
    assert_non_null(strstr(weft__gemm_text(), "OpenBLAS 0."));
#endif
}

static int one = 1, two = 2;

#define ON(threads, test)                                                                          \
    {                                                                                              \
#test " (" #threads ")", test, setup, teardown, &threads                                   \
    }
#define ON_BOTH(test) ON(one, test), ON(two, test)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(products_are_right),
        ON_BOTH(products_are_added_where_beta_is_1),
        ON_BOTH(factors_count),
        ON_BOTH(rows_may_lie_apart),
        ON_BOTH(with_beta_0_the_old_values_are_not_read),
        ON_BOTH(long_products_are_cut_into_pieces),
        ON_BOTH(the_same_product_has_the_same_bits),
        ON_BOTH(what_the_program_set_for_openmp_stays),
        ON(one, empty_sums_are_0),
        ON(one, products_without_elements_touch_nothing),
        ON(one, long_strides_are_not_cut_off),
        ON(one, the_libraries_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
