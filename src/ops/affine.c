/* affine.c -- y = x W^T + b, and y = max(0, x W^T + b);
 *
 *     gz = g, or g where y > 0;   gx = gz W, gW = gz^T x, gb = sum of gz over rows.
 *
 * Besides the three products there is one pass over y forward, and one over g
 * backward.
 */
#include "ops/ops_impl.h"
#include "ops/rows.h"

#ifdef REAL /* ---- kernels: compiled once per real type, see each_real.h ---- */

static void K(multiply)(extents s, const REAL *x, const REAL *W, REAL *y)
{
    GEMM(false, true, s.n, s.m, s.k, 1, x, s.k, W, s.k, 0, y, s.m);
}

static void K(add_bias)(extents s, const REAL *b, REAL *y)
{
    EACH_ROW (s.n, s.m, r)
        for (int64_t c = 0; c < s.m; c++)
            y[r * s.m + c] += b[c];
}

static void K(add_bias_relu)(extents s, const REAL *b, REAL *y)
{
    EACH_ROW (s.n, s.m, r)
        for (int64_t c = 0; c < s.m; c++) {
            const REAL z = y[r * s.m + c] + b[c];
            y[r * s.m + c] = z <= 0 ? 0 : z;
        }
}

static void K(relu)(extents s, REAL *y)
{
    const int64_t count = s.n * s.m;
    EACH_CHUNK (count, begin, end)
        for (int64_t i = begin; i < end; i++)
            y[i] = y[i] <= 0 ? 0 : y[i];
}

/* Two loops over what fits the nearest cache: compilers make vectors of each, but
 * branches of both in one. */
static void K(backward_z_row)(int64_t n, const REAL *y, REAL *g, double *sum)
{
    for (int64_t c = 0; c < n; c++)
        g[c] = y[c] <= 0 ? 0 : g[c];
    for (int64_t c = 0; c < n; c++)
        sum[c] += (double)g[c];
}

/* g <- gz, and its sum over rows to gb where that is not NULL. */
static void K(backward_z)(extents s, const REAL *y, REAL *g, REAL *gb)
{
    EACH_STRIPE (s.n, s.m, begin, end) {
        double sum[WEFT__STRIPE] = { 0 };
        for (int64_t r = 0; r < s.n; r++)
            K(backward_z_row)(end - begin, y + r * s.m + begin, g + r * s.m + begin, sum);
        for (int64_t c = begin; gb != NULL && c < end; c++)
            gb[c] = (REAL)sum[c - begin];
    }
}

static void K(backward_x)(extents s, const REAL *g, const REAL *W, REAL *gx)
{
    GEMM(false, false, s.n, s.k, s.m, 1, g, s.m, W, s.k, 0, gx, s.k);
}

static void K(backward_W)(extents s, const REAL *g, const REAL *x, REAL *gW)
{
    GEMM(true, false, s.m, s.k, s.n, 1, g, s.m, x, s.k, 0, gW, s.k);
}

#else /* ---- the operators ---- */

/* x (n, k), W (m, k), y (n, m). */
typedef struct {
    int64_t n, k, m;
} extents;

#define SELF "ops/affine.c"
#include "tensor/each_real.h"

static extents sizes(const weft_var *x, const weft_var *W)
{
    return (extents){ x->value.shape[0], W->value.shape[1], W->value.shape[0] };
}

static void backward_products(const weft_node *node, extents s)
{
    const weft_tensor *x = &node->in[0]->value, *W = &node->in[1]->value;
    const weft_tensor *g = &node->out[0]->grad;
    weft_tensor       *gx = node->gin[0], *gW = node->gin[1];

    if (gW != NULL)
        BY_REAL(g->dtype, backward_W, s, g->data, x->data, gW->data);
    if (gx != NULL)
        BY_REAL(g->dtype, backward_x, s, g->data, W->data, gx->data);
}

static weft_status backward(const weft_node *node)
{
    const extents      s = sizes(node->in[0], node->in[1]);
    const weft_tensor *g = &node->out[0]->grad;

    if (node->n_in == 3 && node->gin[2] != NULL)
        weft__sum_rows(g->dtype, (weft__matrix){ s.n, s.m }, g->data, node->gin[2]->data);
    backward_products(node, s);
    return WEFT_OK;
}

/* gz is written over g: the tape is played in reverse, so all consumers of y have
 * added to g and nobody on the tape reads it again. It saves a third array, and
 * its way through the cache, the size of y. */
static weft_status backward_relu(const weft_node *node)
{
    const extents   s = sizes(node->in[0], node->in[1]);
    const weft_var *y = node->out[0];
    void *const     gb = node->n_in == 3 && node->gin[2] != NULL ? node->gin[2]->data : NULL;

    BY_REAL(y->grad.dtype, backward_z, s, y->value.data, y->grad.data, gb);
    backward_products(node, s);
    return WEFT_OK;
}

static const weft_op affine = { .name = "affine", .backward = backward };
static const weft_op affine_relu = { .name = "affine_relu", .backward = backward_relu };

static bool check_shapes(const char *name, weft_vars in)
{
    const weft_tensor *x = &in.at[0]->value, *W = &in.at[1]->value;
    const weft_tensor *b = in.n == 3 ? &in.at[2]->value : NULL;

    if (x->ndim < 1 || W->ndim != 2 || weft__count_from(x, 1) != W->shape[1])
        return REFUSED(WEFT_E_SHAPE, name, in, "wants x (n, k) and W (m, k)");
    if (b != NULL && (b->ndim != 1 || b->shape[0] != W->shape[0]))
        return REFUSED(WEFT_E_SHAPE, name, in, "wants W (m, k) and b (m)");
    return true;
}

/* Record y = x W^T and compute it; b is still to be added. */
static weft_var *multiply(const weft_op *op, weft_vars in)
{
    if (!weft__all_real(op->name, in) || !check_shapes(op->name, in))
        return NULL;

    const weft_var *x = in.at[0], *W = in.at[1];
    const extents   s = sizes(x, W);
    weft_var       *y = weft_apply(op, in, 2, (int64_t[]){ s.n, s.m });
    if (weft_has_data(y))
        BY_REAL(y->value.dtype, multiply, s, x->value.data, W->value.data, y->value.data);
    return y;
}

static weft_vars inputs(weft_var *x, weft_var *W, weft_var *b)
{
    return (weft_vars){ b != NULL ? 3 : 2, { x, W, b } };
}

weft_var *weft_affine(weft_var *x, weft_var *W, weft_var *b)
{
    weft_var *y = multiply(&affine, inputs(x, W, b));
    if (weft_has_data(y) && b != NULL)
        BY_REAL(y->value.dtype, add_bias, sizes(x, W), b->value.data, y->value.data);
    return y;
}

weft_var *weft_affine_relu(weft_var *x, weft_var *W, weft_var *b)
{
    weft_var *y = multiply(&affine_relu, inputs(x, W, b));
    if (weft_has_data(y) && b != NULL)
        BY_REAL(y->value.dtype, add_bias_relu, sizes(x, W), b->value.data, y->value.data);
    else if (weft_has_data(y))
        BY_REAL(y->value.dtype, relu, sizes(x, W), y->value.data);
    return y;
}

#endif
