/* idx.h -- arrays of bytes in IDX files, the format of MNIST. */
#ifndef WEFT__IDX_H
#define WEFT__IDX_H

#include "weft/data.h"

typedef struct weft__idx {
    int64_t  shape[WEFT_MAX_AXES];
    uint8_t *bytes; /* owned (weft_free) */
} weft__idx;

/* Read all of a file that has this many axes, 1 .. WEFT_MAX_AXES. WEFT_E_IO,
 * WEFT_E_FORMAT; then nothing is owned. */
weft_status weft__idx_read(const char *path, int axes, weft__idx *to);

/* What images and labels must be like. */
typedef struct weft__idx_form {
    int64_t rows, columns; /* of an image */
    int     classes;       /* labels are 0 .. classes - 1 */
} weft__idx_form;

/* As weft_idx_open(), and WEFT_E_FORMAT where they have another form; NULL: any will do. */
weft_dataset *weft__idx_open(const char *images, const char *labels, const weft__idx_form *form,
                             weft_dtype dtype);

#endif
