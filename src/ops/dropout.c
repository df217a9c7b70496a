/* dropout.c -- each element 0 with probability `rate`, else scaled by 1 / (1 - rate);
 * gx = g likewise (N. Srivastava et al., J. Mach. Learn. Res. 15 (2014) 1929).
 *
 * An element is kept where its 32 random bits are at least rate 2^32.
 */
#include "ops/ops_impl.h"
#include "ops/rows.h"

#ifdef REAL /* ---- kernels: compiled once per real type, see each_real.h ---- */

/* The bits of so many blocks from this one on, one beside the other in vectors:
 * bits[i][b] is number i of block b. */
static void K(draw_blocks)(const weft_random *stream, uint32_t block, uint32_t bits[4][BLOCKS])
{
    uint32_t counter[4], k0 = (uint32_t)stream->key, k1 = (uint32_t)(stream->key >> 32);

    weft__random_counter(stream, block, counter);
    for (uint32_t b = 0; b < BLOCKS; b++) {
        bits[0][b] = counter[0] + b;
        bits[1][b] = counter[1];
        bits[2][b] = counter[2];
        bits[3][b] = counter[3];
    }
    for (int round = 0; round < WEFT__PHILOX_ROUNDS; round++) {
        for (int b = 0; b < BLOCKS; b++)
            weft__philox_round(&bits[0][b], &bits[1][b], &bits[2][b], &bits[3][b], k0, k1);
        weft__philox_bump(&k0, &k1);
    }
}

static void K(draw_row)(const weft_random *stream, uint32_t least, int64_t cols, uint8_t *keep)
{
    for (int64_t c = 0; c < cols; c += 4 * BLOCKS) {
        const int64_t n = cols - c < 4 * BLOCKS ? cols - c : 4 * BLOCKS;
        uint32_t      bits[4][BLOCKS];
        uint8_t       part[4 * BLOCKS];

        K(draw_blocks)(stream, (uint32_t)(c / 4), bits);
        for (int b = 0; b < BLOCKS; b++)
            for (int i = 0; i < 4; i++)
                part[4 * b + i] = bits[i][b] >= least;
        memcpy(keep + c, part, (size_t)n);
    }
}

static void K(draw)(const weft_step *step, const weft_random *stream, uint32_t least,
                    weft__matrix size, uint8_t *keep)
{
    EACH_ROW (size.rows, size.cols, r) {
        weft_random row = *stream;
        row.step = (uint64_t)step->step;
        row.sample = (uint64_t)(step->sample != NULL ? step->sample[r] : r);
        K(draw_row)(&row, least, size.cols, keep + r * size.cols);
    }
}

static void K(mask)(int64_t n, double scale, const uint8_t *keep, const REAL *x, REAL *y)
{
    const REAL s = (REAL)scale;
    EACH_CHUNK (n, begin, end)
        for (int64_t i = begin; i < end; i++)
            y[i] = (keep[i] != 0 ? s : 0) * x[i];
}

#else /* ---- the operator ---- */

#include "base/random.h"

#include <inttypes.h>
#include <string.h>

/* Of four random numbers, side by side. A loop over 16 or fewer gcc takes apart
 * before it thinks of vectors. */
enum { BLOCKS = 32 };

#define SELF "ops/dropout.c"
#include "tensor/each_real.h"

typedef struct {
    double   scale;
    uint8_t *keep; /* an element: 1 or 0 */
} kept;

static weft_status backward(const weft_node *node)
{
    const kept        *k = node->state;
    const weft_tensor *g = &node->out[0]->grad;
    if (node->gin[0] != NULL)
        BY_REAL(g->dtype, mask, g->count, k->scale, k->keep, g->data, node->gin[0]->data);
    return WEFT_OK;
}

static const weft_op dropout = { .name = "dropout", .backward = backward };

static bool check(weft_var *x, double rate, const char *name, const weft_tape *tape)
{
    const weft_vars in = weft_one(x);

    if (!(rate >= 0 && rate < 1))
        return REFUSED(WEFT_E_ARG, "dropout", in, "a rate of %g; 0 up to 1 are possible", rate);
    if (name == NULL || *name == '\0')
        return REFUSED(WEFT_E_ARG, "dropout", in, "wants a name of its own");
    if (x->value.ndim < 1)
        return REFUSED(WEFT_E_SHAPE, "dropout", in, "wants rows");
    if (x->value.shape[0] != weft_tape_step(tape)->rows && weft_tape_mode(tape) != WEFT_DRY)
        return REFUSED(WEFT_E_SHAPE, "dropout", in,
                       "rows are not the %" PRId64 " samples of the step, see weft_tape_step_set()",
                       weft_tape_step(tape)->rows);
    if (weft__count_from(&x->value, 1) > INT64_C(1) << 34)
        return REFUSED(WEFT_E_SHAPE, "dropout", in, "more than 2^34 draws a sample");
    return true;
}

static weft_var *compute(weft_var *x, weft_var *y, const char *name, double rate, kept *k)
{
    const weft_step   *step = weft_tape_step(y->tape);
    const weft_random  stream = weft_random_stream(step->seed, name);
    const uint32_t     least = (uint32_t)(rate * 0x1p32); /* rate < 1: it fits */
    const weft_tensor *v = &x->value;

    k->scale = 1 / (1 - rate);
    k->keep = weft_tape_take(y->tape, v->count);
    if (k->keep == NULL)
        return NULL;
    BY_REAL(v->dtype, draw, step, &stream, least, weft__by_first_axis(v), k->keep);
    BY_REAL(v->dtype, mask, v->count, k->scale, k->keep, v->data, y->value.data);
    return y;
}

weft_var *weft_dropout(weft_var *x, double rate, const char *name)
{
    if (!weft__all_real("dropout", weft_one(x)))
        return NULL;
    const weft_tape *tape = weft_common_tape(weft_one(x));
    if (tape == NULL)
        return NULL;
    if (weft_tape_mode(tape) == WEFT_INFER)
        return x;
    if (!check(x, rate, name, tape))
        return NULL;

    weft_node *node;
    weft_var  *y = weft_apply_like(&dropout, weft_one(x), &x->value, sizeof(kept), &node);
    return weft_has_data(y) ? compute(x, y, name, rate, node->state) : y;
}

#endif
