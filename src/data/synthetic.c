/* synthetic.c -- a made-up MNIST: the digits of a seven-segment display, moved,
 * scaled, of uneven brightness, in noise.
 *
 * All by integers, so every machine makes the same bytes.
 */
#include "base/random.h"
#include "base/text.h"
#include "data/pictures.h"

#include <inttypes.h>
#include <string.h>

enum {
    SIDE = 28,
    PIXELS = SIDE * SIDE,
    UNIT = 16, /* lengths are in sixteenths of a pixel */
    SEGMENTS = 7,
};

/* ---- one picture ---------------------------------------------------------------- */

/* What is drawn by lot for a sample. */
typedef struct {
    int     digit;
    int     left, top, width, height, stroke;
    uint8_t light[SEGMENTS];
} plan;

/* Segments 0 to 6 and the digits that light them, a bit each from the lowest on:
 *
 *      0
 *     5 1
 *      6
 *     4 2
 *      3
 */
static const uint8_t lit[10] = { 0x3f, 0x06, 0x5b, 0x4f, 0x66, 0x6d, 0x7d, 0x07, 0x7f, 0x6f };

/* An edge of a segment lies `half` halves of the digit's width or height and
 * `stroke` halves of a stroke from the digit's left or top. */
typedef struct {
    int8_t half, stroke;
} edge;

static const struct {
    edge left, right, top, bottom;
} segment[SEGMENTS] = {
    { { 0, 0 }, { 2, 0 }, { 0, 0 }, { 0, 2 } },  { { 2, -2 }, { 2, 0 }, { 0, 0 }, { 1, 0 } },
    { { 2, -2 }, { 2, 0 }, { 1, 0 }, { 2, 0 } }, { { 0, 0 }, { 2, 0 }, { 2, -2 }, { 2, 0 } },
    { { 0, 0 }, { 0, 2 }, { 1, 0 }, { 2, 0 } },  { { 0, 0 }, { 0, 2 }, { 0, 0 }, { 1, 0 } },
    { { 0, 0 }, { 2, 0 }, { 1, -1 }, { 1, 1 } },
};

static int place(edge e, int begin, int length, int stroke)
{
    return begin + (e.half * length + e.stroke * stroke) / 2;
}

/* How much of pixel i lies between two edges: 0 .. UNIT. */
static int overlap(int i, int begin, int end)
{
    const int from = begin > i * UNIT ? begin : i * UNIT;
    const int to = end < (i + 1) * UNIT ? end : (i + 1) * UNIT;
    return to > from ? to - from : 0;
}

static void draw_segment(const plan *p, int s, uint8_t picture[PIXELS])
{
    const int left = place(segment[s].left, p->left, p->width, p->stroke);
    const int right = place(segment[s].right, p->left, p->width, p->stroke);
    const int top = place(segment[s].top, p->top, p->height, p->stroke);
    const int bottom = place(segment[s].bottom, p->top, p->height, p->stroke);

    for (int y = top / UNIT; y * UNIT < bottom; y++)
        for (int x = left / UNIT; x * UNIT < right; x++) {
            const int cover = overlap(y, top, bottom) * overlap(x, left, right);
            const int value = p->light[s] * cover / (UNIT * UNIT);
            if (value > picture[y * SIDE + x])
                picture[y * SIDE + x] = (uint8_t)value;
        }
}

/* ---- by lot ------------------------------------------------------------------------ */

/* A block of 128 random bits as bytes, in the same order on every machine. */
static void draw_bytes(const weft_random *stream, uint32_t block, uint8_t bytes[16])
{
    uint32_t bits[4];
    weft__random_block(stream, block, bits);
    for (int i = 0; i < 16; i++)
        bytes[i] = (uint8_t)(bits[i / 4] >> (i % 4 * 8));
}

/* A byte to from .. to. */
static int between(uint8_t byte, int from, int to)
{
    return from + byte * (to - from + 1) / 256;
}

/* The digit keeps within the picture: at its largest 14 by 22, moved by 2. */
static plan draw_plan(const weft_random *stream)
{
    uint8_t size[16], light[16];
    plan    p;

    draw_bytes(stream, 0, size);
    draw_bytes(stream, 1, light);
    p.digit = (int)(((uint32_t)size[0] << 16 | (uint32_t)size[1] << 8 | size[2]) % 10);
    p.width = between(size[3], 10 * UNIT, 14 * UNIT);
    p.height = between(size[4], 17 * UNIT, 22 * UNIT);
    p.stroke = between(size[5], 2 * UNIT, 4 * UNIT);
    p.left = (SIDE * UNIT - p.width) / 2 + between(size[6], -2 * UNIT, 2 * UNIT);
    p.top = (SIDE * UNIT - p.height) / 2 + between(size[7], -2 * UNIT, 2 * UNIT);
    for (int s = 0; s < SEGMENTS; s++)
        p.light[s] = (uint8_t)((lit[p.digit] >> s & 1) != 0 ? between(light[s], 128, 255)
                                                            : between(light[s], 0, 64));
    return p;
}

/* The sum of two bytes less its mean, quartered: -63 .. 63, mostly small. */
static void add_noise(const weft_random *stream, uint8_t picture[PIXELS])
{
    uint8_t bytes[16];
    for (int i = 0; i < PIXELS; i++) {
        if (i % 8 == 0)
            draw_bytes(stream, (uint32_t)(2 + i / 8), bytes);
        const int value = picture[i] + (bytes[i % 8 * 2] + bytes[i % 8 * 2 + 1] - 255) / 4;
        picture[i] = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
    }
}

static void draw_sample(const weft_random *stream, uint8_t picture[PIXELS], uint8_t *label)
{
    const plan p = draw_plan(stream);

    memset(picture, 0, PIXELS);
    for (int s = 0; s < SEGMENTS; s++)
        draw_segment(&p, s, picture);
    add_noise(stream, picture);
    *label = (uint8_t)p.digit;
}

/* ---- the set ------------------------------------------------------------------------ */

static weft_status check(int64_t n, const char *part)
{
    if (n < 1 || n >= INT64_C(1) << 48)
        return WEFT_FAIL(WEFT_E_ARG, "a synthetic set of %" PRId64 " samples", n);
    if (part == NULL)
        return WEFT_FAIL(WEFT_E_ARG,
                         "no part of the synthetic set: \"train\" and \"test\" are known");
    if (strcmp(part, "train") != 0 && strcmp(part, "test") != 0)
        return WEFT_FAIL(WEFT_E_ARG,
                         "part \"%s\" of the synthetic set: \"train\" and \"test\" are "
                         "known",
                         part);
    return WEFT_OK;
}

weft_dataset *weft_synthetic_mnist(int64_t n, const char *part, uint64_t seed, weft_dtype dtype)
{
    if (check(n, part) != WEFT_OK)
        return NULL;

    weft_random stream =
        weft_random_stream(seed, strcmp(part, "train") == 0 ? "synthetic/train" : "synthetic/test");
    uint8_t *x = weft_alloc(n * PIXELS), *t = weft_alloc(n);
    if (x == NULL || t == NULL) {
        weft_free(x);
        weft_free(t);
        return NULL;
    }
    for (int64_t i = 0; i < n; i++) {
        stream.sample = (uint64_t)i;
        draw_sample(&stream, x + i * PIXELS, t + i);
    }
    return weft__pictures_create(n, PIXELS, x, t, dtype);
}
