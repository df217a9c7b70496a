/* h5.c -- HDF5 files: open, close, groups, and what HDF5 says when it fails. */
#include "io/h5_impl.h"

#include "weft/io.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

const char *weft_hdf5_version(void)
{
    static _Thread_local char text[32];
    unsigned                  major, minor, patch;

    H5get_libversion(&major, &minor, &patch);
    snprintf(text, sizeof text, "%u.%u.%u", major, minor, patch);
    return text;
}

/* ---- failures ---- */

/* The innermost of HDF5's complaints, the first one walking upward, says most. */
static herr_t innermost(unsigned depth, const H5E_error2_t *complaint, void *to)
{
    const char **const words = to;

    if (depth == 0)
        *words = complaint->desc;
    return 0;
}

static weft_status disk_failed(const weft__h5 *h5, const char *where)
{
    return weft_error_set(WEFT_E_IO, where, "%s: at byte %" PRIu64 ": %s", h5->name,
                          (uint64_t)h5->disk.failed_at, strerror(h5->disk.error));
}

weft_status weft__h5_failed(const weft__h5 *h5, const char *path, const char *where,
                            const char *call)
{
    const char *words = NULL;
    const int   name = (int)strcspn(call, "(");

    if (h5->disk.error != 0)
        return disk_failed(h5, where);
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, innermost, &words);
    return weft_error_set(h5->fresh ? WEFT_E_IO : WEFT_E_FORMAT, where, "%s: %s: %.*s failed: %s",
                          h5->name, path, name, call,
                          words != NULL ? words : "HDF5 does not say why");
}

/* ---- open and close ---- */

static weft_status create_file(weft__h5 *h5, hid_t creation, hid_t access)
{
    /* The format of HDF5 1.8: all that describes data has a checksum, and texts may
     * be of any length. Without times the same data are the same bytes. */
    TRY_H5(h5, "/", H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18));
    TRY_H5(h5, "/", H5Pset_obj_track_times(creation, 0));
    TRY_H5(h5, "/", weft__h5_disk_use(access, &h5->disk));
    TRY_H5_ID(h5, "/", h5->file, H5Fcreate(h5->name, H5F_ACC_TRUNC, creation, access));
    return WEFT_OK;
}

static weft_status open_file(weft__h5 *h5, hid_t access)
{
    TRY_H5(h5, "/", weft__h5_disk_use(access, &h5->disk));
    TRY_H5_ID(h5, "/", h5->file, H5Fopen(h5->name, H5F_ACC_RDONLY, access));
    return WEFT_OK;
}

static weft_status start(weft__h5 *h5)
{
    struct stat there;

    if (fstat(h5->disk.fd, &there) != 0)
        return WEFT_FAIL(WEFT_E_IO, "%s: %s", h5->name, strerror(errno));
    h5->disk.size = (haddr_t)there.st_size;

    const hid_t       access = H5Pcreate(H5P_FILE_ACCESS);
    const hid_t       creation = H5Pcreate(H5P_FILE_CREATE);
    const weft_status done = h5->fresh ? create_file(h5, creation, access) : open_file(h5, access);
    H5Pclose(creation);
    H5Pclose(access);
    return done;
}

/* If HDF5 can not let go of the file it comes back to it when the process ends: then
 * the memory stays its. */
static void release(weft__h5 *h5, bool closed)
{
    if (!closed)
        return;
    weft__h5_disk_end(&h5->disk);
    weft_free(h5);
}

static weft__h5 *make(int fd, const char *name, bool fresh)
{
    weft__h5 *h5 = weft_alloc_zeroed(sizeof *h5);
    if (h5 == NULL)
        return NULL;

    h5->disk.fd = fd;
    h5->name = name;
    h5->fresh = fresh;
    h5->file = H5I_INVALID_HID;
    if (start(h5) != WEFT_OK) {
        release(h5, true);
        return NULL;
    }
    return h5;
}

weft__h5 *weft__h5_create(int fd, const char *name)
{
    return make(fd, name, true);
}

weft__h5 *weft__h5_open(int fd, const char *name)
{
    return make(fd, name, false);
}

