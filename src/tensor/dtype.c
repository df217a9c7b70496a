/* dtype.c -- types of elements: their words and sizes. */
#include "tensor/shape.h"

#include <string.h>

static const struct {
    const char *text;
    int64_t     bytes;
} type[] = {
    [WEFT_F32] = { "f32", 4 }, [WEFT_F64] = { "f64", 8 }, [WEFT_I32] = { "i32", 4 },
    [WEFT_I64] = { "i64", 8 }, [WEFT_U8] = { "u8", 1 },
};

enum { TYPES = sizeof type / sizeof *type };

bool weft__dtype_known(weft_dtype dtype)
{
    return (unsigned)dtype < TYPES;
}

int64_t weft_dtype_bytes(weft_dtype dtype)
{
    return weft__dtype_known(dtype) ? type[dtype].bytes : 0;
}

const char *weft_dtype_text(weft_dtype dtype)
{
    return weft__dtype_known(dtype) ? type[dtype].text : "of an unknown type";
}

bool weft_dtype_is_real(weft_dtype dtype)
{
    return dtype == WEFT_F32 || dtype == WEFT_F64;
}

weft_status weft_dtype_parse(const char *text, weft_dtype *dtype)
{
    for (int i = 0; i < TYPES; i++)
        if (strcmp(text, type[i].text) == 0) {
            *dtype = (weft_dtype)i;
            return WEFT_OK;
        }
    return WEFT_FAIL(WEFT_E_ARG, "element type \"%s\"; known are f32, f64, i32, i64, u8", text);
}
