/* columns.c -- a table that aligns itself. */
#include "parallel/columns.h"

#include <string.h>

enum { COLUMNS = 16 };

/* One cell of the text; begin is NULL behind the last. */
typedef struct cell {
    const char *begin;
    int         width;
    int         column;
} cell;

static cell cell_at(const char *begin, int column)
{
    const size_t width = strcspn(begin, "\t\n");
    return (cell){ *begin != '\0' ? begin : NULL, (int)width, column };
}

static cell next(cell c)
{
    const char *end = c.begin + c.width;
    if (*end == '\0')
        return (cell){ 0 };
    return cell_at(end + 1, *end == '\n' ? 0 : c.column + 1);
}

static void measure(const char *cells, int *width)
{
    for (cell c = cell_at(cells, 0); c.begin != NULL; c = next(c))
        if (c.column < COLUMNS && c.width > width[c.column])
            width[c.column] = c.width;
}

static bool is_number(cell c)
{
    return c.width > 0 && strspn(c.begin, "0123456789,") >= (size_t)c.width;
}

static void write_cell(cell c, int width, FILE *to)
{
    const bool last = c.begin[c.width] != '\t';
    const int  gap = last && !is_number(c) ? 0 : width - c.width;

    fprintf(to, "%*s%.*s%*s%s", is_number(c) ? gap : 0, "", c.width, c.begin,
            is_number(c) ? 0 : gap, "", last ? "\n" : "  ");
}

weft_status weft__columns_write(const char *cells, FILE *to)
{
    int width[COLUMNS] = { 0 };

    measure(cells, width);
    for (cell c = cell_at(cells, 0); c.begin != NULL; c = next(c))
        write_cell(c, c.column < COLUMNS ? width[c.column] : 0, to);
    return ferror(to) ? WEFT_FAIL(WEFT_E_IO, "a table could not be written") : WEFT_OK;
}
