/* snapshot_reader.c -- what is in a snapshot, strictly: shapes are equal, numbers fit,
 * checksums match, or a failure says what is there and what was wanted. */
#include "weft/io.h"

#include "io/h5.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MOST_NAMES = 12,    /* of what is there, in a failure */
    MOST_DEFLATE = 1032 /* times a block of zeros gets smaller by deflate, at best */
};

struct weft_snapshot {
    char     *path;
    int       fd;
    int64_t   bytes; /* of the file */
    weft__h5 *h5;
};

/* ---- open and close ---- */

void weft_snapshot_close(weft_snapshot *snapshot)
{
    if (snapshot == NULL)
        return;
    weft__h5_drop(snapshot->h5);
    if (snapshot->fd >= 0)
        close(snapshot->fd);
    weft_free(snapshot->path);
    weft_free(snapshot);
}

/* Not to wait for a writer if the path is a pipe's: O_NONBLOCK. */
static weft_status open_file(weft_snapshot *snapshot)
{
    const char *const path = snapshot->path;
    struct stat       there;

    snapshot->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (snapshot->fd < 0 || fstat(snapshot->fd, &there) != 0)
        return WEFT_FAIL(WEFT_E_IO, "%s: can not be opened: %s", path, strerror(errno));
    if (!S_ISREG(there.st_mode))
        return WEFT_FAIL(WEFT_E_IO, "%s: can not be opened: %s", path,
                         S_ISDIR(there.st_mode) ? strerror(EISDIR) : "not a regular file");
    if (there.st_size == 0)
        return WEFT_FAIL(WEFT_E_FORMAT, "%s: an empty file, wanted a snapshot", path);
    snapshot->bytes = there.st_size;
    return WEFT_OK;
}

static weft_status open_snapshot(weft_snapshot *snapshot, const char *path)
{
    snapshot->fd = -1;
    if (path == NULL)
        return WEFT_FAIL(WEFT_E_ARG, "a snapshot without a name");
    WEFT_TRY_NEW(snapshot->path = weft_text_copy(path));
    WEFT_TRY(open_file(snapshot));
    WEFT_TRY_NEW(snapshot->h5 = weft__h5_open(snapshot->fd, snapshot->path));
    return WEFT_OK;
}

weft_snapshot *weft_snapshot_open(const char *path)
{
    weft_snapshot *snapshot = weft_alloc_zeroed(sizeof *snapshot);

    if (snapshot != NULL && open_snapshot(snapshot, path) != WEFT_OK) {
        weft_snapshot_close(snapshot);
        return NULL;
    }
    return snapshot;
}

/* ---- what is not there ---- */

static bool is_group(weft_snapshot *snapshot, const char *path)
{
    weft__h5_item item = { .kind = WEFT__H5_NOTHING };
    return weft__h5_look(snapshot->h5, path, &item) == WEFT_OK && item.kind == WEFT__H5_GROUP;
}

/* Cut the path back to the deepest group that exists. */
static void cut_to_group(weft_snapshot *snapshot, char *path)
{
    for (char *slash = strrchr(path, '/'); slash != NULL && slash != path;
         slash = strrchr(path, '/')) {
        *slash = '\0';
        if (is_group(snapshot, path))
            return;
    }
    path[1] = '\0';
}

static weft_status say_missing(weft_snapshot *snapshot, const char *path, char *group,
                               weft__text *names)
{
    cut_to_group(snapshot, group);
    WEFT_TRY(weft__h5_list(snapshot->h5, group, MOST_NAMES, names));
    return WEFT_FAIL(WEFT_E_FORMAT, "%s: there is no %s; the group %s has %s", snapshot->path, path,
                     group, names->bytes);
}

static weft_status missing(weft_snapshot *snapshot, const char *path)
{
    weft__text        names = { 0 };
    char *const       group = weft_text_copy(path);
    const weft_status done =
        group == NULL ? weft_error_status() : say_missing(snapshot, path, group, &names);
    weft__text_end(&names);
    weft_free(group);
    return done;
}

/* ---- what is there ---- */

