/* pictures.c -- pictures and labels held as bytes, converted a batch at a time:
 * a quarter of the memory, and an eighth in double. */
#include "data/pictures.h"

#ifdef REAL /* ---- kernels: compiled once per real type, see each_real.h ---- */

/* x / 255 to the last bit, without a division: with y = 257 x / 65536, which is
 * exact, x / 255 = y + y / 65535. The bits of x / 255 repeat those of x for ever, so
 * it is never near enough to the middle of two numbers to be rounded differently. */
static void K(convert)(int64_t n, int64_t pixels, const uint8_t *x, const int64_t *sample, REAL *to)
{
    const REAL scale = (REAL)(257 / 65536.), rest = (REAL)(1 / 65535.);

    for (int64_t row = 0; row < n; row++) {
        const uint8_t *from = x + sample[row] * pixels;
        if (row + AHEAD < n)
            fetch(x + sample[row + AHEAD] * pixels, pixels);
        for (int64_t i = 0; i < pixels; i++) {
            const REAL y = (REAL)from[i] * scale;
            to[i] = y + y * rest;
        }
        to += pixels;
    }
}

#else /* ---- the kind of data set ---- */

enum { AHEAD = 4, CACHE_LINE = 64 };

/* The rows of a shuffled batch lie anywhere: ask for one some rows before it is
 * needed, which halves the time. */
static void fetch(const uint8_t *row, int64_t pixels)
{
#ifdef __GNUC__
    for (int64_t i = 0; i < pixels; i += CACHE_LINE)
        __builtin_prefetch(row + i);
#endif
}

#define SELF "data/pictures.c"
#include "tensor/each_real.h"

enum { X, T };

typedef struct {
    uint8_t *x, *t;
    int64_t  pixels;
} pictures;

static weft_status read(const void *state, int field, int64_t n, const int64_t *sample,
                        weft_tensor *to)
{
    const pictures *p = state;
    int32_t        *label = to->data;

    if (field == X)
        BY_REAL(to->dtype, convert, n, p->pixels, p->x, sample, to->data);
    else
        for (int64_t row = 0; row < n; row++)
            label[row] = p->t[sample[row]];
    return WEFT_OK;
}

static void destroy(void *state)
{
    pictures *p = state;
    weft_free(p->x);
    weft_free(p->t);
    weft_free(p);
}

static const weft_dataset_kind kind = { .name = "pictures", .read = read, .destroy = destroy };

weft_dataset *weft__pictures_create(int64_t n, int64_t pixels, uint8_t *x, uint8_t *t,
                                    weft_dtype dtype)
{
    const weft_field field[] = {
        [X] = { .name = "x", .dtype = dtype, .ndim = 1, .shape = { pixels } },
        [T] = { .name = "t", .dtype = WEFT_I32, .ndim = 0 },
    };
    pictures *p = weft_alloc((int64_t)sizeof *p);

    if (p == NULL) {
        weft_free(x);
        weft_free(t);
        return NULL;
    }
    *p = (pictures){ .x = x, .t = t, .pixels = pixels };
    if (!weft_dtype_is_real(dtype)) {
        destroy(p);
        return WEFT_FAIL_NULL(WEFT_E_DTYPE, "pictures as %s: f32 and f64 are possible",
                              weft_dtype_text(dtype));
    }
    return weft_dataset_create(&kind, p, n, 2, field);
}

#endif
