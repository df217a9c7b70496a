/* text.h -- strings that grow, and lines that were cut.
 *
 *     weft__text path = { 0 };
 *     WEFT_TRY(weft__text_add(&path, "%s/%s", folder, name));
 *     ...
 *     weft__text_end(&path);
 */
#ifndef WEFT__TEXT_H
#define WEFT__TEXT_H

#include "weft/base.h"

/* Starts as { 0 }. bytes is NULL until something is added, then ends with a 0. */
typedef struct weft__text {
    char   *bytes;
    int64_t length; /* without the 0 */
    int64_t room;
} weft__text;

/* Add to the end, as printf does. On WEFT_E_NOMEM the text stays as it was. */
weft_status weft__text_add(weft__text *text, const char *format, ...) WEFT_PRINTF(2, 3);

/* Back to nothing; the memory is kept. */
void weft__text_clear(weft__text *text);

/* Hand the string over; owned (weft_free). The text is { 0 } again. Never NULL if
 * something was added. */
char *weft__text_take(weft__text *text);

/* End it. What was taken stays. */
void weft__text_end(weft__text *text);

/* A new string, as printf does; owned (weft_free). NULL: WEFT_E_NOMEM. */
char *weft__text_create(const char *format, ...) WEFT_PRINTF(1, 2);

/* Make what snprintf wrote to `line` one line: ends of lines become blanks, and
 * where `length`, which it returned, did not fit, it ends with "...". */
void weft__text_mend(char *line, size_t room, int length);

#endif