/* Look for a dataset of numbers; `wanted` says what for in a failure. */
static weft_status find(weft_snapshot *snapshot, const char *path, const char *wanted,
                        weft__h5_item *item)
{
    WEFT_TRY(weft__h5_check_path(path));
    WEFT_TRY(weft__h5_look(snapshot->h5, path, item));
    switch (item->kind) {
    case WEFT__H5_NUMBERS:
        return WEFT_OK;
    case WEFT__H5_NOTHING:
        return missing(snapshot, path);
    case WEFT__H5_GROUP:
        return WEFT_FAIL(WEFT_E_FORMAT, "%s: %s is a group, wanted %s", snapshot->path, path,
                         wanted);
    case WEFT__H5_NULL:
        return WEFT_FAIL(WEFT_E_FORMAT, "%s: %s holds nothing (a null dataspace), wanted %s",
                         snapshot->path, path, wanted);
    case WEFT__H5_OTHER:
        break;
    }
    return WEFT_FAIL(WEFT_E_FORMAT, "%s: %s holds no numbers, wanted %s", snapshot->path, path,
                     wanted);
}

/* Refuse a dataset that claims more elements than its bytes in the file can be
 * unpacked to, before memory is taken for them. */
static weft_status check_stored(const weft_snapshot *snapshot, const char *path,
                                const weft__h5_item *item)
{
    const int64_t stored = item->stored < snapshot->bytes ? item->stored : snapshot->bytes;

    if (item->what.count / MOST_DEFLATE > stored || (item->what.count > 0 && item->stored <= 0))
        return WEFT_FAIL(WEFT_E_FORMAT,
                         "%s: %s claims to be %s, but has %" PRId64 " bytes in the "
                         "file",
                         snapshot->path, path, weft_shape_text(&item->what), item->stored);
    return WEFT_OK;
}

static bool converts(weft_dtype from, weft_dtype to)
{
    return weft_dtype_is_real(to) || !weft_dtype_is_real(from);
}

static weft_status find_like(weft_snapshot *snapshot, const char *path, const weft_tensor *like,
                             weft__h5_item *item)
{
    const weft_tensor *what = &item->what;

    WEFT_TRY(find(snapshot, path, weft_shape_text(like), item));
    if (!weft_tensor_same_shape(what, like) || !converts(what->dtype, like->dtype))
        return WEFT_FAIL(WEFT_E_FORMAT, "%s: %s is %s, wanted %s", snapshot->path, path,
                         weft_shape_text(what), weft_shape_text(like));
    return check_stored(snapshot, path, item);
}

/* ---- elements ---- */

static weft_status compare_sum(const weft_snapshot *snapshot, const char *path,
                               const weft__h5_item *item, const weft_tensor *x)
{
    const uint32_t sum = weft__h5_sum(x);

    if (sum != item->sum)
        return WEFT_FAIL(WEFT_E_FORMAT,
                         "%s: %s is damaged: its checksum is %08" PRIx32 ", but was %08" PRIx32
                         " when it was written",
                         snapshot->path, path, sum, item->sum);
    return WEFT_OK;
}

/* Elements as they are in the file, only to compare their checksum. */
static weft_status check_sum(weft_snapshot *snapshot, const char *path, const weft__h5_item *item)
{
    weft_tensor *x = weft_tensor_create(item->what.dtype, item->what.ndim, item->what.shape);
    weft_status  done = x == NULL ? weft_error_status() : weft__h5_get(snapshot->h5, path, x);

    if (done == WEFT_OK)
        done = compare_sum(snapshot, path, item, x);
    weft_tensor_destroy(x);
    return done;
}

static weft_status fetch(weft_snapshot *snapshot, const char *path, const weft__h5_item *item,
                         weft_tensor *x)
{
    WEFT_TRY(weft__h5_get(snapshot->h5, path, x));
    if (!item->summed)
        return WEFT_OK;
    return x->dtype == item->what.dtype ? compare_sum(snapshot, path, item, x)
                                        : check_sum(snapshot, path, item);
}

static weft_tensor *fetch_new(weft_snapshot *snapshot, const char *path, const weft__h5_item *item,
                              weft_dtype dtype)
{
    weft_tensor *x = weft_tensor_create(dtype, item->what.ndim, item->what.shape);

    if (x != NULL && fetch(snapshot, path, item, x) != WEFT_OK) {
        weft_tensor_destroy(x);
        return NULL;
    }
    return x;
}

/* ---- tensors ---- */

