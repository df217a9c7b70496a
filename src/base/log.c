/* log.c -- one line per event, to whoever the program says. */
#include "weft/base.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>

enum { LINE_BYTES = 1001 };

static struct {
    weft_log_handler *handler; /* NULL: nobody listens */
    void             *context;
    weft_log_level    level;
} to;

void weft_log_to(weft_log_handler *handler, void *context, weft_log_level level)
{
    to.handler = handler;
    to.context = context;
    to.level = level;
}

void weft_log(weft_log_level level, const char *format, ...)
{
    char    line[LINE_BYTES];
    va_list arguments;

    if (to.handler == NULL || level > to.level)
        return;
    va_start(arguments, format);
    weft__text_mend(line, sizeof line, vsnprintf(line, sizeof line, format, arguments));
    va_end(arguments);
    to.handler(level, line, to.context);
}
