/* report.c -- means of values by name, over samples, steps and ranks.
 *
 * A rank holds for each column sum_i w_i x_i and sum_i w_i; both are summed over the
 * ranks, in double, before the one division. A rank without a value adds zeros, which
 * change no bit, so a value that one rank alone has is exactly that rank's.
 */
#include "train/json_log.h"
#include "train/row.h"
#include "train/table.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

struct weft_report {
    weft_comm      *comm;
    FILE           *table; /* NULL but on rank 0 */
    weft__json_log *log;   /* likewise */
    double          begin; /* on weft_seconds()'s clock */
    bool            has_head;
    double          sum[2 * WEFT_MAX_COLUMNS]; /* of w x, then of w: one message */
    weft__row       row;                       /* the last; its names from the beginning */
};

static double *weights(weft_report *r)
{
    return r->sum + r->row.columns;
}

/* -1 if there is none. */
static int find(const weft_report *r, const char *column)
{
    for (int i = 0; i < r->row.columns; i++)
        if (strcmp(r->row.name[i], column) == 0)
            return i;
    return -1;
}

/* ---- make, end ---------------------------------------------------------------- */

static weft_status add_column(weft_report *r, const char *name)
{
    static const char *const ours[] = { "epoch", "iteration", "elapsed_time" };

    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (strcmp(name, ours[i]) == 0)
            return WEFT_FAIL(WEFT_E_ARG, "column \"%s\" of a report: it has one of that name",
                             name);
    if (find(r, name) >= 0)
        return WEFT_FAIL(WEFT_E_ARG, "column \"%s\" of a report: twice", name);
    r->row.value[r->row.columns] = (double)NAN;
    WEFT_TRY_NEW(r->row.name[r->row.columns] = weft_text_copy(name));
    r->row.columns++;
    return WEFT_OK;
}

static weft_status fill_in(weft_report *r, weft_comm *comm, const weft_report_options *options)
{
    r->comm = comm;
    r->begin = weft_seconds() - options->elapsed;
    for (int i = 0; i < WEFT_MAX_COLUMNS && options->column[i] != NULL; i++)
        WEFT_TRY(add_column(r, options->column[i]));
    if (comm != NULL && weft_comm_rank(comm) != 0)
        return WEFT_OK;
    r->table = options->table;
    if (options->log != NULL)
        WEFT_TRY_NEW(r->log = weft__json_log_open(options->log, options->resumed));
    return WEFT_OK;
}

static weft_status agree(weft_comm *comm, weft_status mine)
{
    return comm != NULL ? weft_comm_agree(comm, mine, "report") : mine;
}

/* FNV-1a over all names with their ends; not negative. */
static int64_t hash_names(const weft_report *r)
{
    uint64_t h = UINT64_C(0xCBF29CE484222325);
    for (int i = 0; i < r->row.columns; i++)
        for (size_t k = 0; k <= strlen(r->row.name[i]); k++)
            h = (h ^ (unsigned char)r->row.name[i][k]) * UINT64_C(0x100000001B3);
    return (int64_t)(h >> 1);
}

/* Where columns differed between ranks, values would be added to others' without a
 * word. All are equal when the largest is the smallest. */
static weft_status compare_columns(const weft_report *r)
{
    const int64_t hash = hash_names(r);
    int64_t       most[] = { hash, -hash };
    weft_tensor   x = weft_tensor_wrap(WEFT_I64, 1, (int64_t[]){ 2 }, most);

    if (r->comm == NULL)
        return WEFT_OK;
    WEFT_TRY(weft_comm_allreduce(r->comm, &x, WEFT_REDUCE_MAX, "columns of a report"));
    if (most[0] != -most[1])
        return WEFT_FAIL(WEFT_E_ARG,
                         "the columns of a report are not the same on every rank: here %d%s%s",
                         r->row.columns, r->row.columns > 0 ? ", the first " : "",
                         r->row.columns > 0 ? r->row.name[0] : "");
    return WEFT_OK;
}

static weft_status open_together(weft_report *r, weft_comm *comm,
                                 const weft_report_options *options)
{
    const weft_status mine = r != NULL ? fill_in(r, comm, options) : weft_error_status();
    WEFT_TRY(agree(comm, mine));
    return r != NULL ? compare_columns(r) : mine;
}

weft_report *weft_report_create(weft_comm *comm, const weft_report_options *options)
{
    weft_report *r = weft_alloc_zeroed((int64_t)sizeof *r);
    if (open_together(r, comm, options) != WEFT_OK) {
        weft_report_destroy(r);
        return NULL;
    }
    return r;
}

void weft_report_destroy(weft_report *r)
{
    if (r == NULL)
        return;
    weft__json_log_close(r->log);
    for (int i = 0; i < r->row.columns; i++)
        weft_free(r->row.name[i]);
    weft_free(r);
}

/* ---- values --------------------------------------------------------------------- */

weft_status weft_report_add(weft_report *r, const char *column, const weft_var *x, double weight)
{
    const int i = find(r, column);

    if (x == NULL)
        return weft_error_status();
    if (i < 0)
        return WEFT_FAIL(WEFT_E_ARG, "column \"%s\" was not declared for this report", column);
    if (x->value.count == 0 || !weft_has_data(x)) /* a delegate; a dry run */
        return WEFT_OK;
    if (x->value.count != 1)
        return WEFT_FAIL(WEFT_E_SHAPE, "column \"%s\" of a report: one element is wanted, not %s",
                         column, weft_shape_text(&x->value));
    r->sum[i] += weight * weft_item(x);
    weights(r)[i] += weight;
    return WEFT_OK;
}

static weft_status sum_over_ranks(weft_report *r)
{
    weft_tensor sum = weft_tensor_wrap(WEFT_F64, 1, (int64_t[]){ 2 * r->row.columns }, r->sum);

    if (r->comm == NULL || sum.count == 0)
        return WEFT_OK;
    return weft_comm_allreduce(r->comm, &sum, WEFT_REDUCE_SUM, "report");
}

static void divide(weft_report *r)
{
    weft__row *row = &r->row;
    for (int i = 0; i < row->columns; i++) {
        const double weight = weights(r)[i];
        row->given[i] = weight != 0;
        row->value[i] = row->given[i] ? r->sum[i] / weight : (double)NAN;
    }
    memset(r->sum, 0, sizeof r->sum);
}

static weft_status print(weft_report *r)
{
    if (r->table != NULL && !r->has_head)
        WEFT_TRY(weft__table_head(r->table, &r->row));
    r->has_head = true;
    if (r->table != NULL)
        WEFT_TRY(weft__table_row(r->table, &r->row));
    if (r->log != NULL)
        WEFT_TRY(weft__json_log_add(r->log, &r->row));
    return WEFT_OK;
}

weft_status weft_report_row(weft_report *r, int64_t epoch, int64_t iteration)
{
    WEFT_TRY(sum_over_ranks(r));
    divide(r);
    r->row.epoch = epoch;
    r->row.iteration = iteration;
    r->row.elapsed = weft_report_elapsed(r);
    WEFT_TRY(agree(r->comm, print(r)));
    return WEFT_OK;
}

/* ---- ask --------------------------------------------------------------------------- */

double weft_report_value(const weft_report *r, const char *column)
{
    const int i = find(r, column);
    return i >= 0 ? r->row.value[i] : (double)NAN;
}

double weft_report_elapsed(const weft_report *r)
{
    return weft_seconds() - r->begin;
}
