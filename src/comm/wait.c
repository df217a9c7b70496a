/* wait.c -- wait with a deadline, and leave the core to others meanwhile. */
#include "comm/comm_impl.h"

#include <sched.h>
#include <stdio.h>
#include <time.h>

enum { SPINS = 100 }; /* polls that nobody else is let in between */

/* A nap is a small part of what was waited already, so what it delays is never
 * delayed by more than that part; and no shorter than the system can. */
static const double nap_part = 1.0 / 32, nap_least = 50e-6, nap_most = 1e-3;

/* One wait; all 0 at first, so that what is there already costs no clock. */
typedef struct patience {
    int    polls;
    double since;
} patience;

static weft_status timed_out(weft_comm *comm, const weft__operation *op, double waited)
{
    weft__text *text = &comm->broken;
    snprintf(text->at, sizeof text->at, "%.180s, waited %.1f s (operation %lld)",
             weft__operation_text(op).at, waited, (long long)op->number);
    return WEFT_FAIL(WEFT_E_TIMEOUT, "%s", text->at);
}

static void rest(double waited)
{
    double nap = waited * nap_part;

    if (nap < nap_least) {
        sched_yield();
        return;
    }
    if (nap > nap_most)
        nap = nap_most;
    nanosleep(&(struct timespec){ .tv_nsec = (long)(nap * 1e9) }, NULL);
}

static weft_status wait_more(weft_comm *comm, const weft__operation *op, patience *p)
{
    const double now = weft_seconds();
    if (p->polls++ == 0)
        p->since = now;
    if (now - p->since > comm->deadline)
        return timed_out(comm, op, now - p->since);
    if (p->polls > SPINS)
        rest(now - p->since);
    return WEFT_OK;
}

static void end_wait(weft_comm *comm, const patience *p)
{
    if (p->polls > 0)
        comm->traffic.seconds_waited += weft_seconds() - p->since;
}

weft_status weft__wait_request(weft_comm *comm, const weft__operation *op, MPI_Request *request)
{
    patience p = { 0 };
    int      done;

    for (;;) {
        WEFT__TRY_MPI(comm, op, MPI_Test(request, &done, MPI_STATUS_IGNORE));
        if (done)
            break;
        WEFT_TRY(wait_more(comm, op, &p));
    }
    end_wait(comm, &p);
    return WEFT_OK;
}

weft_status weft__wait_message(weft_comm *comm, const weft__operation *op, int *bytes)
{
    const int  tag = weft__tag(op);
    patience   p = { 0 };
    MPI_Status status;
    int        there;

    for (;;) {
        WEFT__TRY_MPI(comm, op, MPI_Iprobe(op->route.peer, tag, comm->mpi, &there, &status));
        if (there)
            break;
        WEFT_TRY(wait_more(comm, op, &p));
    }
    end_wait(comm, &p);
    WEFT__TRY_MPI(comm, op, MPI_Get_count(&status, MPI_BYTE, bytes));
    return WEFT_OK;
}
