/* bundle.c -- tensors by name. */
#include "weft/tensor.h"

#include <string.h>

weft_tensor *weft_bundle_find(const weft_bundle *bundle, const char *name)
{
    for (int i = 0; i < bundle->n; i++)
        if (strcmp(bundle->name[i], name) == 0)
            return bundle->at[i];
    return NULL;
}

int64_t weft_bundle_count(const weft_bundle *bundle)
{
    int64_t count = 0;
    for (int i = 0; i < bundle->n; i++)
        count += bundle->at[i]->count;
    return count;
}
