/* share.c -- a rank's part of n samples.
 *
 *     equal      [floor(n r / size), floor(n r / size) + ceil(n / size))
 *     unequal    floor(n / size) each, and one more for the first n mod size ranks
 */
#include "weft/data.h"

void weft_share(int64_t n, int rank, int size, bool equal, int64_t *begin, int64_t *end)
{
    *begin = *end = 0;
    if (size < 1) /* nobody to share with: nothing */
        return;

    const int64_t each = n / size, left = n % size;
    if (equal) {
        *begin = each * rank + left * rank / size; /* floor(n rank / size), with no large product */
        *end = *begin + each + (left > 0);
    } else {
        *begin = each * rank + (rank < left ? rank : left);
        *end = *begin + each + (rank < left);
    }
}
