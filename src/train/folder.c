/* folder.c -- where a run's files go. */
#include "weft/train.h"

#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

char *weft_checkpoint_path(const char *folder, int64_t iteration)
{
    return weft__text_create("%s/snapshot_iter_%" PRId64 ".h5", folder, iteration);
}

/* Another process may make it at the same time. */
static weft_status make(const char *folder)
{
    struct stat there;

    if (mkdir(folder, 0777) == 0)
        return WEFT_OK;
    const int error = errno;
    if (stat(folder, &there) == 0 && S_ISDIR(there.st_mode))
        return WEFT_OK;
    return WEFT_FAIL(WEFT_E_IO, "%s: the folder can not be made: %s", folder, strerror(error));
}

/* `folder` is cut at each of its slashes in turn and mended. */
static weft_status make_all(char *folder)
{
    for (char *slash = strchr(folder + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        const weft_status done = make(folder);
        *slash = '/';
        WEFT_TRY(done);
    }
    return make(folder);
}

static weft_status create(const char *folder)
{
    if (folder == NULL || *folder == '\0')
        return WEFT_FAIL(WEFT_E_ARG, "a folder without a name");

    char *const       copy = weft_text_copy(folder);
    const weft_status done = copy == NULL ? weft_error_status() : make_all(copy);
    weft_free(copy);
    return done;
}

weft_status weft_folder_create(weft_comm *comm, const char *folder)
{
    if (comm == NULL)
        return create(folder);

    const weft_status mine = weft_comm_rank(comm) == 0 ? create(folder) : WEFT_OK;
    return weft_comm_agree(comm, mine, "folder");
}
