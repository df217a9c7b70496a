/* byte_source.c -- the bytes of a file, raw or gzip.
 *
 * Raw bytes and unpacked ones go straight to where the caller wants them; only
 * packed ones pass through a window.
 */
#include "data/byte_source.h"
#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

enum {
    WINDOW = 1 << 18,       /* packed bytes read at a time */
    MOST_AT_ONCE = 1 << 30, /* unpacked bytes asked of zlib at a time: it counts with an unsigned */
    DEFLATE_RATIO = 1032,   /* no deflate stream unpacks to more (RFC 1951: 258 bytes in 2 bits) */
};

struct weft__source {
    FILE      *file;
    int64_t    file_bytes, offset;
    bool       packed, in_member; /* inside one of the gzip members that make up the file */
    z_stream   zlib;
    uint8_t   *window;
    char      *path;
    weft__text at; /* what weft__source_at() said last */
};

/* ---- open, close -------------------------------------------------------------- */

static weft_status open_file(weft__source *source)
{
    struct stat found;
    if (stat(source->path, &found) != 0)
        return WEFT_FAIL(WEFT_E_IO, "%s: %s", source->path, strerror(errno));
    if (!S_ISREG(found.st_mode)) /* to open a pipe might wait for ever */
        return WEFT_FAIL(WEFT_E_IO, "%s: not a file but a folder, pipe or device", source->path);
    source->file_bytes = found.st_size;
    source->file = fopen(source->path, "rb");
    if (source->file == NULL)
        return WEFT_FAIL(WEFT_E_IO, "%s: %s", source->path, strerror(errno));
    return WEFT_OK;
}

/* RFC 1952: a gzip member begins with 1f 8b. */
static weft_status look_for_gzip(weft__source *source)
{
    uint8_t begin[2] = { 0 };
    source->packed = fread(begin, 1, 2, source->file) == 2 && begin[0] == 0x1f && begin[1] == 0x8b;
    if (ferror(source->file) || fseek(source->file, 0, SEEK_SET) != 0)
        return WEFT_FAIL(WEFT_E_IO, "%s: %s", source->path, strerror(errno));
    if (!source->packed)
        return WEFT_OK;

    WEFT_TRY_NEW(source->window = weft_alloc(WINDOW));
    if (inflateInit2(&source->zlib, 16 + MAX_WBITS) != Z_OK) /* 16: gzip's header and checksum */
        return WEFT_FAIL(WEFT_E_NOMEM, "zlib's state for %s", source->path);
    source->in_member = true;
    return WEFT_OK;
}

static weft_status open_all(weft__source *source, const char *path)
{
    WEFT_TRY_NEW(source->path = weft_text_copy(path));
    WEFT_TRY(open_file(source));
    WEFT_TRY(look_for_gzip(source));
    return WEFT_OK;
}

weft__source *weft__source_open(const char *path)
{
    weft__source *source = weft_alloc_zeroed((int64_t)sizeof *source);
    if (source != NULL && open_all(source, path) != WEFT_OK) {
        weft__source_close(source);
        return NULL;
    }
    return source;
}

void weft__source_close(weft__source *source)
{
    if (source == NULL)
        return;
    inflateEnd(&source->zlib); /* harmless where it was not begun */
    if (source->file != NULL)
        fclose(source->file);
    weft_free(source->window);
    weft__text_end(&source->at);
    weft_free(source->path);
    weft_free(source);
}

/* ---- read --------------------------------------------------------------------- */

static weft_status read_file(weft__source *source, int64_t n, void *to, int64_t *got)
{
    *got = (int64_t)fread(to, 1, (size_t)n, source->file);
    if (ferror(source->file))
        return WEFT_FAIL(WEFT_E_IO, "%s: %s", source->path, strerror(errno));
    return WEFT_OK;
}

