/* table.c -- a report's rows in aligned columns, as Chainer's PrintReport has them:
 *
 *     epoch       main/loss   validation/main/loss  elapsed_time
 *     1           0.531882    0.424113              10.3381
 */
#include "train/table.h"

#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum { NARROWEST = 10 };

static const char first[] = "epoch", last[] = "elapsed_time";

/* A cell as wide as its column's name, and the gap behind it. */
static weft_status add_cell(weft__text *line, const char *name, const char *cell)
{
    const int width = (int)strlen(name) > NARROWEST ? (int)strlen(name) : NARROWEST;
    return weft__text_add(line, "%-*s  ", width, cell);
}

static weft_status print(FILE *to, const weft__text *line)
{
    if (fprintf(to, "%s\n", line->bytes) < 0 || fflush(to) != 0)
        return WEFT_FAIL(WEFT_E_IO, "the table of the report: %s", strerror(errno));
    return WEFT_OK;
}

static weft_status print_head(FILE *to, const weft__row *row, weft__text *line)
{
    WEFT_TRY(add_cell(line, first, first));
    for (int i = 0; i < row->columns; i++)
        WEFT_TRY(add_cell(line, row->name[i], row->name[i]));
    WEFT_TRY(weft__text_add(line, "%s", last));
    return print(to, line);
}

static weft_status print_row(FILE *to, const weft__row *row, weft__text *line)
{
    char cell[32];

    snprintf(cell, sizeof cell, "%" PRId64, row->epoch);
    WEFT_TRY(add_cell(line, first, cell));
    for (int i = 0; i < row->columns; i++) {
        snprintf(cell, sizeof cell, row->given[i] ? "%.6g" : "-", row->value[i]);
        WEFT_TRY(add_cell(line, row->name[i], cell));
    }
    WEFT_TRY(weft__text_add(line, "%.6g", row->elapsed));
    return print(to, line);
}

weft_status weft__table_head(FILE *to, const weft__row *row)
{
    weft__text        line = { 0 };
    const weft_status done = print_head(to, row, &line);
    weft__text_end(&line);
    return done;
}

weft_status weft__table_row(FILE *to, const weft__row *row)
{
    weft__text        line = { 0 };
    const weft_status done = print_row(to, row, &line);
    weft__text_end(&line);
    return done;
}
