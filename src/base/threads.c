/* threads.c -- how many threads loops and products of matrices may use.
 *
 * A number, no more: loops read it in EACH_CHUNK, products in gemm.c. What the
 * program around sets for its own OpenMP regions stays as it is.
 */
#include "weft/base.h"

static int threads = 1;

void weft_threads_set(int n)
{
    threads = n > 1 ? n : 1;
}

int weft_threads(void)
{
    return threads;
}
