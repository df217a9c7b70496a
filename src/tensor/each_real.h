/* each_real.h -- compile the file named by SELF once for every real type, and
 * for every set of instructions that kernels are built for.
 *
 * Inside it REAL is the element type, K(name) the function for that type and
 * set, and GEMM the matching product of matrices. Real lines of real code: a
 * debugger can stop in them and a compiler can point at them.
 *
 * All sets give the same bits: nothing here is compiled with contraction of
 * a * b + c or with reordered sums.
 *
 * No include guard, on purpose.
 */
#include "base/processor.h"
#include "tensor/chunks.h"
#include "tensor/gemm.h"

#define REAL float
#define GEMM weft__gemm_f32
#define K(name) name##_f32_baseline
#include SELF
#undef REAL
#undef GEMM
#undef K

#define REAL double
#define GEMM weft__gemm_f64
#define K(name) name##_f64_baseline
#include SELF
#undef REAL
#undef GEMM
#undef K

#if WEFT__HAS_AVX2_KERNELS

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif

#define REAL float
#define GEMM weft__gemm_f32
#define K(name) name##_f32_avx2
#include SELF
#undef REAL
#undef GEMM
#undef K

#define REAL double
#define GEMM weft__gemm_f64
#define K(name) name##_f64_avx2
#include SELF
#undef REAL
#undef GEMM
#undef K

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif

#ifndef BY_REAL

/* Call the kernel `name` for this dtype, f32 or f64, and this processor. Data
 * pointers are void *, so one list of arguments fits all. */
#if WEFT__HAS_AVX2_KERNELS
#define BY_REAL(dtype, name, ...)                                                                  \
    (weft__use_avx2                                                                                \
         ? ((dtype) == WEFT_F32 ? name##_f32_avx2(__VA_ARGS__) : name##_f64_avx2(__VA_ARGS__))     \
         : ((dtype) == WEFT_F32 ? name##_f32_baseline(__VA_ARGS__)                                 \
                                : name##_f64_baseline(__VA_ARGS__)))
#else
#define BY_REAL(dtype, name, ...)                                                                  \
    ((dtype) == WEFT_F32 ? name##_f32_baseline(__VA_ARGS__) : name##_f64_baseline(__VA_ARGS__))
#endif

#endif
