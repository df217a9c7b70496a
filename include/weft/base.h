/** @file base.h -- failures, log, memory, random numbers, time.
 *
 * Three sorts of function, told by what they return, here and everywhere:
 *
 * - **makers** return the thing, or NULL;
 * - **doers** return a ::weft_status;
 * - **askers** cannot fail and return the value.
 *
 * Four words for who ends a thing's life: **owned** (by the caller: end it with
 * `_destroy` or `_close`, which take NULL), **borrowed** (until the event
 * named), **taken** (it belongs to the callee from the call on, even if the
 * call fails) and **shared** (counted).
 *
 * Unless a function says **Collective**, it concerns the calling rank alone.
 */
#ifndef WEFT_BASE_H
#define WEFT_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define WEFT_BEGIN extern "C" {
#define WEFT_END }
#else
#define WEFT_BEGIN
#define WEFT_END
#endif

#if defined(__GNUC__)
#define WEFT_API __attribute__((visibility("default"))) /**< what the library exports */
#define WEFT_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define WEFT_API /**< what the library exports */
#define WEFT_PRINTF(text, first)
#endif

WEFT_BEGIN

/* ---- version ------------------------------------------------------------- */

#define WEFT_VERSION_MAJOR 0
#define WEFT_VERSION_MINOR 1
#define WEFT_VERSION_PATCH 0

/** The version of the library that is running: "0.1.0"; borrowed for good. */
WEFT_API const char *weft_version(void);

/* ---- failures ------------------------------------------------------------ */

/** Kinds of failure and their sentences. */
#define WEFT_STATUS_LIST(X)                                                                        \
    X(OK, "success")                                                                               \
    X(E_ARG, "an argument is out of range")                                                        \
    X(E_SHAPE, "shapes do not fit together")                                                       \
    X(E_DTYPE, "element types do not fit")                                                         \
    X(E_VALUE, "a value in the data is out of range")                                              \
    X(E_STATE, "called at the wrong time")                                                         \
    X(E_NOMEM, "out of memory")                                                                    \
    X(E_IO, "a file could not be read or written")                                                 \
    X(E_FORMAT, "a file does not hold what it should")                                             \
    X(E_PLAN, "the plan of the model is wrong")                                                    \
    X(E_COMM, "an MPI call failed")                                                                \
    X(E_TIMEOUT, "a wait passed its deadline")                                                     \
    X(E_PEER, "another rank failed")

typedef enum weft_status {
#define X(name, text) WEFT_##name,
    WEFT_STATUS_LIST(X)
#undef X
} weft_status;

/** The sentence of a kind of failure; borrowed for good. Never NULL. */
WEFT_API const char *weft_status_text(weft_status status);

/** Record a failure of this thread: its kind, where, and the numbers. Replaces
 * the failure before it and its trail. At most 1,000 bytes are kept, on one line.
 * The arguments may be the old message itself. @return @p kind. */
WEFT_API weft_status weft_error_set(weft_status kind, const char *where, const char *format, ...)
    WEFT_PRINTF(3, 4);

/** Add a step to the trail of this thread's failure; a full trail says so. If
 * @p status is not that failure's, one of this kind that names @p call replaces
 * it; WEFT_OK (a maker gave NULL and no reason) becomes WEFT_E_STATE.
 * @return the status that is now recorded. */
WEFT_API weft_status weft_error_trail(weft_status status, const char *where, const char *call);

/** The kind of this thread's last failure; WEFT_OK if there was none. */
WEFT_API weft_status weft_error_status(void);

/** One line: the kind's sentence, a colon, the numbers. "" if there was no
 * failure. Borrowed until this thread's next failure. */
WEFT_API const char *weft_error_message(void);

/** Several lines, one a step: where it happened and the calls it passed
 * through; "" if there was no failure. Borrowed until this thread's next failure. */
WEFT_API const char *weft_error_where(void);

/** Forget the last failure, after having handled it. */
WEFT_API void weft_error_clear(void);

#define WEFT_TEXT_(x) #x
#define WEFT_TEXT(x) WEFT_TEXT_(x)

/** This line of this file, as text. */
#define WEFT_HERE __FILE__ ":" WEFT_TEXT(__LINE__)

/** `return WEFT_FAIL(WEFT_E_SHAPE, "...")`: record what happened. */
#define WEFT_FAIL(kind, ...) weft_error_set((kind), WEFT_HERE, __VA_ARGS__)

/** The same for a maker, which returns NULL. */
#define WEFT_FAIL_NULL(kind, ...) (WEFT_FAIL(kind, __VA_ARGS__), NULL)

