/* snapshot_writer.c -- a snapshot piece by piece, read back before it takes its place. */
#include "weft/io.h"

#include "io/h5.h"
#include "io/replace.h"

#include <stdio.h>
#include <string.h>

/* What was written, and is to be found again. */
typedef struct {
    char       *path;
    weft_tensor what; /* no data */
    uint32_t    sum;
} record;

struct weft_snapshot_writer {
    weft__replace file;
    weft__h5     *h5;
    weft_status   failed; /* the first piece that could not be put */
    int           n, room;
    record       *put;
};

/* ---- begin and end ---- */

static void end(weft_snapshot_writer *writer)
{
    for (int i = 0; i < writer->n; i++)
        weft_free(writer->put[i].path);
    weft_free(writer->put);
    weft_free(writer);
}

static weft_status begin(weft_snapshot_writer *writer, const char *path)
{
    WEFT_TRY(weft__replace_begin(&writer->file, path));
    writer->h5 = weft__h5_create(writer->file.fd, writer->file.beside);
    if (writer->h5 != NULL)
        return WEFT_OK;
    weft__replace_abandon(&writer->file);
    return weft_error_status();
}

weft_snapshot_writer *weft_snapshot_begin(const char *path)
{
    weft_snapshot_writer *writer = weft_alloc_zeroed(sizeof *writer);

    if (writer != NULL && begin(writer, path) != WEFT_OK) {
        end(writer);
        return NULL;
    }
    return writer;
}

void weft_snapshot_abandon(weft_snapshot_writer *writer)
{
    if (writer == NULL)
        return;
    weft__h5_drop(writer->h5);
    weft__replace_abandon(&writer->file);
    end(writer);
}

/* ---- put ---- */

static weft_status reserve(weft_snapshot_writer *writer)
{
    if (writer->n < writer->room)
        return WEFT_OK;

    const int room = writer->room > 0 ? 2 * writer->room : 32;
    record   *put;
    WEFT_TRY_NEW(put = weft_alloc(room * (int64_t)sizeof *put));
    if (writer->n > 0)
        memcpy(put, writer->put, (size_t)writer->n * sizeof *put);
    weft_free(writer->put);
    writer->put = put;
    writer->room = room;
    return WEFT_OK;
}

static weft_status remember(weft_snapshot_writer *writer, const char *path, const weft_tensor *x,
                            uint32_t sum)
{
    record *r;

    WEFT_TRY(reserve(writer));
    r = &writer->put[writer->n];
    WEFT_TRY_NEW(r->path = weft_text_copy(path));
    r->what = weft_tensor_wrap(x->dtype, x->ndim, x->shape, NULL);
    r->sum = sum;
    writer->n++;
    return WEFT_OK;
}

static weft_status put(weft_snapshot_writer *writer, const char *path, const weft_tensor *x,
                       bool as_bool)
{
    weft__h5_item there;

    WEFT_TRY(weft__h5_check_path(path));
    if (x == NULL || (x->data == NULL && x->count > 0))
        return WEFT_FAIL(WEFT_E_ARG, "%s: nothing in memory to put at %s", writer->file.path, path);
    WEFT_TRY(weft__h5_look(writer->h5, path, &there));
    if (there.kind != WEFT__H5_NOTHING)
        return WEFT_FAIL(WEFT_E_ARG, "%s: there is something at %s already", writer->file.path,
                         path);

    const uint32_t sum = weft__h5_sum(x);
    WEFT_TRY(weft__h5_put(writer->h5, path, x, as_bool, sum));
    WEFT_TRY(remember(writer, path, x, sum));
    return WEFT_OK;
}

static weft_status put_text(weft_snapshot_writer *writer, const char *path, const char *name,
                            const char *text)
{
    WEFT_TRY(weft__h5_check_path(path));
    if (name == NULL || *name == '\0' || text == NULL)
        return WEFT_FAIL(WEFT_E_ARG, "%s: a text of %s without name or words", writer->file.path,
                         path);
    return weft__h5_put_text(writer->h5, path, name, text);
}

static weft_status put_group(weft_snapshot_writer *writer, const char *path)
{
    WEFT_TRY(weft__h5_check_path(path));
    return weft__h5_put_group(writer->h5, path);
}

