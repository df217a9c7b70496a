/* weft_test.h -- cmocka, and what tests of Weft say over and over. */
#ifndef WEFT_TEST_H
#define WEFT_TEST_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "weft/base.h"

/* The call succeeds; else Weft's own message and trail are shown. */
#define assert_ok(call) weft_test_ok((call), #call, __FILE__, __LINE__)

/* The call fails with this status, and with a message. */
#define assert_fails(status, call) weft_test_fails((status), (call), #call, __FILE__, __LINE__)

/* |expected - got| <= tolerance, in float or double. Two NaNs are near, and so are
 * equal infinities. */
#define assert_near(expected, got, tolerance)                                                      \
    weft_test_near((double)(expected), (double)(got), (tolerance), #got, __FILE__, __LINE__)

/* The last failure's message has these words in it. */
#define assert_message_has(text) weft_test_message_has((text), __FILE__, __LINE__)

static inline void weft_test_ok(weft_status got, const char *call, const char *file, int line)
{
    if (got == WEFT_OK)
        return;
    print_error("%s\n    %s\n%s\n", call, weft_error_message(), weft_error_where());
    _fail(file, line);
}

static inline void weft_test_fails(weft_status expected, weft_status got, const char *call,
                                   const char *file, int line)
{
    if (got == expected && weft_error_status() == expected && *weft_error_message() != '\0')
        return;
    print_error("%s\n    should fail with: %s\n", call, weft_status_text(expected));
    print_error("    returned: %s\n    message: %s\n", weft_status_text(got), weft_error_message());
    _fail(file, line);
}

static inline void weft_test_near(double expected, double got, double tolerance, const char *what,
                                  const char *file, int line)
{
    if (fabs(expected - got) <= tolerance || (isnan(expected) && isnan(got)) ||
        (isinf(expected) && isinf(got) && signbit(expected) == signbit(got)))
        return;
    print_error("%s is %.17g, not %.17g: off by %.3g, more than %.3g\n", what, got, expected,
                fabs(expected - got), tolerance);
    _fail(file, line);
}

static inline void weft_test_message_has(const char *text, const char *file, int line)
{
    if (strstr(weft_error_message(), text) != NULL)
        return;
    print_error("the message has no \"%s\":\n    %s\n", text, weft_error_message());
    _fail(file, line);
}

#endif
