/* ops_table.h -- operators as a table: a row an operator, with a case of
 * tests/golden/ops.py: inputs, and values and gradients as PyTorch computes them. A new
 * operator is tested by a case there and a row here.
 */
#ifndef OPS_TABLE_H
#define OPS_TABLE_H

#include "weft/ops.h"

typedef struct {
    int           ndim;
    int64_t       shape[4];
    const double *at;
} numbers;

typedef struct {
    int     n;
    numbers in[3];
    bool    labels; /* the last input is labels */
    numbers y, g;   /* L = sum of g y */
    numbers gin[3];
} golden;

#include "../golden/ops.h"

/* ---- the rows' formulas ------------------------------------------------------------------- */

#define ONE(op)                                                                                    \
    static weft_var *of_##op(weft_vars x)                                                          \
    {                                                                                              \
        return weft_##op(x.at[0]);                                                                 \
    }
#define TWO(op)                                                                                    \
    static weft_var *of_##op(weft_vars x)                                                          \
    {                                                                                              \
        return weft_##op(x.at[0], x.at[1]);                                                        \
    }
#define AFFINE(op)                                                                                 \
    static weft_var *of_##op(weft_vars x)                                                          \
    {                                                                                              \
        return weft_##op(x.at[0], x.at[1], x.n > 2 ? x.at[2] : NULL);                              \
    }
ONE(relu)
ONE(sigmoid)
ONE(tanh)
ONE(sum)
ONE(mean)
ONE(softmax)
ONE(log_softmax)
TWO(matmul)
TWO(add)
TWO(subtract)
TWO(multiply)
TWO(softmax_cross_entropy)
TWO(accuracy)
TWO(mean_squared_error)
AFFINE(affine)
AFFINE(affine_relu)

static weft_var *of_scale(weft_vars x)
{
    return weft_scale(x.at[0], -1.7);
}

static weft_var *of_leaky_relu(weft_vars x)
{
    return weft_leaky_relu(x.at[0], 0.2);
}

static weft_var *of_leaky_relu_falling(weft_vars x)
{
    return weft_leaky_relu(x.at[0], -0.5);
}

static weft_var *of_dropout(weft_vars x)
{
    const weft_var *v = x.at[0];
    if (v != NULL && v->tape != NULL)
        weft_tape_step_set(v->tape,
                           &(weft_step){ .seed = 3, .step = 5, .rows = v->value.shape[0] });
    return weft_dropout(x.at[0], 0.4, "dropout");
}

static weft_var *of_reshape(weft_vars x)
{
    return weft_reshape(x.at[0], 3, (int64_t[]){ 2, 3, -1 });
}

static weft_var *of_slice(weft_vars x)
{
    return weft_slice(x.at[0], 1, 3);
}

static weft_var *of_concat_0(weft_vars x)
{
    return weft_concat(x, 0);
}

static weft_var *of_concat_1(weft_vars x)
{
    return weft_concat(x, 1);
}

static weft_var *of_concat_2(weft_vars x)
{
    return weft_concat(x, 2);
}

/* ---- the table -------------------------------------------------------------- */

enum {
    PRODUCT = 1,     /* its last bits depend on the threads of the BLAS */
    ANY_DTYPE = 2,   /* it takes integers too */
    RANDOM = 4,      /* PyTorch draws otherwise: only gradients are compared */
    NEEDS_ROWS = 8,  /* it refuses a batch without rows */
    I32_LABELS = 16, /* not i64 */
};

typedef struct {
    const char *name;
    weft_var *(*apply)(weft_vars x);
    const golden *golden;
    int           kind; /* a sum of the above */
} row;

static row rows[] = {
    { "matmul", of_matmul, &golden_matmul, PRODUCT },
    { "affine", of_affine, &golden_affine, PRODUCT },
    { "affine without bias", of_affine, &golden_affine_no_bias, PRODUCT },
    { "affine of images", of_affine, &golden_affine_images, PRODUCT },
    { "affine_relu", of_affine_relu, &golden_affine_relu, PRODUCT },
    { "affine_relu without bias", of_affine_relu, &golden_affine_relu_no_bias, PRODUCT },
    { "add", of_add, &golden_add, 0 },
    { "add to rows", of_add, &golden_add_row, 0 },
    { "subtract", of_subtract, &golden_subtract, 0 },
    { "subtract from rows", of_subtract, &golden_subtract_row, 0 },
    { "multiply", of_multiply, &golden_multiply, 0 },
    { "scale", of_scale, &golden_scale, 0 },
    { "relu", of_relu, &golden_relu, 0 },
    { "leaky_relu", of_leaky_relu, &golden_leaky_relu, 0 },
    { "leaky_relu, falling", of_leaky_relu_falling, &golden_leaky_relu_falling, 0 },
    { "sigmoid", of_sigmoid, &golden_sigmoid, 0 },
    { "tanh", of_tanh, &golden_tanh, 0 },
    { "dropout", of_dropout, &golden_relu, RANDOM },
    { "sum", of_sum, &golden_sum, 0 },
    { "mean", of_mean, &golden_mean, NEEDS_ROWS },
    { "reshape", of_reshape, &golden_reshape, ANY_DTYPE },
    { "slice", of_slice, &golden_slice, ANY_DTYPE | NEEDS_ROWS },
    { "concat of rows", of_concat_0, &golden_concat_rows, ANY_DTYPE },
    { "concat of columns", of_concat_1, &golden_concat_columns, ANY_DTYPE },
    { "concat of channels", of_concat_2, &golden_concat_last, ANY_DTYPE },
    { "softmax", of_softmax, &golden_softmax, 0 },
    { "softmax of images", of_softmax, &golden_softmax_images, 0 },
    { "log_softmax", of_log_softmax, &golden_log_softmax, 0 },
    { "softmax_cross_entropy", of_softmax_cross_entropy, &golden_softmax_cross_entropy, 0 },
    { "softmax_cross_entropy, i32", of_softmax_cross_entropy, &golden_softmax_cross_entropy,
      I32_LABELS },
    { "softmax_cross_entropy, some ignored", of_softmax_cross_entropy,
      &golden_softmax_cross_entropy_ignore, 0 },
    { "accuracy", of_accuracy, &golden_accuracy, 0 },
    { "mean_squared_error", of_mean_squared_error, &golden_mean_squared_error, 0 },
};

enum { ROWS = sizeof rows / sizeof *rows };

#endif
