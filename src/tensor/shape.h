/* shape.h -- extents: checked, counted, said. */
#ifndef WEFT__SHAPE_H
#define WEFT__SHAPE_H

#include "weft/tensor.h"

bool weft__dtype_known(weft_dtype dtype);

/* Check what came from outside, and count: WEFT_E_ARG for a dtype, number of axes
 * or extent that can not be, or elements whose bytes do not fit in 63 bits. */
weft_status weft__shape_count(weft_dtype dtype, int ndim, const int64_t *shape, int64_t *count);

/* "(32, 784)", on the same terms as weft_shape_text(). */
const char *weft__extents_text(int ndim, const int64_t *shape);

#endif
