/* checkpoint_load.c -- a checkpoint from a file: rank 0 reads and checks all of it,
 * then hands out one tensor after the other.
 *
 * Up to hand_out_all() nothing is changed but the place in the data, which can be
 * taken back. Rank 0 may still fail to read then: it goes on sending, so that the
 * others come to the end, and tells them there.
 */
#include "train/checkpoint.h"

typedef struct {
    const weft__checkpoint *c;
    weft_snapshot          *snapshot; /* at rank 0 */
    void                   *buffer;   /* for one tensor on its way elsewhere */
    weft__facts             facts;
    weft_status             failed; /* here, with its message recorded */
} loading;

/* ---- rank 0 ---- */

static weft_status check_tensor(void *context, const weft__kept_tensor *x)
{
    const loading *l = context;
    return weft_snapshot_check_tensor(l->snapshot, x->path, x->like);
}

static weft_status look(loading *l)
{
    WEFT_TRY_NEW(l->buffer = weft_alloc(weft__checkpoint_most_bytes(l->c)));
    WEFT_TRY_NEW(l->snapshot = weft_snapshot_open(l->c->path));
    WEFT_TRY(weft__facts_get(l->c, l->snapshot, &l->facts));
    WEFT_TRY(weft__checkpoint_each(l->c, check_tensor, l));
    return WEFT_OK;
}

static void get(loading *l, const char *path, weft_tensor *x)
{
    if (l->failed == WEFT_OK)
        l->failed = weft_snapshot_get_tensor(l->snapshot, path, x);
}

/* ---- all ranks ---- */

static weft_status share_facts(loading *l)
{
    weft_comm *const comm = l->c->training->comm;
    weft__facts     *f = &l->facts;
    int64_t          whole[] = { f->position.step, f->position.epoch, f->position.row, f->t };
    double           real[] = { f->rate, f->elapsed };
    weft_tensor      n = weft_tensor_wrap(WEFT_I64, 1, (int64_t[]){ 4 }, whole);
    weft_tensor      x = weft_tensor_wrap(WEFT_F64, 1, (int64_t[]){ 2 }, real);

    if (comm == NULL)
        return WEFT_OK;
    WEFT_TRY(weft_comm_bcast(comm, &n, 0, "checkpoint"));
    WEFT_TRY(weft_comm_bcast(comm, &x, 0, "checkpoint"));
    *f = (weft__facts){ { whole[0], whole[1], whole[2] }, whole[3], real[0], real[1] };
    return WEFT_OK;
}

/* To the place in the data, on all ranks or on none. */
static weft_status go_there(loading *l)
{
    weft_batches *const batches = l->c->training->batches;
    if (batches == NULL)
        return WEFT_OK;

    const weft_position old = weft_batches_position(batches);
    const weft_status   mine = weft_batches_position_set(batches, &l->facts.position);
    const weft_status   done = weft__checkpoint_agree(l->c, mine);
    if (done != WEFT_OK && mine == WEFT_OK)
        weft_batches_position_set(batches, &old);
    return done;
}

/* A tensor that every rank holds. */
static weft_status spread(loading *l, const weft__kept_tensor *x)
{
    weft_comm *const comm = l->c->training->comm;

    if (l->c->rank == 0)
        get(l, x->path, x->here);
    return comm != NULL ? weft_comm_bcast(comm, x->here, 0, "checkpoint") : WEFT_OK;
}

/* A tensor that one rank holds. */
static weft_status send_to_owner(loading *l, const weft__kept_tensor *x)
{
    weft_comm *const         comm = l->c->training->comm;
    const weft_route         route = weft__checkpoint_route(l->c, x);
    weft_tensor              passing = *x->like;
    const weft_tensor *const sent = &passing;

    if (l->c->rank == 0 && x->owner == 0) {
        get(l, x->path, x->here);
    } else if (l->c->rank == 0) {
        passing.data = l->buffer;
        get(l, x->path, &passing);
        WEFT_TRY(weft_comm_send(comm, &route, 1, &sent));
    } else if (l->c->rank == x->owner) {
        WEFT_TRY(weft_comm_recv(comm, &route, 1, &(weft_tensor *){ x->here }));
    }
    return WEFT_OK;
}

static weft_status hand_out(void *context, const weft__kept_tensor *x)
{
    loading *const l = context;
    return l->c->training->params != NULL ? spread(l, x) : send_to_owner(l, x);
}

static weft_status hand_out_all(loading *l)
{
    WEFT_TRY(weft__checkpoint_each(l->c, hand_out, l));
    return weft__checkpoint_agree(l->c, l->failed);
}

static weft_status load(loading *l)
{
    weft_optim *const optim = l->c->training->optim;

    WEFT_TRY(weft__checkpoint_agree(l->c, l->c->rank == 0 ? look(l) : WEFT_OK));
    WEFT_TRY(share_facts(l));
    WEFT_TRY(go_there(l));
    WEFT_TRY(hand_out_all(l));
    if (optim != NULL) {
        weft_optim_steps_set(optim, l->facts.t);
        weft_optim_rate_set(optim, l->facts.rate);
    }
    return WEFT_OK;
}

static weft_status load_all(const weft__checkpoint *c, double *elapsed)
{
    loading           l = { .c = c };
    const weft_status done = load(&l);

    if (done == WEFT_OK)
        *elapsed = l.facts.elapsed;
    weft_snapshot_close(l.snapshot);
    weft_free(l.buffer);
    return done;
}

weft_status weft_checkpoint_load(weft_training *training, const char *path)
{
    weft__checkpoint c;
    weft_status      done = weft__checkpoint_begin(&c, training, path);

    if (done == WEFT_OK)
        done = load_all(&c, &training->elapsed);
    weft__checkpoint_end(&c);
    return done;
}
