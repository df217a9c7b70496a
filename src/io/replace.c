/* replace.c -- write beside, sync, rename: a file is the old or the new, never half. */
#include "io/replace.h"

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void end(weft__replace *file)
{
    if (file->fd >= 0)
        close(file->fd);
    weft_free(file->beside);
    weft_free(file->path);
    *file = (weft__replace){ .fd = -1 };
}

static weft_status begin(weft__replace *file, const char *path)
{
    struct stat there;

    if (path == NULL || *path == '\0')
        return WEFT_FAIL(WEFT_E_ARG, "a file without a name");
    if (stat(path, &there) == 0 && S_ISDIR(there.st_mode))
        return WEFT_FAIL(WEFT_E_IO, "%s: %s", path, strerror(EISDIR));

    WEFT_TRY_NEW(file->path = weft_text_copy(path));
    WEFT_TRY_NEW(file->beside = weft__text_create("%s.tmp.%ld", path, (long)getpid()));
    file->fd = open(file->beside, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file->fd < 0)
        return WEFT_FAIL(WEFT_E_IO, "%s: can not be made: %s", file->beside, strerror(errno));
    return WEFT_OK;
}

weft_status weft__replace_begin(weft__replace *file, const char *path)
{
    *file = (weft__replace){ .fd = -1 };

    const weft_status done = begin(file, path);
    if (done != WEFT_OK)
        end(file);
    return done;
}

weft_status weft__replace_sync(const weft__replace *file)
{
    if (fsync(file->fd) != 0)
        return WEFT_FAIL(WEFT_E_IO, "%s: can not be synced: %s", file->beside, strerror(errno));
    return WEFT_OK;
}

/* So that the new name outlives a loss of power. Not every file system can sync a
 * folder, and the file has its place by now: what this gives is not looked at. */
static void sync_folder(const char *path)
{
    const char *const slash = strrchr(path, '/');
    const int         length = slash == path ? 1 : (int)(slash - path);
    char *const       name =
        slash == NULL ? weft_text_copy(".") : weft__text_create("%.*s", length, path);
    const int fd = name == NULL ? -1 : open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
    weft_free(name);
}

/* On file systems across a network close() is where a full disk is told. */
static weft_status take_place(weft__replace *file)
{
    const int closed = close(file->fd);

    file->fd = -1;
    if (closed != 0 && errno != EINTR)
        return WEFT_FAIL(WEFT_E_IO, "%s: can not be closed: %s", file->beside, strerror(errno));
    if (rename(file->beside, file->path) != 0)
        return WEFT_FAIL(WEFT_E_IO, "%s: can not be renamed to %s: %s", file->beside, file->path,
                         strerror(errno));
    sync_folder(file->path);
    return WEFT_OK;
}

weft_status weft__replace_commit(weft__replace *file)
{
    const weft_status done = take_place(file);

    if (done == WEFT_OK)
        end(file);
    else
        weft__replace_abandon(file);
    return done;
}

void weft__replace_abandon(weft__replace *file)
{
    if (file->beside != NULL)
        unlink(file->beside);
    end(file);
}
