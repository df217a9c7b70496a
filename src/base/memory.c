/* memory.c -- aligned blocks, counted: a test can prove that none is left.
 *
 * The size of a block lies in front of it, in WEFT_ALIGNMENT bytes of its own.
 */
#include "weft/base.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef union header {
    int64_t bytes;
    char    room[WEFT_ALIGNMENT];
} header;

static struct {
    _Atomic int64_t blocks, bytes, peak_bytes, allocations;
} count;

static void count_taken(int64_t bytes)
{
    const int64_t now = atomic_fetch_add(&count.bytes, bytes) + bytes;
    int64_t       peak = atomic_load(&count.peak_bytes);

    atomic_fetch_add(&count.blocks, 1);
    atomic_fetch_add(&count.allocations, 1);
    while (now > peak && !atomic_compare_exchange_weak(&count.peak_bytes, &peak, now)) {
    }
}

void *weft_alloc(int64_t bytes)
{
    void *block = NULL;

    if (bytes < 0)
        return WEFT_FAIL_NULL(WEFT_E_ARG, "a block of %" PRId64 " bytes", bytes);
    if (bytes > PTRDIFF_MAX - (int64_t)sizeof(header) ||
        posix_memalign(&block, WEFT_ALIGNMENT, sizeof(header) + (size_t)bytes) != 0)
        return WEFT_FAIL_NULL(WEFT_E_NOMEM, "a block of %" PRId64 " bytes, besides %" PRId64, bytes,
                              atomic_load(&count.bytes));

    header *h = block;
    h->bytes = bytes;
    count_taken(bytes);
    return h + 1;
}

void *weft_alloc_zeroed(int64_t bytes)
{
    void *block = weft_alloc(bytes);
    if (block != NULL)
        memset(block, 0, (size_t)bytes);
    return block;
}

char *weft_text_copy(const char *text)
{
    const size_t bytes = strlen(text) + 1;
    char        *copy = weft_alloc((int64_t)bytes);
    if (copy != NULL)
        memcpy(copy, text, bytes);
    return copy;
}

void weft_free(void *block)
{
    if (block == NULL)
        return;
    header *h = (header *)block - 1;
    atomic_fetch_sub(&count.blocks, 1);
    atomic_fetch_sub(&count.bytes, h->bytes);
    free(h);
}

weft_memory weft_memory_now(void)
{
    return (weft_memory){
        .blocks = atomic_load(&count.blocks),
        .bytes = atomic_load(&count.bytes),
        .peak_bytes = atomic_load(&count.peak_bytes),
        .allocations = atomic_load(&count.allocations),
    };
}
