/* idx.c -- IDX files: 00 00, a code for the type, the number of axes; an extent
 * of four bytes for each axis, big end first; then the elements, nothing else.
 *
 * A header is not believed before it is compared with the size of its file.
 */
#include "data/byte_source.h"
#include "data/idx.h"
#include "data/pictures.h"
#include "weft/data.h"

#include <inttypes.h>
#include <stdio.h>

enum { UNSIGNED_BYTES = 0x08, WORD = 4 };

static uint32_t big_endian(const uint8_t b[WORD])
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | (uint32_t)b[3];
}

/* "60000 x 28 x 28". */
typedef struct {
    char text[WEFT_MAX_AXES * 24];
} extents;

static extents say_extents(int axes, const int64_t *shape)
{
    extents say = { "" };
    for (int i = 0, at = 0; i < axes; i++)
        at += snprintf(say.text + at, sizeof say.text - (size_t)at, "%s%" PRId64,
                       i > 0 ? " x " : "", shape[i]);
    return say;
}

static weft_status read_word(weft__source *source, const char *what, uint32_t *word)
{
    uint8_t       bytes[WORD];
    int64_t       got;
    const int64_t begin = weft__source_offset(source);

    WEFT_TRY(weft__source_read(source, WORD, bytes, &got));
    if (got < WORD)
        return WEFT_FAIL(WEFT_E_FORMAT,
                         "%s: the data ends after %" PRId64 " of the 4 bytes of %s expected here",
                         weft__source_at(source, begin), got, what);
    *word = big_endian(bytes);
    return WEFT_OK;
}

static weft_status read_magic(weft__source *source, int axes)
{
    const uint32_t expected = UNSIGNED_BYTES << 8 | (uint32_t)axes;
    uint32_t       magic = 0;

    WEFT_TRY(read_word(source, "an IDX magic number", &magic));
    if (magic != expected)
        return WEFT_FAIL(WEFT_E_FORMAT,
                         "%s: magic number 0x%08" PRIx32 ", expected 0x%08" PRIx32
                         " (IDX, unsigned bytes, axes: %d)",
                         weft__source_at(source, 0), magic, expected, axes);
    return WEFT_OK;
}

static weft_status read_extent(weft__source *source, int axis, int64_t *extent)
{
    uint32_t word = 0;
    WEFT_TRY(read_word(source, "an extent", &word));
    if (word == 0)
        return WEFT_FAIL(WEFT_E_FORMAT, "%s: the extent of axis %d is 0, expected 1 or more",
                         weft__source_at(source, weft__source_offset(source) - WORD), axis);
    *extent = word;
    return WEFT_OK;
}

/* Elements declared, or *count = -1 where int64_t can not count them. */
static void count_elements(int axes, const int64_t *shape, int64_t *count)
{
    *count = 1;
    for (int i = 0; i < axes; i++)
        *count = *count < 0 || *count > INT64_MAX / shape[i] ? -1 : *count * shape[i];
}

/* Before memory is taken for what is declared. */
static weft_status check_size(weft__source *source, int axes, const int64_t *shape, int64_t count)
{
    const int64_t begin = weft__source_offset(source), most = weft__source_most(source);
    if (count >= 0 && count <= most - begin)
        return WEFT_OK;
    if (weft__source_packed(source))
        return WEFT_FAIL(WEFT_E_FORMAT,
                         "%s: %s bytes expected from here on, but the file can not unpack to more "
                         "than %" PRId64,
                         weft__source_at(source, begin), say_extents(axes, shape).text, most);
    return WEFT_FAIL(WEFT_E_FORMAT,
                     "%s: the data ends here, but from offset %" PRId64 " on %s bytes are expected",
                     weft__source_at(source, most), begin, say_extents(axes, shape).text);
}

