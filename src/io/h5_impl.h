/* h5_impl.h -- what the files h5*.c share. Nobody else includes hdf5.h. */
#ifndef WEFT__H5_IMPL_H
#define WEFT__H5_IMPL_H

#include "io/h5.h"

#include <hdf5.h>
#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

/* The file as HDF5's driver sees it, see h5_disk.c. */
typedef struct weft__h5_disk {
    H5FD_t  pub; /* HDF5's own part; first */
    hid_t   driver;
    int     fd;
    haddr_t used;      /* bytes that HDF5 has given addresses to */
    haddr_t size;      /* bytes in the file */
    int     error;     /* errno of the first read or write that failed; 0: none */
    haddr_t failed_at; /* byte of the file */
} weft__h5_disk;

struct weft__h5 {
    weft__h5_disk disk;
    const char   *name; /* of the file, for failures; borrowed */
    hid_t         file;
    bool          fresh; /* being written */
};

#define WEFT__H5_SUM "weft_crc32" /* attribute of a dataset: weft__h5_sum() */

/* Make a list of access properties use this disk. Negative: HDF5's failure. */
herr_t weft__h5_disk_use(hid_t access, weft__h5_disk *disk);

/* After the file is closed. */
void weft__h5_disk_end(weft__h5_disk *disk);

/* Call HDF5 without letting it print: QUIETLY(id = H5Dopen2(...)). */
#define QUIETLY(call)                                                                              \
    H5E_BEGIN_TRY                                                                                  \
    {                                                                                              \
        call;                                                                                      \
    }                                                                                              \
    H5E_END_TRY

/* Do this call of HDF5 or return its failure: TRY_H5(h5, path, H5Dread(...)). */
#define TRY_H5(h5, path, call)                                                                     \
    do {                                                                                           \
        herr_t try_code_;                                                                          \
        QUIETLY(try_code_ = (call))                                                                \
        if (try_code_ < 0)                                                                         \
            return weft__h5_failed((h5), (path), WEFT_HERE, #call);                                \
    } while (0)

/* The same for a call that opens something: the caller closes it. */
#define TRY_H5_ID(h5, path, id, call)                                                              \
    do {                                                                                           \
        QUIETLY((id) = (call))                                                                     \
        if ((id) < 0)                                                                              \
            return weft__h5_failed((h5), (path), WEFT_HERE, #call);                                \
    } while (0)

/* Record that HDF5 failed: WEFT_E_IO with the system's words if that is why; else
 * HDF5's innermost words, as WEFT_E_FORMAT for a file that is read. */
weft_status weft__h5_failed(const weft__h5 *h5, const char *path, const char *where,
                            const char *call);

/* Make the groups that @p path lies in. */
weft_status weft__h5_put_groups_above(weft__h5 *h5, const char *path);

#endif
