/* table.h -- a report's rows for a person to read. */
#ifndef WEFT__TABLE_H
#define WEFT__TABLE_H

#include "train/row.h"

/* Print the names of the columns, and a row. WEFT_E_IO. */
weft_status weft__table_head(FILE *to, const weft__row *row);
weft_status weft__table_row(FILE *to, const weft__row *row);

#endif
