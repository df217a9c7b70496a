/* wait.c -- wait with a deadline, and leave the core to others meanwhile. */
#include "comm/comm_impl.h"

#include <sched.h>
#include <stdio.h>
#include <time.h>

enum { SPINS = 100 }; /* polls that nobody else is let in between */

/* A nap costs at least twice its length, and while one rank naps no message moves:
 * a long one would go through in as many naps as it has pieces. So a rank naps only
 * after polls in which nothing moved for a while; one that took much longer than the
 * quickest ever did move something. */
static const double idle_before_nap = 1e-3, nap = 50e-6, quick = 4, quick_least = 1e-6;

/* One wait; all 0 at first, so that what is there already costs no clock. */
typedef struct patience {
    int    polls;
    double since;  /* the first poll that failed */
    double idle;   /* the last poll that may have moved something */
    double polled; /* when the poll now running began */
} patience;

static weft_status timed_out(weft_comm *comm, const weft__operation *op, double waited)
{
    weft__text *text = &comm->broken;

    comm->traffic.seconds_waited += waited;
    snprintf(text->at, sizeof text->at, "%.180s, waited %.1f s (operation %lld)",
             weft__operation_text(op).at, waited, (long long)op->number);
    return WEFT_FAIL(WEFT_E_TIMEOUT, "%s", text->at);
}

/* Let others have the core: at once, or for a while. */
static void rest(double idle)
{
    if (idle < idle_before_nap)
        sched_yield();
    else
        nanosleep(&(struct timespec){ .tv_nsec = (long)(nap * 1e9) }, NULL);
}

static void look_at_poll(weft_comm *comm, patience *p, double now)
{
    const double took = now - p->polled;

    if (comm->quickest_poll == 0 || took < comm->quickest_poll)
        comm->quickest_poll = took;
    if (took > quick * comm->quickest_poll + quick_least)
        p->idle = now;
}

/* A poll found nothing. */
static weft_status wait_more(weft_comm *comm, const weft__operation *op, patience *p)
{
    const double now = weft_seconds();

    if (p->polls++ == 0)
        p->since = p->idle = now;
    else
        look_at_poll(comm, p, now);
    if (now - p->since > comm->deadline)
        return timed_out(comm, op, now - p->since);
    if (p->polls > SPINS)
        rest(now - p->idle);
    p->polled = p->polls > SPINS ? weft_seconds() : now;
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
