/* arena.c -- memory handed out piece by piece and taken back all at once.
 *
 * Pieces are cut from the newest block; when it is full a longer one comes. When
 * an arena of several blocks is cleared they go, and the next piece makes one as
 * large as all that was taken: so the same again needs no new memory.
 *
 * Under WEFT_PLAIN_ARENAS each piece is a block of its own and of its exact size,
 * so that sanitizers see what runs over. An arena with an allocator stays as it
 * is: what lies in one shared window must not be cut up.
 */
#include "weft/tensor.h"

#include <inttypes.h>

enum { LEAST_BLOCK = 1 << 16 };

typedef struct block {
    struct block *before;
    void         *memory;
    int64_t       bytes;
    int64_t       used;
} block;

struct weft_arena {
    weft_allocator from;
    bool           plain; /* a block a piece */
    block         *newest;
    int64_t        used, held;
    int64_t        want; /* bytes of the first block after a clear */
};

/* ---- where memory comes from ---------------------------------------------------- */

static void *take_plain(void *context, int64_t bytes)
{
    (void)context;
    return weft_alloc(bytes);
}

static void give_plain(void *context, void *memory, int64_t bytes)
{
    (void)context;
    (void)bytes;
    weft_free(memory);
}

static const weft_allocator plain_memory = { .take = take_plain, .give = give_plain };

/* ---- blocks ----------------------------------------------------------------------- */

static block *add_block(weft_arena *arena, int64_t bytes)
{
    block *b = weft_alloc(sizeof *b);
    if (b == NULL)
        return NULL;

    *b = (block){ .before = arena->newest, .bytes = bytes };
    b->memory = arena->from.take(arena->from.context, bytes);
    if (b->memory == NULL) {
        weft_free(b);
        return NULL;
    }
    arena->newest = b;
    arena->held += bytes;
    return b;
}

static void give_blocks(weft_arena *arena)
{
    while (arena->newest != NULL) {
        block *b = arena->newest;
        arena->newest = b->before;
        arena->from.give(arena->from.context, b->memory, b->bytes);
        weft_free(b);
    }
    arena->held = 0;
}

static int64_t longer(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The newest block, if need be a new one, with room for this many bytes. */
static block *block_with(weft_arena *arena, int64_t bytes)
{
    block *b = arena->newest;

    if (arena->plain)
        return add_block(arena, bytes);
    if (b != NULL && bytes <= b->bytes - b->used)
        return b;
    if (b == NULL)
        return add_block(arena, longer(bytes, longer(arena->want, LEAST_BLOCK)));
    return add_block(arena, longer(bytes, longer(arena->held / 2, LEAST_BLOCK)));
}

/* ---- arenas ------------------------------------------------------------------------ */

weft_arena *weft_arena_create(int64_t bytes, const weft_allocator *from)
{
    if (bytes < 0)
        return WEFT_FAIL_NULL(WEFT_E_ARG, "an arena of %" PRId64 " bytes", bytes);

    weft_arena *arena = weft_alloc(sizeof *arena);
    if (arena == NULL)
        return NULL;
    *arena = (weft_arena){
        .from = from != NULL ? *from : plain_memory,
        .plain = WEFT_PLAIN_ARENAS && from == NULL,
    };
    if (bytes > 0 && !arena->plain && add_block(arena, bytes) == NULL) {
        weft_arena_destroy(arena);
        return NULL;
    }
    return arena;
}

void *weft_arena_take(weft_arena *arena, int64_t bytes)
{
    if (bytes < 0 || bytes > INT64_MAX - WEFT_ALIGNMENT)
        return WEFT_FAIL_NULL(bytes < 0 ? WEFT_E_ARG : WEFT_E_NOMEM, "a piece of %" PRId64 " bytes",
                              bytes);

    /* Pieces of no bytes, too, have places of their own. */
    const int64_t whole = longer(bytes + WEFT_ALIGNMENT - 1, WEFT_ALIGNMENT) & -WEFT_ALIGNMENT;
    block        *b = block_with(arena, arena->plain ? bytes : whole);
    if (b == NULL)
        return NULL;

    void *piece = (char *)b->memory + b->used;
    b->used += whole;
    arena->used += whole;
    return piece;
}

void weft_arena_clear(weft_arena *arena)
{
    const bool several = arena->newest != NULL && arena->newest->before != NULL;

    if (several || arena->plain) {
        arena->want = arena->used;
        give_blocks(arena);
    } else if (arena->newest != NULL) {
        arena->newest->used = 0;
    }
    arena->used = 0;
}

void weft_arena_destroy(weft_arena *arena)
{
    if (arena == NULL)
        return;
    give_blocks(arena);
    weft_free(arena);
}

int64_t weft_arena_used(const weft_arena *arena)
{
    return arena->used;
}

int64_t weft_arena_held(const weft_arena *arena)
{
    return arena->held;
}
