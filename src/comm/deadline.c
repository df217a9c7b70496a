/* deadline.c -- how long one wait may take: options, then $WEFT_DEADLINE, then 300 s. */
#include "comm/comm_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_seconds(double seconds)
{
    return isfinite(seconds) && seconds > 0;
}

/* Decimal numbers only: strtod() also reads spaces, signs, hexadecimals, "inf". */
static bool parse(const char *text, double *seconds)
{
    char *end;
    if (*text == '\0' || strspn(text, "0123456789.eE+-") != strlen(text))
        return false;
    *seconds = strtod(text, &end);
    return *end == '\0' && is_seconds(*seconds);
}

weft_status weft__deadline_choose(double wanted, double *deadline)
{
    const char *text = getenv("WEFT_DEADLINE");

    if (wanted != 0 && !is_seconds(wanted))
        return WEFT_FAIL(WEFT_E_ARG, "a deadline of %g seconds", wanted);
    *deadline = wanted != 0 ? wanted : 300;
    if (wanted == 0 && text != NULL && !parse(text, deadline))
        return WEFT_FAIL(WEFT_E_ARG, "WEFT_DEADLINE is '%.100s', not a positive number of seconds",
                         text);
    return WEFT_OK;
}

double weft_comm_deadline(const weft_comm *comm)
{
    return comm->deadline;
}

void weft_comm_deadline_set(weft_comm *comm, double seconds)
{
    if (is_seconds(seconds))
        comm->deadline = seconds;
}
