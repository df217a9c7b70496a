/* buffer.h -- the counted memory under tensors. */
#ifndef WEFT__BUFFER_H
#define WEFT__BUFFER_H

#include "weft/tensor.h"

/* Memory with one owner. NULL: WEFT_E_NOMEM. */
weft_buffer *weft__buffer_create(int64_t bytes);

/* Where it begins: aligned to WEFT_ALIGNMENT. */
void *weft__buffer_data(weft_buffer *buffer);

/* One owner more. @return buffer, which may be NULL. */
weft_buffer *weft__buffer_share(weft_buffer *buffer);

/* One owner less; it ends with the last. NULL is allowed. */
void weft__buffer_release(weft_buffer *buffer);

#endif
