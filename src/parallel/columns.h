/* columns.h -- a table that aligns itself: cells end with a tab or the line. */
#ifndef WEFT__COLUMNS_H
#define WEFT__COLUMNS_H

#include "weft/base.h"

#include <stdio.h>

/* Write the lines of `cells` with every column as wide as its widest cell; cells of
 * digits and commas stand to the right. WEFT_E_IO. */
weft_status weft__columns_write(const char *cells, FILE *to);

#endif