bool weft_snapshot_has(weft_snapshot *snapshot, const char *path)
{
    weft__h5_item item = { .kind = WEFT__H5_NOTHING };

    return weft__h5_check_path(path) == WEFT_OK &&
           weft__h5_look(snapshot->h5, path, &item) == WEFT_OK &&
           (item.kind == WEFT__H5_NUMBERS || item.kind == WEFT__H5_GROUP);
}

weft_status weft_snapshot_check_tensor(weft_snapshot *snapshot, const char *path,
                                       const weft_tensor *like)
{
    weft__h5_item item = { .kind = WEFT__H5_NOTHING };
    weft_tensor  *x;

    WEFT_TRY(find_like(snapshot, path, like, &item));
    WEFT_TRY_NEW(x = fetch_new(snapshot, path, &item, like->dtype));
    weft_tensor_destroy(x);
    return WEFT_OK;
}

weft_status weft_snapshot_get_tensor(weft_snapshot *snapshot, const char *path, weft_tensor *x)
{
    weft__h5_item item = { .kind = WEFT__H5_NOTHING };

    WEFT_TRY(find_like(snapshot, path, x, &item));
    return fetch(snapshot, path, &item, x);
}

static weft_status find_any(weft_snapshot *snapshot, const char *path, weft__h5_item *item)
{
    WEFT_TRY(find(snapshot, path, "a tensor", item));
    return check_stored(snapshot, path, item);
}

weft_tensor *weft_snapshot_read_tensor(weft_snapshot *snapshot, const char *path)
{
    weft__h5_item item = { .kind = WEFT__H5_NOTHING };

    if (find_any(snapshot, path, &item) != WEFT_OK)
        return NULL;
    return fetch_new(snapshot, path, &item, item.what.dtype);
}

/* ---- single values, also of shape (1), (1, 1), ... ---- */

static weft_status get_one(weft_snapshot *snapshot, const char *path, const char *wanted,
                           weft_dtype dtype, void *value)
{
    weft__h5_item      item = { .kind = WEFT__H5_NOTHING };
    const weft_tensor *what = &item.what;

    WEFT_TRY(find(snapshot, path, wanted, &item));
    if (what->count != 1 || !converts(what->dtype, dtype))
        return WEFT_FAIL(WEFT_E_FORMAT, "%s: %s is %s, wanted %s", snapshot->path, path,
                         weft_shape_text(what), wanted);
    WEFT_TRY(check_stored(snapshot, path, &item));

    weft_tensor x = weft_tensor_wrap(dtype, what->ndim, what->shape, value);
    return fetch(snapshot, path, &item, &x);
}

weft_status weft_snapshot_get_int(weft_snapshot *snapshot, const char *path, int64_t *value)
{
    return get_one(snapshot, path, "one integer", WEFT_I64, value);
}

weft_status weft_snapshot_get_real(weft_snapshot *snapshot, const char *path, double *value)
{
    return get_one(snapshot, path, "one number", WEFT_F64, value);
}

weft_status weft_snapshot_get_bool(weft_snapshot *snapshot, const char *path, bool *value)
{
    int64_t number = 0;

    WEFT_TRY(get_one(snapshot, path, "a bool", WEFT_I64, &number));
    if (number != 0 && number != 1)
        return WEFT_FAIL(WEFT_E_FORMAT, "%s: %s is %" PRId64 ", wanted a bool", snapshot->path,
                         path, number);
    *value = number == 1;
    return WEFT_OK;
}

/* ---- texts ---- */

static weft_status find_group(weft_snapshot *snapshot, const char *path)
{
    weft__h5_item item = { .kind = WEFT__H5_NOTHING };

    WEFT_TRY(weft__h5_check_path(path));
    WEFT_TRY(weft__h5_look(snapshot->h5, path, &item));
    if (item.kind == WEFT__H5_NOTHING)
        return missing(snapshot, path);
    if (item.kind != WEFT__H5_GROUP)
        return WEFT_FAIL(WEFT_E_FORMAT, "%s: %s is no group", snapshot->path, path);
    return WEFT_OK;
}

char *weft_snapshot_get_text(weft_snapshot *snapshot, const char *path, const char *name)
{
    return find_group(snapshot, path) == WEFT_OK ? weft__h5_get_text(snapshot->h5, path, name)
                                                 : NULL;
}