weft_status weft__h5_close(weft__h5 *h5)
{
    weft_status done = WEFT_OK;
    herr_t      closed;

    QUIETLY(closed = H5Fclose(h5->file))
    if (closed < 0)
        done = weft__h5_failed(h5, "/", WEFT_HERE, "H5Fclose()");
    else if (h5->disk.error != 0)
        done = disk_failed(h5, WEFT_HERE);
    release(h5, closed >= 0);
    return done;
}

void weft__h5_drop(weft__h5 *h5)
{
    herr_t closed;

    if (h5 == NULL)
        return;
    QUIETLY(closed = H5Fclose(h5->file))
    release(h5, closed >= 0);
}

/* ---- groups ---- */

static bool proper_part(const char *part, size_t length)
{
    return length > 0 && !(length == 1 && part[0] == '.');
}

weft_status weft__h5_check_path(const char *path)
{
    if (path == NULL || *path != '/')
        return WEFT_FAIL(WEFT_E_ARG, "a path that does not begin with '/': \"%s\"",
                         path == NULL ? "" : path);
    if (strcmp(path, "/") == 0)
        return WEFT_OK;
    for (const char *slash = path; slash != NULL; slash = strchr(slash + 1, '/'))
        if (!proper_part(slash + 1, strcspn(slash + 1, "/")))
            return WEFT_FAIL(WEFT_E_ARG, "a path with an empty part or a dot: \"%s\"", path);
    return WEFT_OK;
}

static weft_status make_group(weft__h5 *h5, const char *path, hid_t creation)
{
    hid_t group;

    TRY_H5(h5, path, H5Pset_obj_track_times(creation, 0));
    TRY_H5_ID(h5, path, group, H5Gcreate2(h5->file, path, H5P_DEFAULT, creation, H5P_DEFAULT));
    H5Gclose(group);
    return WEFT_OK;
}

static weft_status put_group(weft__h5 *h5, const char *path)
{
    htri_t there;
    hid_t  group;

    TRY_H5_ID(h5, path, there, H5Lexists(h5->file, path, H5P_DEFAULT));
    if (there > 0) {
        QUIETLY(group = H5Gopen2(h5->file, path, H5P_DEFAULT))
        if (group < 0)
            return WEFT_FAIL(WEFT_E_ARG, "%s: %s is no group", h5->name, path);
        H5Gclose(group);
        return WEFT_OK;
    }

    const hid_t       creation = H5Pcreate(H5P_GROUP_CREATE);
    const weft_status done = make_group(h5, path, creation);
    H5Pclose(creation);
    return done;
}

/* `path` is cut at each of its slashes in turn and mended. */
static weft_status put_groups_along(weft__h5 *h5, char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        WEFT_TRY(put_group(h5, path));
        *slash = '/';
    }
    return WEFT_OK;
}

weft_status weft__h5_put_groups_above(weft__h5 *h5, const char *path)
{
    char *const       copy = weft_text_copy(path);
    const weft_status done = copy == NULL ? weft_error_status() : put_groups_along(h5, copy);

    weft_free(copy);
    return done;
}

weft_status weft__h5_put_group(weft__h5 *h5, const char *path)
{
    if (strcmp(path, "/") == 0)
        return WEFT_OK;
    WEFT_TRY(weft__h5_put_groups_above(h5, path));
    return put_group(h5, path);
}

weft_status weft__h5_list(weft__h5 *h5, const char *path, int most, weft__text *names)
{
    H5G_info_t info;
    char       name[128];

    TRY_H5(h5, path, H5Gget_info_by_name(h5->file, path, &info, H5P_DEFAULT));
    for (hsize_t i = 0; i < info.nlinks && i < (hsize_t)most; i++) {
        ssize_t length;
        TRY_H5_ID(h5, path, length,
                  H5Lget_name_by_idx(h5->file, path, H5_INDEX_NAME, H5_ITER_INC, i, name,
                                     sizeof name, H5P_DEFAULT));
        WEFT_TRY(weft__text_add(names, "%s%s", i == 0 ? "" : ", ", name));
    }
    if (info.nlinks > (hsize_t)most)
        WEFT_TRY(
            weft__text_add(names, " and %" PRIu64 " more", (uint64_t)info.nlinks - (unsigned)most));
    return info.nlinks > 0 ? WEFT_OK : weft__text_add(names, "nothing");
}