static weft_status read_elements(weft__source *source, int64_t count, const weft__idx *idx)
{
    const int64_t begin = weft__source_offset(source);
    int64_t       got;
    uint8_t       behind;

    WEFT_TRY(weft__source_read(source, count, idx->bytes, &got));
    if (got < count)
        return WEFT_FAIL(WEFT_E_FORMAT,
                         "%s: the data ends here, but from offset %" PRId64 " on %" PRId64
                         " bytes are expected",
                         weft__source_at(source, begin + got), begin, count);
    WEFT_TRY(weft__source_read(source, 1, &behind, &got));
    if (got > 0)
        return WEFT_FAIL(WEFT_E_FORMAT,
                         "%s: the data should end here, after the %" PRId64
                         " bytes from offset %" PRId64 " on, but more follow",
                         weft__source_at(source, begin + count), count, begin);
    return WEFT_OK;
}

static weft_status read_all(weft__source *source, int axes, weft__idx *idx)
{
    int64_t count;

    WEFT_TRY(read_magic(source, axes));
    for (int i = 0; i < axes; i++)
        WEFT_TRY(read_extent(source, i, &idx->shape[i]));
    count_elements(axes, idx->shape, &count);
    WEFT_TRY(check_size(source, axes, idx->shape, count));
    WEFT_TRY_NEW(idx->bytes = weft_alloc(count));
    WEFT_TRY(read_elements(source, count, idx));
    return WEFT_OK;
}

weft_status weft__idx_read(const char *path, int axes, weft__idx *to)
{
    weft__source *source = weft__source_open(path);
    *to = (weft__idx){ .bytes = NULL };
    const weft_status done = source == NULL ? weft_error_status() : read_all(source, axes, to);
    weft__source_close(source);
    if (done != WEFT_OK) {
        weft_free(to->bytes);
        to->bytes = NULL;
    }
    return done;
}

/* ---- images and labels ------------------------------------------------------------ */

static weft_status read_pair(const char *images, const char *labels, weft__idx *x, weft__idx *t)
{
    WEFT_TRY(weft__idx_read(labels, 1, t)); /* the short one first: a wrong folder shows at once */
    WEFT_TRY(weft__idx_read(images, 3, x));
    if (x->shape[0] != t->shape[0])
        return WEFT_FAIL(WEFT_E_FORMAT,
                         "%s, offset 4: %" PRId64 " images, but %s, offset 4: %" PRId64 " labels",
                         images, x->shape[0], labels, t->shape[0]);
    return WEFT_OK;
}

/* Offsets are those in the format, behind the magic number and the extents before. */
static weft_status check_images(const char *path, const weft__idx *x, const weft__idx_form *form)
{
    if (x->shape[1] != form->rows || x->shape[2] != form->columns)
        return WEFT_FAIL(WEFT_E_FORMAT,
                         "%s, offset 8: images of %" PRId64 " x %" PRId64 ", expected %" PRId64
                         " x %" PRId64,
                         path, x->shape[1], x->shape[2], form->rows, form->columns);
    return WEFT_OK;
}

static weft_status check_labels(const char *path, const weft__idx *t, const weft__idx_form *form)
{
    for (int64_t i = 0; i < t->shape[0]; i++)
        if (t->bytes[i] >= form->classes)
            return WEFT_FAIL(WEFT_E_FORMAT,
                             "%s, offset %" PRId64 ": sample %" PRId64
                             " has label %d, expected 0 to %d",
                             path, 8 + i, i, t->bytes[i], form->classes - 1);
    return WEFT_OK;
}

static weft_status read_form(const char *images, const char *labels, const weft__idx_form *form,
                             weft__idx *x, weft__idx *t)
{
    WEFT_TRY(read_pair(images, labels, x, t));
    if (form == NULL)
        return WEFT_OK;
    WEFT_TRY(check_images(images, x, form));
    return check_labels(labels, t, form);
}

weft_dataset *weft_idx_open(const char *images, const char *labels, weft_dtype dtype)
{
    return weft__idx_open(images, labels, NULL, dtype);
}

weft_dataset *weft__idx_open(const char *images, const char *labels, const weft__idx_form *form,
                             weft_dtype dtype)
{
    weft__idx x = { .bytes = NULL }, t = { .bytes = NULL };

    if (read_form(images, labels, form, &x, &t) != WEFT_OK) {
        weft_free(x.bytes);
        weft_free(t.bytes);
        return NULL;
    }
    return weft__pictures_create(x.shape[0], x.shape[1] * x.shape[2], x.bytes, t.bytes, dtype);
}
