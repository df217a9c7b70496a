/* version.c -- which library this is. */
#include "weft/base.h"

const char *weft_version(void)
{
    return WEFT_TEXT(WEFT_VERSION_MAJOR) "." WEFT_TEXT(WEFT_VERSION_MINOR) "." WEFT_TEXT(
        WEFT_VERSION_PATCH);
}
