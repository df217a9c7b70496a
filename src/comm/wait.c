/* wait.c -- wait with a deadline, and leave the core to others meanwhile. */
#include "comm/comm_impl.h"

#include <sched.h>
#include <stdio.h>
#include <time.h>

/* First a rank only polls, then it lets others have the core after each poll, then it
 * sleeps. While it sleeps its messages stand still, also those that it sends, and
 * a long one moves in many pieces; so a poll that moved something begins this anew.
 * MPI does not tell, but such a poll takes much more processor time than the quickest
 * one ever did. (Not more time by the clock: others may have had the core.) */
enum { SPINS = 100 };
static const double idle_before_nap = 1e-3, quick = 4, slack = 1e-6, slack_after_nap = 10e-6;

/* A nap is a small part of what was waited in vain, so what comes is never late by
 * more than that part. */
static const double nap_part = 1.0 / 32, nap_least = 50e-6, nap_most = 1e-3;

/* One wait; all 0 at first, so that what is there already costs no clock. */
typedef struct patience {
    int    polls;
    double since;  /* the first poll that failed */
    double moved;  /* the last poll that moved something, or the first */
    double worked; /* processor time when the poll now running began */
    bool   napped; /* just before it, so that it is slow by itself */
} patience;

static weft_status timed_out(weft_comm *comm, const weft__operation *op, double waited)
{
    weft__text *text = &comm->broken;

    comm->traffic.seconds_waited += waited;
    snprintf(text->at, sizeof text->at, "%.180s, waited %.1f s (operation %lld)",
             weft__operation_text(op).at, waited, (long long)op->number);
    return WEFT_FAIL(WEFT_E_TIMEOUT, "%s", text->at);
}

static double worked(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool moved_something(weft_comm *comm, const patience *p)
{
    const double took = worked() - p->worked;

    if (comm->quickest_poll == 0 || took < comm->quickest_poll)
        comm->quickest_poll = took;
    return took > quick * comm->quickest_poll + (p->napped ? slack_after_nap : slack);
}

static void take_nap(double idle)
{
    const double wish = idle * nap_part;
    const double nap = wish < nap_least ? nap_least : wish > nap_most ? nap_most : wish;
    nanosleep(&(struct timespec){ .tv_nsec = (long)(nap * 1e9) }, NULL);
}

static void rest(weft_comm *comm, patience *p, double now)
{
    if (moved_something(comm, p))
        p->moved = now;
    p->napped = now - p->moved >= idle_before_nap;
    if (p->napped)
        take_nap(now - p->moved);
    else if (p->moved < now)
        sched_yield();
}

/* A poll found nothing. */
static weft_status wait_more(weft_comm *comm, const weft__operation *op, patience *p)
{
    const double now = weft_seconds();

    if (p->polls == 0)
        p->since = p->moved = now;
    if (now - p->since > comm->deadline)
        return timed_out(comm, op, now - p->since);
    if (p->polls++ > SPINS)
        rest(comm, p, now);
    if (p->polls > SPINS)
        p->worked = worked();
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
