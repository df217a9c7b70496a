/* buffer.c -- the counted memory under tensors: a count, then the elements. */
#include "tensor/buffer.h"

#include <inttypes.h>
#include <stdatomic.h>

struct weft_buffer {
    _Atomic int64_t owners; /* views may end on other threads */
    char            room[WEFT_ALIGNMENT - sizeof(int64_t)];
};

_Static_assert(sizeof(weft_buffer) == WEFT_ALIGNMENT, "the elements behind it are aligned");

weft_buffer *weft__buffer_create(int64_t bytes)
{
    if (bytes > INT64_MAX - (int64_t)sizeof(weft_buffer))
        return WEFT_FAIL_NULL(WEFT_E_NOMEM, "a tensor of %" PRId64 " bytes", bytes);

    weft_buffer *buffer = weft_alloc((int64_t)sizeof *buffer + bytes);
    if (buffer != NULL)
        atomic_init(&buffer->owners, 1);
    return buffer;
}

void *weft__buffer_data(weft_buffer *buffer)
{
    return buffer + 1;
}

weft_buffer *weft__buffer_share(weft_buffer *buffer)
{
    if (buffer != NULL)
        atomic_fetch_add(&buffer->owners, 1);
    return buffer;
}

void weft__buffer_release(weft_buffer *buffer)
{
    if (buffer != NULL && atomic_fetch_sub(&buffer->owners, 1) == 1)
        weft_free(buffer);
}
