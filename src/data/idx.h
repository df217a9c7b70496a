/* idx.h -- arrays of bytes in IDX files, the format of MNIST. */
#ifndef WEFT__IDX_H
#define WEFT__IDX_H

#include "weft/tensor.h"

typedef struct weft__idx {
    int64_t  shape[WEFT_MAX_AXES];
    uint8_t *bytes; /* owned (weft_free) */
} weft__idx;

/* Read all of a file that has this many axes, 1 .. WEFT_MAX_AXES. WEFT_E_IO,
 * WEFT_E_FORMAT; then nothing is owned. */
weft_status weft__idx_read(const char *path, int axes, weft__idx *to);

#endif
