/* byte_source.h -- the bytes of a file, raw or gzip: told by what it begins with. */
#ifndef WEFT__BYTE_SOURCE_H
#define WEFT__BYTE_SOURCE_H

#include "weft/base.h"

typedef struct weft__source weft__source;

/* Owned. NULL: WEFT_E_IO for what is no regular file or can not be opened. */
weft__source *weft__source_open(const char *path);

/* NULL is allowed. */
void weft__source_close(weft__source *source);

/* Read n bytes, or up to the end of the data: *got says how many. At the end of a
 * gzip stream its length and checksum are compared. WEFT_E_IO; WEFT_E_FORMAT for a
 * stream that is damaged, breaks off, or has something behind it. */
weft_status weft__source_read(weft__source *source, int64_t n, void *to, int64_t *got);

/* Bytes read so far, unpacked. */
int64_t weft__source_offset(const weft__source *source);

/* The most bytes that can come out of the file: its size if it is raw. */
int64_t weft__source_most(const weft__source *source);

bool weft__source_packed(const weft__source *source);

/* "train.gz, offset 16 of the unpacked bytes": how messages begin. Borrowed until
 * the next call on this source. */
const char *weft__source_at(weft__source *source, int64_t offset);

#endif