/* A snapshot with a piece missing never takes its place. */
static weft_status note(weft_snapshot_writer *writer, weft_status done)
{
    if (writer->failed == WEFT_OK)
        writer->failed = done;
    return done;
}

weft_status weft_snapshot_put_tensor(weft_snapshot_writer *writer, const char *path,
                                     const weft_tensor *x)
{
    return note(writer, put(writer, path, x, false));
}

weft_status weft_snapshot_put_int(weft_snapshot_writer *writer, const char *path, int64_t value)
{
    const weft_tensor x = weft_tensor_wrap(WEFT_I64, 0, NULL, &value);
    return weft_snapshot_put_tensor(writer, path, &x);
}

weft_status weft_snapshot_put_real(weft_snapshot_writer *writer, const char *path, double value)
{
    const weft_tensor x = weft_tensor_wrap(WEFT_F64, 0, NULL, &value);
    return weft_snapshot_put_tensor(writer, path, &x);
}

weft_status weft_snapshot_put_bool(weft_snapshot_writer *writer, const char *path, bool value)
{
    uint8_t           byte = value;
    const weft_tensor x = weft_tensor_wrap(WEFT_U8, 0, NULL, &byte);
    return note(writer, put(writer, path, &x, true));
}

weft_status weft_snapshot_put_text(weft_snapshot_writer *writer, const char *path, const char *name,
                                   const char *text)
{
    return note(writer, put_text(writer, path, name, text));
}

weft_status weft_snapshot_put_group(weft_snapshot_writer *writer, const char *path)
{
    return note(writer, put_group(writer, path));
}

/* ---- commit ---- */

static weft_status changed(const weft_snapshot_writer *writer, const record *r, const char *how)
{
    return WEFT_FAIL(WEFT_E_IO, "%s: %s, written as %s, %s when it is read back",
                     writer->file.beside, r->path, weft_shape_text(&r->what), how);
}

static weft_status compare_elements(const weft_snapshot_writer *writer, const record *r,
                                    weft__h5 *h5, weft_tensor *x)
{
    WEFT_TRY(weft__h5_get(h5, r->path, x));
    return weft__h5_sum(x) == r->sum ? WEFT_OK : changed(writer, r, "has other elements");
}

static weft_status compare(const weft_snapshot_writer *writer, const record *r, weft__h5 *h5)
{
    weft__h5_item there;
    weft_tensor  *x;

    WEFT_TRY(weft__h5_look(h5, r->path, &there));
    if (there.kind != WEFT__H5_NUMBERS || there.what.dtype != r->what.dtype ||
        !weft_tensor_same_shape(&there.what, &r->what) || there.sum != r->sum)
        return changed(writer, r, "is something else");
    WEFT_TRY_NEW(x = weft_tensor_create(r->what.dtype, r->what.ndim, r->what.shape));
    const weft_status done = compare_elements(writer, r, h5, x);
    weft_tensor_destroy(x);
    return done;
}

static weft_status compare_all(const weft_snapshot_writer *writer, weft__h5 *h5)
{
    for (int i = 0; i < writer->n; i++)
        WEFT_TRY(compare(writer, &writer->put[i], h5));
    return WEFT_OK;
}

static weft_status read_back(const weft_snapshot_writer *writer)
{
    weft__h5         *h5 = weft__h5_open(writer->file.fd, writer->file.beside);
    const weft_status done = h5 == NULL ? weft_error_status() : compare_all(writer, h5);

    weft__h5_drop(h5);
    return done;
}

static weft_status finish(weft_snapshot_writer *writer)
{
    weft__h5 *const h5 = writer->h5;

    if (writer->failed != WEFT_OK)
        return WEFT_FAIL(WEFT_E_STATE, "%s: not written, as a part of it could not be put (%s)",
                         writer->file.path, weft_status_text(writer->failed));
    writer->h5 = NULL;
    WEFT_TRY(weft__h5_close(h5));
    WEFT_TRY(weft__replace_sync(&writer->file));
    WEFT_TRY(read_back(writer));
    WEFT_TRY(weft__replace_commit(&writer->file));
    return WEFT_OK;
}

weft_status weft_snapshot_commit(weft_snapshot_writer *writer)
{
    if (writer == NULL)
        return weft_error_status();

    const weft_status done = finish(writer);
    weft_snapshot_abandon(writer); /* of a file in its place nothing is left to remove */
    return done;
}
