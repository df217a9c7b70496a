/* json_log.h -- a report's rows for programs to read: a JSON object a line. */
#ifndef WEFT__JSON_LOG_H
#define WEFT__JSON_LOG_H

#include "train/row.h"

typedef struct weft__json_log weft__json_log;

/* Open for adding rows. Those that are there and belong to iterations above
 * `resumed` are dropped, and so is a last line that was torn when a run ended; a new
 * run (0) begins with nothing. The file is replaced whole or stays. Owned. NULL:
 * WEFT_E_IO; WEFT_E_FORMAT, naming the line, for one that is no row. */
weft__json_log *weft__json_log_open(const char *path, int64_t resumed);

/* NULL is allowed. */
void weft__json_log_close(weft__json_log *log);

/* Add a row and flush it. Reals have 17 digits; what is no finite number is null. */
weft_status weft__json_log_add(weft__json_log *log, const weft__row *row);

#endif
