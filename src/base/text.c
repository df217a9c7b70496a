/* text.c -- strings that grow, and lines that were cut. */
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { FIRST_ROOM = 128 };

static weft_status reserve(weft__text *text, int64_t room)
{
    if (room <= text->room)
        return WEFT_OK;

    int64_t next = text->room > 0 ? text->room : FIRST_ROOM;
    while (next < room)
        next *= 2;

    char *bytes;
    WEFT_TRY_NEW(bytes = weft_alloc(next));
    if (text->bytes != NULL)
        memcpy(bytes, text->bytes, (size_t)text->length + 1);
    weft_free(text->bytes);
    text->bytes = bytes;
    text->room = next;
    return WEFT_OK;
}

WEFT_PRINTF(2, 0)
static weft_status add(weft__text *text, const char *format, va_list arguments)
{
    va_list again;

    va_copy(again, arguments);
    const int more = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (more < 0)
        return WEFT_FAIL(WEFT_E_ARG, "a text that can not be formatted: \"%s\"", format);

    WEFT_TRY(reserve(text, text->length + more + 1));
    vsnprintf(text->bytes + text->length, (size_t)more + 1, format, arguments);
    text->length += more;
    return WEFT_OK;
}

weft_status weft__text_add(weft__text *text, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    const weft_status done = add(text, format, arguments);
    va_end(arguments);
    return done;
}

void weft__text_clear(weft__text *text)
{
    text->length = 0;
    if (text->bytes != NULL)
        text->bytes[0] = '\0';
}

char *weft__text_take(weft__text *text)
{
    char *bytes = text->bytes;
    *text = (weft__text){ 0 };
    return bytes;
}

void weft__text_end(weft__text *text)
{
    weft_free(weft__text_take(text));
}

char *weft__text_create(const char *format, ...)
{
    weft__text text = { 0 };
    va_list    arguments;

    va_start(arguments, format);
    const weft_status done = add(&text, format, arguments);
    va_end(arguments);
    return done == WEFT_OK ? weft__text_take(&text) : NULL;
}

void weft__text_mend(char *line, size_t room, int length)
{
    if (length >= 0 && (size_t)length >= room)
        memcpy(line + room - sizeof "...", "...", sizeof "...");
    for (char *at = line; *at != '\0'; at++)
        if (*at == '\n' || *at == '\r')
            *at = ' ';
}
