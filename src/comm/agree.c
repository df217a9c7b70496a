/* agree.c -- ranks meet: to wait for each other, and to fail together. */
#include "comm/comm_impl.h"

#include <stdio.h>
#include <string.h>

static weft_status begin(weft_comm *comm, weft__operation *op)
{
    WEFT_TRY(weft__check_comm(comm, op));
    return weft__begin(comm, op);
}

weft_status weft_comm_barrier(weft_comm *comm, const char *label)
{
    weft__operation op = weft__collective(WEFT__BARRIER, NULL, label);
    MPI_Request     request;

    WEFT_TRY(begin(comm, &op));
    WEFT__TRY_MPI(comm, &op, MPI_Ibarrier(comm->mpi, &request));
    return weft__wait_request(comm, &op, &request);
}

/* The lowest rank that failed tells the others what happened to it. */
static weft_status hear(weft_comm *comm, const weft__report *own, const char *label)
{
    weft__operation op = weft__collective(WEFT__AGREE, NULL, label);
    MPI_Request     request;

    WEFT_TRY(begin(comm, &op));
    comm->report = *own;
    comm->vote = (weft__vote){ .ok = own->status == WEFT_OK, .rank = comm->rank };
    WEFT__TRY_MPI(
        comm, &op,
        MPI_Iallreduce(MPI_IN_PLACE, &comm->vote, 1, MPI_2INT, MPI_MINLOC, comm->mpi, &request));
    WEFT_TRY(weft__wait_request(comm, &op, &request));
    if (comm->vote.ok)
        return WEFT_OK;
    WEFT__TRY_MPI(comm, &op,
                  MPI_Ibcast(&comm->report, (int)sizeof comm->report, MPI_BYTE, comm->vote.rank,
                             comm->mpi, &request));
    return weft__wait_request(comm, &op, &request);
}

/* What the others would hear of this rank's failure: its message, or its kind. */
static void say(weft__report *report, weft_status mine)
{
    const bool known = weft_error_status() == mine;
    snprintf(report->text, sizeof report->text, "%s",
             known ? weft_error_message() : weft_status_text(mine));
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
    weft__report own = { .status = (int32_t)mine };

    if (mine != WEFT_OK)
        say(&own, mine);
    const weft_status heard = hear(comm, &own, label);
    if (mine != WEFT_OK)
        return keep(mine, own.text, heard);
    WEFT_TRY(heard);
    if (!comm->vote.ok)
        return WEFT_FAIL(WEFT_E_PEER, "rank %d: %s", comm->vote.rank, comm->report.text);
    return WEFT_OK;
}
