/* element.c -- elements of any type as doubles: read, written, filled, converted.
 *
 * A double that the type does not hold becomes the nearest that it does, and not
 * a number becomes 0 where there is no such thing.
 */
#include "weft/tensor.h"

#include <assert.h>
#include <string.h>

#define EACH_DTYPE(X) X(F32, float) X(F64, double) X(I32, int32_t) X(I64, int64_t) X(U8, uint8_t)

/* ---- one double to each type ----------------------------------------------------- */

static float to_F32(double value)
{
    return (float)value;
}

static double to_F64(double value)
{
    return value;
}

static int32_t to_I32(double value)
{
    return value >= INT32_MAX   ? INT32_MAX
           : value <= INT32_MIN ? INT32_MIN
           : value == value     ? (int32_t)value
                                : 0;
}

static int64_t to_I64(double value)
{
    return value >= 0x1p63    ? INT64_MAX
           : value <= -0x1p63 ? INT64_MIN
           : value == value   ? (int64_t)value
                              : 0;
}

static uint8_t to_U8(double value)
{
    return value >= UINT8_MAX ? UINT8_MAX : value > 0 ? (uint8_t)value : 0;
}

/* ---- rows of doubles, from each type and to it -------------------------------------- */

#define X(NAME, type)                                                                              \
    static void load_##NAME(int64_t n, const void *from, double *to)                               \
    {                                                                                              \
        const type *x = from;                                                                      \
        for (int64_t i = 0; i < n; i++)                                                            \
            to[i] = (double)x[i];                                                                  \
    }                                                                                              \
    static void store_##NAME(int64_t n, const double *from, void *to)                              \
    {                                                                                              \
        type *y = to;                                                                              \
        for (int64_t i = 0; i < n; i++)                                                            \
            y[i] = to_##NAME(from[i]);                                                             \
    }
EACH_DTYPE(X)
#undef X

typedef void load(int64_t n, const void *from, double *to);
typedef void store(int64_t n, const double *from, void *to);

#define X(NAME, type) [WEFT_##NAME] = load_##NAME,
static load *const loads[] = { EACH_DTYPE(X) };
#undef X

#define X(NAME, type) [WEFT_##NAME] = store_##NAME,
static store *const stores[] = { EACH_DTYPE(X) };
#undef X

static char *at(const weft_tensor *x, int64_t index)
{
    return (char *)x->data + index * weft_dtype_bytes(x->dtype);
}

double weft_tensor_get(const weft_tensor *x, int64_t index)
{
    double value;

    assert(index >= 0 && index < x->count);
    loads[x->dtype](1, at(x, index), &value);
    return value;
}

void weft_tensor_set(weft_tensor *x, int64_t index, double value)
{
    assert(index >= 0 && index < x->count);
    stores[x->dtype](1, &value, at(x, index));
}

/* ---- many at a time ------------------------------------------------------------------ */

enum { ROW = 512 }; /* doubles: they stay in the nearest cache */

static int64_t shorter(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

void weft_tensor_fill(weft_tensor *x, double value)
{
    double row[ROW];

    for (int i = 0; i < ROW; i++)
        row[i] = value;
    for (int64_t i = 0; i < x->count; i += ROW)
        stores[x->dtype](shorter(ROW, x->count - i), row, at(x, i));
}

static void convert(const weft_tensor *x, weft_tensor *y)
{
    double row[ROW];

    for (int64_t i = 0; i < x->count; i += ROW) {
        const int64_t n = shorter(ROW, x->count - i);
        loads[x->dtype](n, at(x, i), row);
        stores[y->dtype](n, row, at(y, i));
    }
}

weft_tensor *weft_tensor_convert(const weft_tensor *x, weft_dtype dtype)
{
    if (x == NULL) {
        weft_error_trail(weft_error_status(), WEFT_HERE, "weft_tensor_convert");
        return NULL;
    }
    if (x->data == NULL)
        return WEFT_FAIL_NULL(WEFT_E_STATE, "a copy of %s, which is not in memory here",
                              weft_shape_text(x));

    weft_tensor *y = weft_tensor_create(dtype, x->ndim, x->shape);
    if (y != NULL && y->dtype == x->dtype)
        memcpy(y->data, x->data, (size_t)weft_tensor_bytes(x));
    else if (y != NULL)
        convert(x, y);
    return y;
}
