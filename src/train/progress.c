/* progress.c -- how far training is, for a person who waits:
 *
 *     epoch 2.41/5  [##########..........]  1446/3000  5210 samples/s  0:29 left
 */
#include "train/progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { WIDEST = 200, NARROWEST_BAR = 5, WIDEST_BAR = 40 };

static const double BAR_SECONDS = 0.1, LINE_SECONDS = 10; /* between two of them, at least */
static const double MEMORY_SECONDS = 5;                   /* of the rate */

struct weft_progress {
    FILE   *to; /* NULL: nothing is drawn */
    bool    bar;
    int64_t total, step; /* step: when last drawn */
    double  samples;     /* of a step */
    double  drawn_at, rate;
    int     on_screen; /* characters of the bar that now is there */
};

/* ---- make, end ------------------------------------------------------------------- */

weft_status weft_progress_parse(const char *text, weft_progress_mode *mode)
{
    static const char *const word[] = {
        [WEFT_PROGRESS_AUTO] = "auto", [WEFT_PROGRESS_ON] = "on", [WEFT_PROGRESS_OFF] = "off"
    };
    for (int i = WEFT_PROGRESS_AUTO; i <= WEFT_PROGRESS_OFF; i++)
        if (strcmp(text, word[i]) == 0) {
            *mode = (weft_progress_mode)i;
            return WEFT_OK;
        }
    return WEFT_FAIL(WEFT_E_ARG, "progress \"%s\": auto, on and off are known", text);
}

static weft_status ask_environment(weft_progress_mode *mode)
{
    const char *text = getenv("WEFT_PROGRESS");
    if (text == NULL || *text == '\0' || weft_progress_parse(text, mode) == WEFT_OK)
        return WEFT_OK;
    return WEFT_FAIL(WEFT_E_ARG, "$WEFT_PROGRESS is \"%s\": auto, on and off are known", text);
}

static weft_status choose(weft_progress *p, weft_progress_mode mode, int ranks)
{
    if (mode == WEFT_PROGRESS_AUTO)
        WEFT_TRY(ask_environment(&mode));
    if (mode == WEFT_PROGRESS_AUTO)
        p->bar = p->to != NULL && ranks == 1 && isatty(fileno(p->to));
    else
        p->bar = mode == WEFT_PROGRESS_ON;
    return WEFT_OK;
}

weft_progress *weft_progress_create(weft_comm *comm, weft_progress_mode mode, FILE *to,
                                    int64_t total, int64_t done, int64_t samples)
{
    const bool     here = comm == NULL || weft_comm_rank(comm) == 0;
    weft_progress *p = weft_alloc((int64_t)sizeof *p);

    if (p == NULL)
        return NULL;
    *p = (weft_progress){
        .to = here ? to : NULL, .total = total, .step = done, .samples = (double)samples
    };
    if (choose(p, mode, comm == NULL ? 1 : weft_comm_size(comm)) != WEFT_OK) {
        weft_free(p);
        return NULL;
    }
    weft__progress_begin_at(p, weft_seconds());
    return p;
}

void weft_progress_destroy(weft_progress *p)
{
    if (p != NULL)
        weft_progress_hide(p);
    weft_free(p);
}

/* ---- what it says ------------------------------------------------------------------ */

/* Of the last seconds rather than of the whole run: what others do on the machine
 * changes. */
static void measure(weft_progress *p, int64_t step, double now)
{
    const double seconds = now - p->drawn_at;
    const double rate = (double)(step - p->step) * p->samples / seconds;
    const double weight = p->rate > 0 ? 1 - exp(-seconds / MEMORY_SECONDS) : 1;

    p->rate += weight * (rate - p->rate);
    p->step = step;
    p->drawn_at = now;
}

/* "epoch 2.41/5"; how many there will be follows from the steps. */
static int say_epoch(const weft_progress *p, double epoch, size_t room, char *text)
{
    const double all = p->step > 0 ? epoch * (double)p->total / (double)p->step : 0;
    return snprintf(text, room, "epoch %.2f/%.6g", epoch, floor(all * 100 + 0.5) / 100);
}

