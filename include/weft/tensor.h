/** @file tensor.h -- dense arrays; arenas; bundles of named tensors.
 *
 * A tensor is dense, contiguous and row-major, so a kernel is a loop over its
 * elements and a message is a pointer and a count.
 */
#ifndef WEFT_TENSOR_H
#define WEFT_TENSOR_H

#include "weft/base.h"

WEFT_BEGIN

typedef enum weft_dtype { WEFT_F32, WEFT_F64, WEFT_I32, WEFT_I64, WEFT_U8 } weft_dtype;

WEFT_API int64_t     weft_dtype_bytes(weft_dtype dtype);   /**< of one element */
WEFT_API const char *weft_dtype_text(weft_dtype dtype);    /**< "f32"; borrowed for good */
WEFT_API bool        weft_dtype_is_real(weft_dtype dtype); /**< f32 or f64 */

/** "f32" -> WEFT_F32. @return WEFT_E_ARG, naming the words that are known. */
WEFT_API weft_status weft_dtype_parse(const char *text, weft_dtype *dtype);

enum { WEFT_MAX_AXES = 8 };

/** Memory shared by tensors, counted. */
typedef struct weft_buffer weft_buffer;

/** A dense array. Plain data: look into it freely. */
typedef struct weft_tensor {
    weft_dtype   dtype;
    int          ndim;                 /**< 0 (a scalar) .. WEFT_MAX_AXES */
    int64_t      shape[WEFT_MAX_AXES]; /**< extents, 0 or more, outermost first */
    int64_t      count;                /**< their product; 1 for a scalar */
    void        *data;                 /**< row-major; NULL: not in memory here */
    weft_buffer *buffer;               /**< keeps data alive; NULL: somebody else does */
} weft_tensor;

/** A new tensor, not cleared, aligned to WEFT_ALIGNMENT; owned.
 * @return NULL: WEFT_E_ARG for a wrong dtype, number of axes or extent, or a
 *         count that does not fit; WEFT_E_NOMEM. */
WEFT_API weft_tensor *weft_tensor_create(weft_dtype dtype, int ndim, const int64_t *shape);

/** A new tensor filled with zeros; owned. */
WEFT_API weft_tensor *weft_tensor_zeros(weft_dtype dtype, int ndim, const int64_t *shape);

/** Rows @p begin .. @p end - 1 of the first axis, sharing memory with @p x;
 * owned, and valid even after @p x has ended. If x's memory is not Weft's
 * (x->buffer is NULL) it must outlive the view.
 * @return NULL: WEFT_E_SHAPE for a scalar or rows that x does not have. */
WEFT_API weft_tensor *weft_tensor_slice(const weft_tensor *x, int64_t begin, int64_t end);

/** The same elements under another shape, sharing memory; owned. At most one
 * extent may be -1: what is left. @return NULL: WEFT_E_SHAPE. */
WEFT_API weft_tensor *weft_tensor_reshape(const weft_tensor *x, int ndim, const int64_t *shape);

/** A new tensor with x's elements; owned. @return NULL: as weft_tensor_convert(). */
WEFT_API weft_tensor *weft_tensor_copy(const weft_tensor *x);

/** A new tensor with x's elements converted, through double; owned. Cut toward 0
 * where @p dtype has no fractions; to the nearest that it holds where it has not
 * the range; not a number becomes 0. @return NULL: WEFT_E_STATE if x is not in
 * memory here; WEFT_E_ARG for a wrong dtype; WEFT_E_NOMEM. */
WEFT_API weft_tensor *weft_tensor_convert(const weft_tensor *x, weft_dtype dtype);

/** End a tensor; its memory goes with the last view of it. NULL is allowed. */
WEFT_API void weft_tensor_destroy(weft_tensor *x);

/** A description of the caller's own memory as a tensor: no copy, nothing to end.
 * @return by value; shapes are not checked. */
WEFT_API weft_tensor weft_tensor_wrap(weft_dtype dtype, int ndim, const int64_t *shape, void *data);

/** Bytes of its elements, whether or not they are in memory here. */
WEFT_API int64_t weft_tensor_bytes(const weft_tensor *x);

/** Whether both have the same axes and extents; their dtypes may differ. */
WEFT_API bool weft_tensor_same_shape(const weft_tensor *a, const weft_tensor *b);

/** Element @p index, in row-major order, as a double. */
WEFT_API double weft_tensor_get(const weft_tensor *x, int64_t index);

/** Set element @p index from a double, as weft_tensor_convert() does. */
WEFT_API void weft_tensor_set(weft_tensor *x, int64_t index, double value);

/** Set every element. */
WEFT_API void weft_tensor_fill(weft_tensor *x, double value);

/** "(32, 784) f32". Borrowed until the eighth next call on this thread, so that
 * one message can name several. */
WEFT_API const char *weft_shape_text(const weft_tensor *x);

/* ---- arenas -------------------------------------------------------------- */

/** Memory that is handed out piece by piece and taken back all at once. */
typedef struct weft_arena weft_arena;

/** An arena that grows; @p bytes is its first size, and @p from where its memory
 * comes from, NULL meaning weft_alloc(); owned.
 * If it had to grow, clearing it lets go of its blocks, and the next piece comes
 * from one as large as all that had been taken: from then on the same again takes
 * no new memory. Pieces taken one after another need not be neighbours.
 * @return NULL: WEFT_E_ARG if @p bytes is negative; what the allocator failed with. */
WEFT_API weft_arena *weft_arena_create(int64_t bytes, const weft_allocator *from);

/** A piece aligned to WEFT_ALIGNMENT, not cleared; borrowed until the arena is
 * cleared. Pieces of 0 bytes differ too. @return NULL: WEFT_E_ARG if @p bytes is
 * negative, WEFT_E_NOMEM. Cost: an addition. */
WEFT_API void *weft_arena_take(weft_arena *arena, int64_t bytes);

/** Take all pieces back. */
WEFT_API void weft_arena_clear(weft_arena *arena);

/** End it. NULL is allowed. */
WEFT_API void weft_arena_destroy(weft_arena *arena);

/** Bytes now handed out, each piece rounded up to WEFT_ALIGNMENT. */
WEFT_API int64_t weft_arena_used(const weft_arena *arena);

/** Bytes that it has from its allocator, handed out or not. */
WEFT_API int64_t weft_arena_held(const weft_arena *arena);

/* ---- bundles ------------------------------------------------------------- */

/** Tensors by name, in a fixed order: what can be saved, sent, averaged, counted.
 * Names are paths: "l1/W". Plain data; whoever gives one out says who owns it. */
typedef struct weft_bundle {
    int                 n;
    const char *const  *name;
    weft_tensor *const *at;
} weft_bundle;

/** The tensor of this name, borrowed. @return NULL if there is none: not a failure. */
WEFT_API weft_tensor *weft_bundle_find(const weft_bundle *bundle, const char *name);

/** Elements in all tensors. */
WEFT_API int64_t weft_bundle_count(const weft_bundle *bundle);

WEFT_END

#endif
