/* dropout.c -- each element 0 with probability `rate`, else scaled by 1 / (1 - rate);
 * gx = g likewise (N. Srivastava et al., J. Mach. Learn. Res. 15 (2014) 1929).
 *
 * An element is kept where its 32 random bits are at least rate 2^32.
 */
#include "ops/ops_impl.h"
#include "ops/rows.h"

#ifdef REAL /* ---- kernels: compiled once per real type, see each_real.h ---- */

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

/* The draws of one sample, four at a time. */
static void draw_row(weft_random stream, uint32_t least, int64_t cols, uint8_t *keep)
{
    for (int64_t c = 0; c < cols; c += 4) {
        uint32_t bits[4];
        weft__random_block(&stream, (uint32_t)(c / 4), bits);
        for (int64_t i = 0; i < 4 && c + i < cols; i++)
            keep[c + i] = bits[i] >= least;
    }
}

static void draw(const weft_step *step, double rate, const char *name, weft__matrix size,
                 uint8_t *keep)
{
    const weft_random stream = weft_random_stream(step->seed, name);
    const uint32_t    least = (uint32_t)(rate * 0x1p32); /* rate < 1: it fits */

    EACH_ROW (size.rows, size.cols, r) {
        const int64_t sample = step->sample != NULL ? step->sample[r] : r;
        weft_random   row = stream;
        row.step = (uint64_t)step->step;
        row.sample = (uint64_t)sample;
        draw_row(row, least, size.cols, keep + r * size.cols);
    }
}

static bool check(weft_var *x, double rate, const char *name, const weft_tape *tape)
{
    const weft_vars in = weft_one(x);

    if (!(rate >= 0 && rate < 1))
        return REFUSE(WEFT_E_ARG, "dropout", in, "a rate of %g; 0 up to 1 are possible", rate) !=
               NULL;
    if (name == NULL || *name == '\0')
        return REFUSE(WEFT_E_ARG, "dropout", in, "wants a name of its own") != NULL;
    if (x->value.ndim < 1 || x->value.shape[0] != weft_tape_step(tape)->rows)
        return REFUSE(WEFT_E_SHAPE, "dropout", in,
                      "rows are not the %" PRId64 " samples of the step, see weft_tape_step_set()",
                      weft_tape_step(tape)->rows) != NULL;
    if (weft__count_from(&x->value, 1) > INT64_C(1) << 34)
        return REFUSE(WEFT_E_SHAPE, "dropout", in, "more than 2^34 draws a sample") != NULL;
    return true;
}

static weft_var *compute(weft_var *x, weft_var *y, const char *name, double rate, kept *k)
{
    const weft_tensor *v = &x->value;

    k->scale = 1 / (1 - rate);
    k->keep = weft_tape_take(y->tape, v->count);
    if (k->keep == NULL)
        return NULL;
    draw(weft_tape_step(y->tape), rate, name, weft__by_first_axis(v), k->keep);
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
