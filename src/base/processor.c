/* processor.c -- which element-wise kernels run: chosen once, by the processor. */
#include "base/processor.h"

#include <string.h>

bool weft__use_avx2 = false;

static bool can_avx2(void)
{
#if WEFT__HAS_AVX2_KERNELS
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return false;
#endif
}

#if WEFT__HAS_AVX2_KERNELS
/* When the library is loaded, so that no kernel need ask whether it is done. */
__attribute__((constructor)) static void choose_at_load(void)
{
    weft__use_avx2 = can_avx2();
}
#endif

const char *weft_kernels(void)
{
    return weft__use_avx2 ? "avx2" : "baseline";
}

weft_status weft_kernels_choose(const char *name)
{
    if (name != NULL && strcmp(name, "baseline") != 0 && strcmp(name, "avx2") != 0)
        return WEFT_FAIL(WEFT_E_ARG, "kernels \"%s\"; known are baseline, avx2", name);
    if (name != NULL && strcmp(name, "avx2") == 0 && !can_avx2())
        return WEFT_FAIL(WEFT_E_ARG, "kernels \"avx2\" on a processor without AVX2 and FMA");

    weft__use_avx2 = can_avx2() && (name == NULL || strcmp(name, "avx2") == 0);
    return WEFT_OK;
}
