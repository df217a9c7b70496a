/* save.c -- a bundle to a file and back: each tensor at "/" and its name. */
#include "weft/io.h"

#include "base/text.h"

/* ---- write ---- */

static weft_status put(weft_snapshot_writer *writer, const char *name, const weft_tensor *x)
{
    char *const       path = weft__text_create("/%s", name);
    const weft_status done =
        path == NULL ? weft_error_status() : weft_snapshot_put_tensor(writer, path, x);
    weft_free(path);
    return done;
}

static weft_status put_all(weft_snapshot_writer *writer, const weft_bundle *what)
{
    for (int i = 0; i < what->n; i++)
        WEFT_TRY(put(writer, what->name[i], what->at[i]));
    return WEFT_OK;
}

weft_status weft_save(const char *path, const weft_bundle *what)
{
    weft_snapshot_writer *const writer = weft_snapshot_begin(path);

    if (writer == NULL || put_all(writer, what) == WEFT_OK)
        return weft_snapshot_commit(writer);
    weft_snapshot_abandon(writer);
    return weft_error_status();
}

/* ---- read ---- */

static weft_status check(weft_snapshot *snapshot, const char *path, weft_tensor *x)
{
    return weft_snapshot_check_tensor(snapshot, path, x);
}

typedef weft_status action(weft_snapshot *snapshot, const char *path, weft_tensor *x);

static weft_status with_path(weft_snapshot *snapshot, const char *name, weft_tensor *x, action *act)
{
    char *const       path = weft__text_create("/%s", name);
    const weft_status done = path == NULL ? weft_error_status() : act(snapshot, path, x);

    weft_free(path);
    return done;
}

static weft_status each(weft_snapshot *snapshot, const weft_bundle *into, action *act)
{
    for (int i = 0; i < into->n; i++)
        WEFT_TRY(with_path(snapshot, into->name[i], into->at[i], act));
    return WEFT_OK;
}

static weft_status load(weft_snapshot *snapshot, const weft_bundle *into)
{
    WEFT_TRY(each(snapshot, into, check));
    WEFT_TRY(each(snapshot, into, weft_snapshot_get_tensor));
    return WEFT_OK;
}

weft_status weft_load(const char *path, const weft_bundle *into)
{
    weft_snapshot    *snapshot = weft_snapshot_open(path);
    const weft_status done = snapshot == NULL ? weft_error_status() : load(snapshot, into);

    weft_snapshot_close(snapshot);
    return done;
}
