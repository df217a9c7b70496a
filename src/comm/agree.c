/* agree.c -- ranks meet: to wait for each other, and to fail together.
 *
 * In round d = 1, 2, 4, ... each rank tells the one d ahead what it has heard so
 * far; after log2 P rounds all have heard of all. D. Hensgen, R. Finkel, U. Manber,
 * Two algorithms for barrier synchronization, Int. J. Parallel Programming 17
 * (1988) 1.
 */
#include "comm/comm_impl.h"

#include <stdio.h>
#include <string.h>

/* ---- the rounds ------------------------------------------------------------- */

typedef void merge_heard(weft_comm *comm);

static weft_status round_with(weft_comm *comm, weft__operation *op, int ahead,
                              const weft_tensor *say, const weft_tensor *hear)
{
    weft_request *sent;

    op->route.peer = (comm->rank + ahead) % comm->size;
    WEFT_TRY_NEW(sent = weft__send_start(comm, op, 1, &say));
    op->route.peer = (comm->rank - ahead + comm->size) % comm->size;
    WEFT_TRY(weft__recv(comm, op, 1, &hear));
    WEFT_TRY(weft__send_wait(comm, sent));
    return WEFT_OK;
}

static weft_status rounds(weft_comm *comm, weft__operation *op, const weft_tensor *say,
                          const weft_tensor *hear, merge_heard *merge)
{
    for (int ahead = 1; ahead < comm->size; ahead *= 2) {
        WEFT_TRY(round_with(comm, op, ahead, say, hear));
        if (merge != NULL)
            merge(comm);
    }
    return WEFT_OK;
}

weft_status weft__meet(weft_comm *comm, weft__operation *op)
{
    const int64_t     none = 0;
    const weft_tensor nothing = weft_tensor_wrap(WEFT_U8, 1, &none, NULL);
    return weft__in_step(comm, op, rounds(comm, op, &nothing, &nothing, NULL));
}

weft_status weft_comm_barrier(weft_comm *comm, const char *label)
{
    weft__operation op = weft__collective(WEFT__BARRIER, NULL, label);

    WEFT_TRY(weft__check_comm(comm, &op));
    WEFT_TRY(weft__begin(comm, &op));
    return weft__meet(comm, &op);
}

/* ---- agreement -------------------------------------------------------------- */

/* The lowest rank that failed is the one that all hear of. */
static void keep_lowest(weft_comm *comm)
{
    const weft__report *heard = &comm->heard;
    const bool          lower = comm->told.status == WEFT_OK || heard->rank < comm->told.rank;

    if (heard->status != WEFT_OK && lower)
        comm->told = *heard;
}

static weft_status hear(weft_comm *comm, const weft__report *own, const char *label)
{
    weft__operation op = weft__collective(WEFT__AGREE, NULL, label);
    const int64_t   bytes = (int64_t)sizeof *own;

    WEFT_TRY(weft__check_comm(comm, &op));
    WEFT_TRY(weft__begin(comm, &op));
    comm->told = *own;
    comm->told.rank = comm->rank;
    const weft_tensor say = weft_tensor_wrap(WEFT_U8, 1, &bytes, &comm->told);
    const weft_tensor listen = weft_tensor_wrap(WEFT_U8, 1, &bytes, &comm->heard);
    return weft__in_step(comm, &op, rounds(comm, &op, &say, &listen, keep_lowest));
}

/* What the others would hear of this rank's failure: its message, or its kind. */
static weft__report report_of(weft_status mine)
{
    weft__report report = { .status = (int32_t)mine };
    const bool   known = weft_error_status() == mine;

    if (mine != WEFT_OK)
        snprintf(report.text, sizeof report.text, "%s",
                 known ? weft_error_message() : weft_status_text(mine));
    return report;
}

/* This rank's failure is the first cause, also if the others could not be told. */
static weft_status keep(weft_status mine, const char *message, weft_status heard)
{
    const char  *kind = weft_status_text(mine);
    const size_t length = strlen(kind);

    if (heard == WEFT_OK)
        return mine;
    if (strncmp(message, kind, length) == 0 && strncmp(message + length, ": ", 2) == 0)
        message += length + 2;
    return weft_error_set(mine, WEFT_HERE, "%s", message);
}

weft_status weft_comm_agree(weft_comm *comm, weft_status mine, const char *label)
{
    const weft__report own = report_of(mine);
    const weft_status  heard = hear(comm, &own, label);

    if (mine != WEFT_OK)
        return keep(mine, own.text, heard);
    WEFT_TRY(heard);
    if (comm->told.status != WEFT_OK)
        return WEFT_FAIL(WEFT_E_PEER, "rank %d: %s", comm->told.rank, comm->told.text);
    return WEFT_OK;
}
