/* pictures.h -- a data set of pictures in bytes, each with a label. */
#ifndef WEFT__PICTURES_H
#define WEFT__PICTURES_H

#include "weft/data.h"

/* "x" (pixels) in dtype, each byte / 255, and "t" () i32, the labels. The bytes are
 * taken (weft_free). Owned. NULL: WEFT_E_DTYPE if dtype is neither f32 nor f64. */
weft_dataset *weft__pictures_create(int64_t n, int64_t pixels, uint8_t *x, uint8_t *t,
                                    weft_dtype dtype);

#endif
