/** @file io.h -- snapshots: named tensors and numbers in an HDF5 file.
 *
 * A snapshot is whole or absent: it is written beside its place, synced, read
 * back, and renamed. Any HDF5 program reads it. Paths inside are absolute,
 * "/updater/iteration"; groups are made as needed. Every dataset has a checksum,
 * its attribute weft_crc32 (zlib's crc32 of its bytes), compared whenever it is
 * read; one without is read too. Files are never locked.
 *
 * What a damaged file can do: one of Weft's fails with WEFT_E_FORMAT, as HDF5 checks
 * everything else in it. In the oldest of HDF5's formats, which h5py and so Chainer
 * write unless told otherwise, HDF5 1.10 may itself crash on damage.
 *
 * One thread at a time may use any of this, as HDF5 is usually built.
 */
#ifndef WEFT_IO_H
#define WEFT_IO_H

#include "weft/tensor.h"

WEFT_BEGIN

/* ---- the short way ------------------------------------------------------- */

/** Write every tensor of @p what to a file, at "/" and its name.
 * @return WEFT_E_IO, naming the file and what the system said: the file that was
 *         there before is then untouched. */
WEFT_API weft_status weft_save(const char *path, const weft_bundle *what);

/** Read every tensor of @p into, by name: present, of equal shape, converted to
 * its dtype. All are looked at before the first is changed.
 * @return WEFT_E_IO, WEFT_E_FORMAT naming file, path, what is there and what was
 *         wanted. */
WEFT_API weft_status weft_load(const char *path, const weft_bundle *into);

/* ---- piece by piece: writing --------------------------------------------- */

/** A snapshot being written. */
typedef struct weft_snapshot_writer weft_snapshot_writer;

/** Begin; owned, ended by commit or abandon. The file is @p path with
 * ".tmp" and this process's number behind it until it is whole.
 * @return NULL: WEFT_E_ARG without a name; WEFT_E_IO, naming the file and what the
 *         system said, if it can not be made or a folder has that name; WEFT_E_NOMEM. */
WEFT_API weft_snapshot_writer *weft_snapshot_begin(const char *path);

/** Put a tensor, borrowed for the call, where nothing is yet. @return WEFT_E_ARG if
 * something is there, for a path that is none or a tensor without data; WEFT_E_IO;
 * WEFT_E_NOMEM. After a failure commit refuses. */
WEFT_API weft_status weft_snapshot_put_tensor(weft_snapshot_writer *writer, const char *path,
                                              const weft_tensor *x);

/** Put one whole number, without axes, as int64. @return as above. */
WEFT_API weft_status weft_snapshot_put_int(weft_snapshot_writer *writer, const char *path,
                                           int64_t value);

/** Put one number, without axes, as float64. @return as above. */
WEFT_API weft_status weft_snapshot_put_real(weft_snapshot_writer *writer, const char *path,
                                            double value);

/** Put yes or no, without axes, as an enumeration FALSE, TRUE over int8, which h5py
 * reads as a bool. @return as above. */
WEFT_API weft_status weft_snapshot_put_bool(weft_snapshot_writer *writer, const char *path,
                                            bool value);

/** Text as an attribute @p name of the group @p path, which Chainer ignores.
 * @return WEFT_E_ARG without a name or a text; else as above. */
WEFT_API weft_status weft_snapshot_put_text(weft_snapshot_writer *writer, const char *path,
                                            const char *name, const char *text);

/** A group, also if nothing is in it or it is there already. @return as above. */
WEFT_API weft_status weft_snapshot_put_group(weft_snapshot_writer *writer, const char *path);

/** Close, sync, verify, rename. @p writer is taken; NULL passes its failure on.
 * @return WEFT_E_STATE if something could not be put; WEFT_E_IO: the old file is then
 *         untouched and the new one is gone. */
WEFT_API weft_status weft_snapshot_commit(weft_snapshot_writer *writer);

/** Remove what was written; taken. NULL is allowed. Keeps this thread's failure. */
WEFT_API void weft_snapshot_abandon(weft_snapshot_writer *writer);

/* ---- piece by piece: reading --------------------------------------------- */

/** A snapshot being read. */
typedef struct weft_snapshot weft_snapshot;

/** Open for reading; owned. @return NULL: WEFT_E_IO if it can not be opened,
 * WEFT_E_FORMAT if it is not a whole HDF5 file. */
WEFT_API weft_snapshot *weft_snapshot_open(const char *path);

/** Close. NULL is allowed. */
WEFT_API void weft_snapshot_close(weft_snapshot *snapshot);

/** Whether there is a dataset of numbers or a group at @p path. A null dataspace is
 * nothing. */
WEFT_API bool weft_snapshot_has(weft_snapshot *snapshot, const char *path);

/** Fail unless there is a dataset at @p path of the shape of @p like, whose elements
 * fit into its dtype and are those that were written. Reads them, changes nothing.
 * @return WEFT_E_FORMAT, naming file, path, what is there and what was wanted;
 *         WEFT_E_ARG for a path that is none; WEFT_E_IO; WEFT_E_NOMEM. */
WEFT_API weft_status weft_snapshot_check_tensor(weft_snapshot *snapshot, const char *path,
                                                const weft_tensor *like);

/** Read it into x: the shapes must be equal. An integer tensor takes integers only.
 * @return as above; after a damaged or misfitting element x holds nothing of use. */
WEFT_API weft_status weft_snapshot_get_tensor(weft_snapshot *snapshot, const char *path,
                                              weft_tensor *x);

/** A new tensor of the shape there, of the narrowest dtype that holds what is there
 * (a bool becomes u8); owned. @return NULL: as above. */
WEFT_API weft_tensor *weft_snapshot_read_tensor(weft_snapshot *snapshot, const char *path);

/** Read one whole number: a dataset with one element, of any integer type that fits.
 * @return as weft_snapshot_check_tensor(). */
WEFT_API weft_status weft_snapshot_get_int(weft_snapshot *snapshot, const char *path,
                                           int64_t *value);

/** Read one number, whole or not, as a double. @return as above. */
WEFT_API weft_status weft_snapshot_get_real(weft_snapshot *snapshot, const char *path,
                                            double *value);

/** Read yes or no: an enumeration or an integer that is 0 or 1. @return as above. */
WEFT_API weft_status weft_snapshot_get_bool(weft_snapshot *snapshot, const char *path, bool *value);

/** Text of attribute @p name of the group @p path; owned (weft_free). NULL:
 * WEFT_E_FORMAT if there is none. */
WEFT_API char *weft_snapshot_get_text(weft_snapshot *snapshot, const char *path, const char *name);

/** The version of the HDF5 library that is linked: "1.10.8"; borrowed for good. */
WEFT_API const char *weft_hdf5_version(void);

WEFT_END

#endif