/** Do this or return its failure. The word TRY is the only hidden return. */
#define WEFT_TRY(call)                                                                             \
    do {                                                                                           \
        weft_status try_status_ = (call);                                                          \
        if (try_status_ != WEFT_OK)                                                                \
            return weft_error_trail(try_status_, WEFT_HERE, #call);                                \
    } while (0)

/** The same for a maker: `WEFT_TRY_NEW(x = weft_thing_create())`. */
#define WEFT_TRY_NEW(make)                                                                         \
    do {                                                                                           \
        if ((make) == NULL)                                                                        \
            return weft_error_trail(weft_error_status(), WEFT_HERE, #make);                        \
    } while (0)

/* ---- log ----------------------------------------------------------------- */

typedef enum weft_log_level {
    WEFT_LOG_ERROR,
    WEFT_LOG_WARN,
    WEFT_LOG_INFO,
    WEFT_LOG_DEBUG,
} weft_log_level;

/** Takes one line without its end. Called from the thread that logs. */
typedef void weft_log_handler(weft_log_level level, const char *line, void *context);

/** Send lines up to @p level to @p handler, for the whole process. The library
 * prints nothing by itself: before this call, and with NULL, lines are dropped.
 * Not thread-safe: call it while no other thread logs. */
WEFT_API void weft_log_to(weft_log_handler *handler, void *context, weft_log_level level);

/** Log one line; at most 1,000 bytes of it are kept, and ends of lines in it
 * become blanks. */
WEFT_API void weft_log(weft_log_level level, const char *format, ...) WEFT_PRINTF(2, 3);

/* ---- memory -------------------------------------------------------------- */

enum { WEFT_ALIGNMENT = 64 }; /**< bytes; of every block, so of every tensor Weft makes */

/** Where the memory of an arena comes from: so that gradients can lie in memory
 * that the ranks of a node share. */
typedef struct weft_allocator {
    /** @return a block aligned to WEFT_ALIGNMENT, or NULL with a failure recorded. */
    void *(*take)(void *context, int64_t bytes);
    void (*give)(void *context, void *block, int64_t bytes);
    void *context;
} weft_allocator;

/** A block aligned to WEFT_ALIGNMENT, not cleared; owned (weft_free).
 * @return NULL: WEFT_E_ARG if @p bytes is negative, WEFT_E_NOMEM with the size. */
WEFT_API void *weft_alloc(int64_t bytes);

/** The same, filled with zeros; owned. */
WEFT_API void *weft_alloc_zeroed(int64_t bytes);

/** A copy of a string; owned (weft_free). @return NULL: WEFT_E_NOMEM. */
WEFT_API char *weft_text_copy(const char *text);

/** End a block of weft_alloc(). NULL is allowed. */
WEFT_API void weft_free(void *block);

/** What weft_alloc() has given out in this process, all threads together. */
typedef struct weft_memory {
    int64_t blocks;      /**< alive now */
    int64_t bytes;       /**< in them */
    int64_t peak_bytes;  /**< the most at one time */
    int64_t allocations; /**< ever: does not move in a steady step */
} weft_memory;

/** The counts at this moment. Any thread may ask at any time. */
WEFT_API weft_memory weft_memory_now(void);

/* ---- random numbers ------------------------------------------------------ */

/** Philox 4x32-10: a counter and a key to 128 random bits, a pure function.
 * J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, Parallel random numbers:
 * as easy as 1, 2, 3, SC 2011. */
WEFT_API void weft_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

/** A stream of random numbers that any rank can enter at any place: the number
 * at @p index is a function of (seed, name, step, sample, index) alone. Plain
 * data: copy it freely. */
typedef struct weft_random {
    uint64_t key;    /**< of seed and name */
    uint64_t step;   /**< below 2^48 */
    uint64_t sample; /**< below 2^48 */
} weft_random;

/** The stream of this seed and name, at step 0, sample 0. */
WEFT_API weft_random weft_random_stream(uint64_t seed, const char *name);

/** Bits at @p index, below 2^34, of the stream. */
WEFT_API uint32_t weft_random_bits(const weft_random *stream, uint64_t index);

/** Uniform in [0, 1), a multiple of 2^-32. */
WEFT_API double weft_random_uniform(const weft_random *stream, uint64_t index);

/** Standard normal at @p index, below 2^33, by Box and Muller (Ann. Math. Stat. 29
 * (1958) 610), from the bits at 2 index and 2 index + 1. */
WEFT_API double weft_random_normal(const weft_random *stream, uint64_t index);

/** Write the numbers 0 .. n - 1 to @p order, shuffled by (seed, epoch) and
 * nothing else: Fisher and Yates' method, every order equally likely. Costs n
 * draws. */
WEFT_API void weft_random_order(uint64_t seed, int64_t epoch, int64_t n, int64_t *order);

/* ---- time ---------------------------------------------------------------- */

/** Seconds on a clock that only goes forward. */
WEFT_API double weft_seconds(void);

/* ---- processor ----------------------------------------------------------- */

/** The element-wise kernels in use: "baseline" or "avx2", chosen once by what
 * the processor can do when the library is loaded; borrowed for good. Both give the
 * same bits. Products of matrices are not among them: their library chooses for
 * itself, whatever is chosen here. */
WEFT_API const char *weft_kernels(void);

/** Choose them by name, before anything is computed; NULL: by the processor.
 * @return WEFT_E_ARG for a name that is not known or a processor without them. */
WEFT_API weft_status weft_kernels_choose(const char *name);

/** Use @p n threads in Weft's loops and products of matrices; 1 is the default, and
 * what less than 1 means; never taken from the environment or the affinity of the process.
 * What the program sets for OpenMP and BLAS stays its own. Element-wise results do
 * not depend on it; those of products may. Call it while nothing is computed. */
WEFT_API void weft_threads_set(int n);

/** The number of threads in use: what weft_threads_set() set, 1 before. */
WEFT_API int weft_threads(void);

WEFT_END

#endif
