/* json_log.c -- a report's rows as JSON, one object a line. */
#include "train/json_log.h"

#include "io/replace.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct weft__json_log {
    FILE *file;
    char *path;
};

static weft_status system_failed(const char *path)
{
    return WEFT_FAIL(WEFT_E_IO, "%s: %s", path, strerror(errno));
}

/* ---- what was there before ---------------------------------------------------- */

/* One line of the old file. */
typedef struct {
    char   *text; /* getline's own (free) */
    size_t  room;
    ssize_t length;
    int64_t number;
} line;

/* The iteration of a row; -1 if the line is none. */
static int64_t iteration_of(const line *l)
{
    json_t *const       row = json_loadb(l->text, (size_t)l->length, 0, NULL);
    const json_t *const iteration = json_object_get(row, "iteration");
    const int64_t       found = json_is_integer(iteration) ? json_integer_value(iteration) : -1;
    json_decref(row);
    return found;
}

static weft_status keep_line(const line *l, const char *path, int64_t resumed, FILE *to)
{
    if (l->text[l->length - 1] != '\n') /* torn when its run ended */
        return WEFT_OK;
    const int64_t iteration = iteration_of(l);
    if (iteration < 0)
        return WEFT_FAIL(WEFT_E_FORMAT,
                         "%s, line %" PRId64 ": expected a JSON object with an \"iteration\"", path,
                         l->number);
    if (iteration <= resumed && fwrite(l->text, 1, (size_t)l->length, to) != (size_t)l->length)
        return system_failed(path);
    return WEFT_OK;
}

static weft_status keep_lines(FILE *from, const char *path, int64_t resumed, FILE *to, line *l)
{
    for (l->number = 1; (l->length = getline(&l->text, &l->room, from)) > 0; l->number++)
        WEFT_TRY(keep_line(l, path, resumed, to));
    return ferror(from) || fflush(to) != 0 ? system_failed(path) : WEFT_OK;
}

/* Nothing where there is no old file. */
static weft_status copy_rows(const char *path, int64_t resumed, FILE *to)
{
    FILE *const from = fopen(path, "r");
    if (from == NULL)
        return errno == ENOENT ? WEFT_OK : system_failed(path);

    line              l = { .text = NULL };
    const weft_status done = keep_lines(from, path, resumed, to, &l);
    free(l.text);
    fclose(from);
    return done;
}

static weft_status write_beside(const weft__replace *beside, int64_t resumed)
{
    const int   fd = dup(beside->fd);
    FILE *const to = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (to == NULL) {
        if (fd >= 0)
            close(fd);
        return system_failed(beside->beside);
    }
    const weft_status done = resumed > 0 ? copy_rows(beside->path, resumed, to) : WEFT_OK;
    fclose(to);
    return done == WEFT_OK ? weft__replace_sync(beside) : done;
}

/* The log of an earlier run is kept as LOG~, once: a new run in the same folder may be
 * a mistake. */
static weft_status keep_old(const char *path)
{
    struct stat there;
    char        kept[4096];
    const int   n = snprintf(kept, sizeof kept, "%s~", path);

    if (stat(path, &there) != 0 || there.st_size == 0)
        return WEFT_OK;
    if (n < 0 || (size_t)n >= sizeof kept)
        return WEFT_FAIL(WEFT_E_ARG, "the name of the log is too long: %s", path);
    return rename(path, kept) == 0 ? WEFT_OK : system_failed(path);
}

static weft_status drop_rows(const char *path, int64_t resumed)
{
    weft__replace beside;
    struct stat   there;

    if (stat(path, &there) == 0 && !S_ISREG(there.st_mode)) /* /dev/stdout would be replaced */
        return WEFT_FAIL(WEFT_E_IO, "%s: not a file but a folder, pipe or device", path);
    if (resumed == 0)
        WEFT_TRY(keep_old(path));
    WEFT_TRY(weft__replace_begin(&beside, path));
    const weft_status done = write_beside(&beside, resumed);
    if (done == WEFT_OK)
        return weft__replace_commit(&beside);
    weft__replace_abandon(&beside);
    return done;
}

/* ---- open, close -------------------------------------------------------------- */

static weft_status open_log(weft__json_log *log, const char *path, int64_t resumed)
{
    WEFT_TRY_NEW(log->path = weft_text_copy(path));
    WEFT_TRY(drop_rows(path, resumed));
    log->file = fopen(path, "a");
    return log->file != NULL ? WEFT_OK : system_failed(path);
}

weft__json_log *weft__json_log_open(const char *path, int64_t resumed)
{
    weft__json_log *log = weft_alloc_zeroed((int64_t)sizeof *log);
    if (log != NULL && open_log(log, path, resumed) != WEFT_OK) {
        weft__json_log_close(log);
        return NULL;
    }
    return log;
}

void weft__json_log_close(weft__json_log *log)
{
    if (log == NULL)
        return;
    if (log->file != NULL)
        fclose(log->file); /* every row was flushed */
    weft_free(log->path);
    weft_free(log);
}

/* ---- a row -------------------------------------------------------------------- */

static json_t *real_or_null(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

/* Owned (json_decref). NULL: no memory, or a name that is not UTF-8. */
static json_t *describe(const weft__row *row)
{
    json_t *const object = json_object();
    int           failed = json_object_set_new(object, "epoch", json_integer(row->epoch));

    failed |= json_object_set_new(object, "iteration", json_integer(row->iteration));
    for (int i = 0; i < row->columns; i++)
        failed |= json_object_set_new(object, row->name[i], real_or_null(row->value[i]));
    failed |= json_object_set_new(object, "elapsed_time", real_or_null(row->elapsed));
    if (failed) {
        json_decref(object);
        return NULL;
    }
    return object;
}

weft_status weft__json_log_add(weft__json_log *log, const weft__row *row)
{
    json_t *const object = describe(row);
    char *const   text = json_dumps(object, JSON_REAL_PRECISION(17));
    weft_status   done = WEFT_OK;

    if (text == NULL)
        done = WEFT_FAIL(WEFT_E_NOMEM, "a row of %s (or a column's name is not UTF-8)", log->path);
    else if (fprintf(log->file, "%s\n", text) < 0 || fflush(log->file) != 0)
        done = system_failed(log->path);
    free(text);
    json_decref(object);
    return done;
}