/* "0:29 left", "1:02:03 left"; nothing as long as there is no rate. */
static void say_left(const weft_progress *p, size_t room, char *text)
{
    const double  left = (double)(p->total - p->step) * p->samples / p->rate;
    const int64_t s = left < 1e9 ? (int64_t)ceil(left) : -1; /* false for 0 / 0 too */

    *text = '\0';
    if (s >= 3600)
        snprintf(text, room, "  %" PRId64 ":%02d:%02d left", s / 3600, (int)(s / 60 % 60),
                 (int)(s % 60));
    else if (s >= 0)
        snprintf(text, room, "  %d:%02d left", (int)(s / 60), (int)(s % 60));
}

static int say_pace(const weft_progress *p, size_t room, char *text)
{
    char left[40];
    say_left(p, sizeof left, left);
    return snprintf(text, room, "%" PRId64 "/%" PRId64 "  %.*f samples/s%s", p->step, p->total,
                    p->rate < 10 ? 2 : 0, p->rate, left);
}

/* "[####....]  " of at most `room` characters; nothing where that is too few. */
static void say_bar(const weft_progress *p, int room, char *text)
{
    const int    length = room - 4 < WIDEST_BAR ? room - 4 : WIDEST_BAR;
    const double part = p->total > 0 ? (double)p->step / (double)p->total : 1;

    *text = '\0';
    if (length < NARROWEST_BAR)
        return;
    for (int i = 0; i < length; i++)
        text[1 + i] = i < (int)(part * length) ? '#' : '.';
    text[0] = '[';
    memcpy(text + 1 + length, "]  ", 4);
}

/* ---- drawing ------------------------------------------------------------------------- */

/* Of the terminal: $COLUMNS, or what the system says. */
static int width_of(FILE *to)
{
    const char    *text = getenv("COLUMNS");
    const long     columns = text != NULL ? strtol(text, NULL, 10) : 0;
    struct winsize size;

    if (columns > 0)
        return columns < WIDEST ? (int)columns : WIDEST;
    if (ioctl(fileno(to), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col < WIDEST ? size.ws_col : WIDEST;
    return 80;
}

/* Over the bar that was there; the last column stays free, else terminals wrap. */
static void draw_bar(weft_progress *p, const char *epoch, const char *pace)
{
    const int width = width_of(p->to) - 1;
    char      bar[WIDEST_BAR + 8], line[WIDEST];

    say_bar(p, width - (int)strlen(epoch) - (int)strlen(pace) - 4, bar);
    snprintf(line, (size_t)width + 1, "  %s  %s%s", epoch, bar, pace);
    const int length = (int)strlen(line);
    fprintf(p->to, "\r%-*s", p->on_screen, line);
    p->on_screen = length;
    fflush(p->to);
}

static void draw_line(const weft_progress *p, const char *epoch, const char *pace)
{
    fprintf(p->to, "%s  %s\n", epoch, pace);
    fflush(p->to);
}

void weft__progress_begin_at(weft_progress *p, double now)
{
    p->drawn_at = now;
}

void weft__progress_step_at(weft_progress *p, int64_t step, double epoch, double now)
{
    char head[64], pace[96];

    if (p->to == NULL || now - p->drawn_at < (p->bar ? BAR_SECONDS : LINE_SECONDS))
        return;
    measure(p, step, now);
    say_epoch(p, epoch, sizeof head, head);
    say_pace(p, sizeof pace, pace);
    if (p->bar)
        draw_bar(p, head, pace);
    else
        draw_line(p, head, pace);
}

void weft_progress_step(weft_progress *p, int64_t step, double epoch)
{
    weft__progress_step_at(p, step, epoch, weft_seconds());
}

void weft_progress_hide(weft_progress *p)
{
    if (p->on_screen == 0)
        return;
    fprintf(p->to, "\r%*s\r", p->on_screen, "");
    fflush(p->to);
    p->on_screen = 0;
}
