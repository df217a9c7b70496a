/* h5_disk.c -- how HDF5 reaches the disk: a driver over a descriptor of ours.
 *
 * HDF5's own drivers tell it about a write that failed, and HDF5 (1.10) can not
 * bear it: the file stays half open for ever and the process crashes when it ends.
 * So here a failed write is noted, and HDF5 is told that all went well; closing
 * the file says what really happened, in the system's words. Besides, no file is
 * ever locked: a snapshot is never written in place, and many a parallel file
 * system has no locks.
 */
#include "io/h5_impl.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static weft__h5_disk *disk_of(H5FD_t *file)
{
    return (weft__h5_disk *)file;
}

static const weft__h5_disk *disk_of_const(const H5FD_t *file)
{
    return (const weft__h5_disk *)file;
}

static void note(weft__h5_disk *disk, int error, haddr_t at)
{
    if (disk->error == 0) {
        disk->error = error;
        disk->failed_at = at;
    }
}

/* The descriptor is the caller's, so there is nothing to open or to close. */
static H5FD_t *open_disk(const char *name, unsigned flags, hid_t access, haddr_t most)
{
    const void *const given = H5Pget_driver_info(access);

    (void)name, (void)flags, (void)most;
    return given == NULL ? NULL : &(*(weft__h5_disk *const *)given)->pub;
}

static herr_t close_disk(H5FD_t *file)
{
    (void)file;
    return 0;
}

static herr_t features(const H5FD_t *file, unsigned long *flags)
{
    (void)file;
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
    return 0;
}

static haddr_t used(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return disk_of_const(file)->used;
}

static herr_t set_used(H5FD_t *file, H5FD_mem_t type, haddr_t end)
{
    (void)type;
    disk_of(file)->used = end;
    return 0;
}

static haddr_t size(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return disk_of_const(file)->size;
}

static bool out_of_range(haddr_t at, size_t bytes)
{
    return at > INT64_MAX || bytes > INT64_MAX - at;
}

/* Behind the end of the file there are zeros, as in HDF5's own drivers. */
static herr_t read_disk(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t bytes,
                        void *to)
{
    weft__h5_disk *const disk = disk_of(file);
    char                *next = to;

    (void)type, (void)transfer;
    if (out_of_range(at, bytes))
        return -1;
    while (bytes > 0) {
        const ssize_t n = pread(disk->fd, next, bytes, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            note(disk, errno, at);
            return -1;
        }
        if (n == 0) {
            memset(next, 0, bytes);
            break;
        }
        next += n;
        at += (haddr_t)n;
        bytes -= (size_t)n;
    }
    return 0;
}

static herr_t write_disk(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t bytes,
                         const void *from)
{
    weft__h5_disk *const disk = disk_of(file);
    const char          *next = from;

    (void)type, (void)transfer;
    if (out_of_range(at, bytes))
        return -1;
    if (at + bytes > disk->size)
        disk->size = at + bytes;
    while (bytes > 0 && disk->error == 0) {
        const ssize_t n = pwrite(disk->fd, next, bytes, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            note(disk, n < 0 ? errno : ENOSPC, at);
            break;
        }
        next += n;
        at += (haddr_t)n;
        bytes -= (size_t)n;
    }
    return 0;
}

static herr_t truncate_disk(H5FD_t *file, hid_t transfer, hbool_t closing)
{
    weft__h5_disk *const disk = disk_of(file);

    (void)transfer, (void)closing;
    if (disk->size != disk->used && disk->error == 0 && ftruncate(disk->fd, (off_t)disk->used) != 0)
        note(disk, errno, disk->used);
    disk->size = disk->used;
    return 0;
}

static const H5FD_class_t driver = {
#ifdef H5FD_CLASS_VERSION
    .version = H5FD_CLASS_VERSION,
    .value = 511, /* the last of those that HDF5 leaves to tests and experiments */
#endif
    .name = "weft",
    .maxaddr = INT64_MAX,
    .fc_degree = H5F_CLOSE_STRONG,
    .fapl_size = sizeof(weft__h5_disk *),
    .open = open_disk,
    .close = close_disk,
    .query = features,
    .get_eoa = used,
    .set_eoa = set_used,
    .get_eof = size,
    .read = read_disk,
    .write = write_disk,
    .truncate = truncate_disk,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

/* HDF5 lets go of a driver shortly before it makes its last call of it: so the
 * driver stays registered until the file is closed. */
herr_t weft__h5_disk_use(hid_t access, weft__h5_disk *disk)
{
    disk->driver = H5FDregister(&driver);
    return disk->driver < 0 ? -1 : H5Pset_driver(access, disk->driver, &disk);
}

void weft__h5_disk_end(weft__h5_disk *disk)
{
    if (disk->driver > 0)
        H5FDunregister(disk->driver);
}
