/* checkpoint_save.c -- a checkpoint to a file: owners send, one tensor at a time, and
 * rank 0 writes.
 *
 * Rank 0 may fail to write while the others are still sending. It then goes on
 * receiving what they send, and tells them at the end.
 */
#include "train/checkpoint.h"

typedef struct {
    const weft__checkpoint *c;
    weft_snapshot_writer   *writer; /* at rank 0; NULL once it has failed */
    void                   *buffer; /* for one tensor from elsewhere */
    weft_status             failed; /* here, with its message recorded */
} saving;

/* ---- rank 0 ---- */

static weft_status begin(saving *s)
{
    WEFT_TRY_NEW(s->buffer = weft_alloc(weft__checkpoint_most_bytes(s->c)));
    WEFT_TRY_NEW(s->writer = weft_snapshot_begin(s->c->path));
    WEFT_TRY(weft__facts_put(s->c, s->writer));
    return WEFT_OK;
}

static void put(saving *s, const char *path, const weft_tensor *x)
{
    if (s->failed == WEFT_OK)
        s->failed = weft_snapshot_put_tensor(s->writer, path, x);
}

static void commit(saving *s)
{
    weft_snapshot_writer *const writer = s->writer;

    s->writer = NULL;
    s->failed = weft_snapshot_commit(writer);
}

/* ---- all ranks ---- */

/* A tensor from its owner into the file. */
static weft_status move(void *context, const weft__kept_tensor *x)
{
    saving *const            s = context;
    weft_comm *const         comm = s->c->training->comm;
    const weft_tensor *const here = x->here;
    weft_tensor              passing = *x->like;
    weft_route               route = weft__checkpoint_route(s->c, x);

    if (s->c->rank == 0 && x->owner == 0) {
        put(s, x->path, here);
    } else if (s->c->rank == 0) {
        passing.data = s->buffer;
        WEFT_TRY(weft_comm_recv(comm, &route, 1, (weft_tensor *[]){ &passing }));
        put(s, x->path, &passing);
    } else if (s->c->rank == x->owner) {
        WEFT_TRY(weft_comm_send(comm, &route, 1, &here));
    }
    return WEFT_OK;
}

static weft_status save(saving *s)
{
    const bool writes = s->c->rank == 0;

    WEFT_TRY(weft__checkpoint_agree(s->c, writes ? begin(s) : WEFT_OK));
    WEFT_TRY(weft__checkpoint_each(s->c, move, s));
    if (writes && s->failed == WEFT_OK)
        commit(s);
    return weft__checkpoint_agree(s->c, s->failed);
}

static weft_status save_all(const weft__checkpoint *c)
{
    saving            s = { .c = c };
    const weft_status done = save(&s);

    weft_snapshot_abandon(s.writer);
    weft_free(s.buffer);
    return done;
}

/* Ranks that are a step apart have no common state to keep. */
static weft_status compare_steps(const weft__checkpoint *c)
{
    const weft__facts now = weft__facts_now(c->training);
    const weft__fact  fact[] = {
         { "the step", now.position.step },
         { "the epoch", now.position.epoch },
         { "the optimizer's number of steps", now.t },
    };
    return weft__checkpoint_compare(c, (int)(sizeof fact / sizeof *fact), fact);
}

weft_status weft_checkpoint_save(const weft_training *training, const char *path)
{
    weft__checkpoint c;
    weft_status      done = weft__checkpoint_begin(&c, training, path);

    if (done == WEFT_OK)
        done = compare_steps(&c);
    if (done == WEFT_OK)
        done = save_all(&c);
    weft__checkpoint_end(&c);
    return done;
}
