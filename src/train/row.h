/* row.h -- one row of a report. */
#ifndef WEFT__ROW_H
#define WEFT__ROW_H

#include "weft/train.h"

typedef struct weft__row {
    int64_t epoch, iteration;
    double  elapsed; /* seconds */
    int     columns;
    char   *name[WEFT_MAX_COLUMNS];
    double  value[WEFT_MAX_COLUMNS]; /* not a number where nothing was added */
    bool    given[WEFT_MAX_COLUMNS]; /* whether something was */
} weft__row;

#endif
