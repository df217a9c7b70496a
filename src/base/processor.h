/* processor.h -- which element-wise kernels run: chosen once, by the processor. */
#ifndef WEFT__PROCESSOR_H
#define WEFT__PROCESSOR_H

#include "weft/base.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define WEFT__HAS_AVX2_KERNELS 1
#else
#define WEFT__HAS_AVX2_KERNELS 0
#endif

/* Read by BY_REAL(); set by weft_kernels_choose(). */
extern bool weft__use_avx2;

#endif