static weft_status fill_window(weft__source *source)
{
    int64_t got;
    if (source->zlib.avail_in > 0)
        return WEFT_OK;
    WEFT_TRY(read_file(source, WINDOW, source->window, &got));
    source->zlib.next_in = source->window;
    source->zlib.avail_in = (unsigned)got;
    return WEFT_OK;
}

/* Where zlib stands in the packed file. */
static int64_t packed_offset(const weft__source *source)
{
    return (int64_t)ftello(source->file) - (int64_t)source->zlib.avail_in;
}

/* Members may follow each other (RFC 1952, 2.2); nothing else may. */
static weft_status next_member(weft__source *source)
{
    if (*source->zlib.next_in != 0x1f)
        return WEFT_FAIL(WEFT_E_FORMAT,
                         "%s: the file should end here, but from byte %" PRId64
                         " of it on there is something behind the gzip stream",
                         weft__source_at(source, source->offset), packed_offset(source));
    source->in_member = inflateReset(&source->zlib) == Z_OK;
    return WEFT_OK;
}

static weft_status inflate_some(weft__source *source)
{
    const int64_t wanted = source->zlib.avail_out;
    const int     result = inflate(&source->zlib, Z_NO_FLUSH);

    source->offset += wanted - source->zlib.avail_out;
    source->in_member = result != Z_STREAM_END;
    if (result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR)
        return WEFT_OK;
    if (result == Z_MEM_ERROR)
        return WEFT_FAIL(WEFT_E_NOMEM, "zlib's state for %s", source->path);
    return WEFT_FAIL(WEFT_E_FORMAT,
                     "%s: the gzip stream is damaged at or before byte %" PRId64 " of the file: %s",
                     weft__source_at(source, source->offset), packed_offset(source),
                     source->zlib.msg != NULL ? source->zlib.msg : "it wants a dictionary");
}

/* One read from the window; *end where there is nothing left. */
static weft_status unpack_some(weft__source *source, bool *end)
{
    WEFT_TRY(fill_window(source));
    *end = source->zlib.avail_in == 0;
    if (*end && source->in_member)
        return WEFT_FAIL(WEFT_E_FORMAT,
                         "%s: the gzip stream breaks off at the end of the file, "
                         "byte %" PRId64,
                         weft__source_at(source, source->offset), packed_offset(source));
    if (*end)
        return WEFT_OK;
    if (!source->in_member)
        WEFT_TRY(next_member(source));
    return inflate_some(source);
}

static weft_status unpack(weft__source *source, int64_t n, uint8_t *to, int64_t *got)
{
    const int64_t begin = source->offset;
    bool          end = false;

    for (*got = 0; *got < n && !end; *got = source->offset - begin) {
        const int64_t left = n - *got;
        source->zlib.next_out = to + *got;
        source->zlib.avail_out = left < MOST_AT_ONCE ? (unsigned)left : MOST_AT_ONCE;
        WEFT_TRY(unpack_some(source, &end));
    }
    return WEFT_OK;
}

weft_status weft__source_read(weft__source *source, int64_t n, void *to, int64_t *got)
{
    if (source->packed)
        return unpack(source, n, to, got);
    WEFT_TRY(read_file(source, n, to, got));
    source->offset += *got;
    return WEFT_OK;
}

/* ---- ask ------------------------------------------------------------------------ */

int64_t weft__source_offset(const weft__source *source)
{
    return source->offset;
}

int64_t weft__source_most(const weft__source *source)
{
    if (!source->packed)
        return source->file_bytes;
    return source->file_bytes < INT64_MAX / DEFLATE_RATIO ? source->file_bytes * DEFLATE_RATIO
                                                          : INT64_MAX;
}

bool weft__source_packed(const weft__source *source)
{
    return source->packed;
}

const char *weft__source_at(weft__source *source, int64_t offset)
{
    weft__text_clear(&source->at);
    if (weft__text_add(&source->at, "%s, offset %" PRId64 "%s", source->path, offset,
                       source->packed ? " of the unpacked bytes" : "") != WEFT_OK)
        return source->path; /* no memory: the path must do */
    return source->at.bytes;
}
