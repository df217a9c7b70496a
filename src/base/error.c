/* error.c -- the last failure of each thread: its kind, its message, its trail. */
#include "weft/base.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    MESSAGE_BYTES = 1024,
    STEP_BYTES = 256, /* one line of the trail */
    TRAIL_BYTES = 4096,
};

static const char TRAIL_CUT[] = "\n    ... and further calls, left out";

typedef struct failure {
    weft_status status;
    bool        cut; /* the trail is full and says so */
    size_t      trail_length;
    char        message[MESSAGE_BYTES];
    char        trail[TRAIL_BYTES];
} failure;

static _Thread_local failure last;

const char *weft_status_text(weft_status status)
{
    static const char *const text[] = {
#define X(name, sentence) [WEFT_##name] = (sentence),
        WEFT_STATUS_LIST(X)
#undef X
    };
    const bool known = (unsigned)status < sizeof text / sizeof *text;
    return known ? text[status] : "a failure of an unknown kind";
}

static void add_step(const char *step)
{
    const size_t length = strlen(step);

    if (last.cut)
        return;
    last.cut = last.trail_length + length + sizeof TRAIL_CUT > sizeof last.trail;
    if (last.cut) /* there is always room for these words */
        memcpy(last.trail + last.trail_length, TRAIL_CUT, sizeof TRAIL_CUT);
    else
        memcpy(last.trail + last.trail_length, step, length + 1);
    last.trail_length += length;
}

weft_status weft_error_set(weft_status kind, const char *where, const char *format, ...)
{
    char    message[MESSAGE_BYTES]; /* the arguments may be the last failure's own texts */
    char    step[STEP_BYTES];
    va_list arguments;
    int     length;

    length = snprintf(message, sizeof message, "%s: ", weft_status_text(kind));
    va_start(arguments, format);
    length += vsnprintf(message + length, sizeof message - (size_t)length, format, arguments);
    va_end(arguments);
    weft__text_mend(message, sizeof message, length);
    weft__text_mend(step, sizeof step, snprintf(step, sizeof step, "    at %s", where));

    last.status = kind;
    last.cut = false;
    last.trail_length = 0;
    memcpy(last.message, message, sizeof message);
    add_step(step);
    return kind;
}

weft_status weft_error_trail(weft_status status, const char *where, const char *call)
{
    char step[STEP_BYTES];

    if (status == WEFT_OK)
        return weft_error_set(WEFT_E_STATE, where, "%s gave nothing and no reason", call);
    if (status != last.status) /* returned without being recorded, or something failed since */
        return weft_error_set(status, where, "%s failed; its message is lost", call);

    const int length = snprintf(step, sizeof step, "\n    at %s, calling %s", where, call);
    weft__text_mend(step + 1, sizeof step - 1, length - 1);
    add_step(step);
    return status;
}

weft_status weft_error_status(void)
{
    return last.status;
}

const char *weft_error_message(void)
{
    return last.message;
}

const char *weft_error_where(void)
{
    return last.trail;
}

void weft_error_clear(void)
{
    last.status = WEFT_OK;
    last.cut = false;
    last.trail_length = 0;
    last.message[0] = last.trail[0] = '\0';
}
