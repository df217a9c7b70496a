/* empty_dataset.c -- samples without fields, for ranks that need no data but must
 * make the same steps. */
#include "weft/data.h"

static const weft_dataset_kind kind = { .name = "empty" }; /* no field, so nothing is read */

weft_dataset *weft_empty_dataset(int64_t length)
{
    return weft_dataset_create(&kind, NULL, length, 0, NULL);
}
