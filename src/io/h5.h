/* h5.h -- what Weft needs of HDF5: groups, datasets and texts in a file.
 *
 * Mechanics only; what a snapshot holds and refuses is snapshot_*.c's. Paths are
 * absolute. Nothing here prints, locks, or lets HDF5 see a write that failed (see
 * h5_disk.c).
 */
#ifndef WEFT__H5_H
#define WEFT__H5_H

#include "weft/tensor.h"

#include "base/text.h"

/* A file that HDF5 has open. */
typedef struct weft__h5 weft__h5;

/* Begin an HDF5 file in an empty file, open for writing as @p fd; owned. fd and
 * name, which failures say, are borrowed until it is closed. */
weft__h5 *weft__h5_create(int fd, const char *name);

/* Open one for reading; owned. NULL: WEFT_E_FORMAT if it is not a whole HDF5 file. */
weft__h5 *weft__h5_open(int fd, const char *name);

/* Write what is left and end it; fd stays open. WEFT_E_IO with the system's words if
 * any write has failed since the beginning. */
weft_status weft__h5_close(weft__h5 *h5);

/* End it, whatever comes of what is left; keeps this thread's failure. NULL is
 * allowed. */
void weft__h5_drop(weft__h5 *h5);

/* WEFT_E_ARG unless @p path is "/" or "/a/b" without empty parts and dots. */
weft_status weft__h5_check_path(const char *path);

/* ---- groups ---- */

/* Make a group and those above it, as far as they are not there. */
weft_status weft__h5_put_group(weft__h5 *h5, const char *path);

/* Add the names in a group to a text, "W, b", at most @p most of them and then how
 * many more. */
weft_status weft__h5_list(weft__h5 *h5, const char *path, int most, weft__text *names);

/* ---- datasets ---- */

typedef enum weft__h5_kind {
    WEFT__H5_NOTHING,
    WEFT__H5_GROUP,
    WEFT__H5_NUMBERS, /* a dataset of integers, reals or bools */
    WEFT__H5_NULL,    /* a dataset without elements, of a null dataspace */
    WEFT__H5_OTHER,   /* a dataset of something else, a named type */
} weft__h5_kind;

/* What is at a path. */
typedef struct weft__h5_item {
    weft__h5_kind kind;
    weft_tensor   what;   /* of NUMBERS: the narrowest dtype of ours that holds them,
                             and the shape; no data. A bool is u8 */
    int64_t       stored; /* bytes that its elements take in the file */
    bool          summed; /* whether it has a checksum, ... */
    uint32_t      sum;    /* ... see weft__h5_sum(), of the elements as what.dtype */
} weft__h5_item;

/* Look, without reading elements. NOTHING is no failure; WEFT_E_FORMAT if the file
 * is damaged there or the dataset larger than a tensor can be. */
weft_status weft__h5_look(weft__h5 *h5, const char *path, weft__h5_item *item);

/* The checksum of x's elements: zlib's crc32 of their bytes. (Of the bytes in the
 * file, on a little-endian machine.) */
uint32_t weft__h5_sum(const weft_tensor *x);

/* Write a new dataset, little-endian, with the checksum @p sum. @p as_bool: x is u8, 0 or
 * 1, and becomes HDF5's usual bool, an enumeration FALSE, TRUE over int8. */
weft_status weft__h5_put(weft__h5 *h5, const char *path, const weft_tensor *x, bool as_bool,
                         uint32_t sum);

/* Read all elements of a dataset, as many as x has, converted to x's dtype.
 * WEFT_E_FORMAT for a number that the dtype can not hold. */
weft_status weft__h5_get(weft__h5 *h5, const char *path, weft_tensor *x);

/* ---- texts: attributes of groups ---- */

weft_status weft__h5_put_text(weft__h5 *h5, const char *group, const char *name, const char *text);

/* Owned (weft_free). NULL: WEFT_E_FORMAT if there is none. */
char *weft__h5_get_text(weft__h5 *h5, const char *group, const char *name);

#endif
