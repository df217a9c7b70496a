/* crossing.c -- let a computation cross from one rank to another, and its gradient
 * come back the same way.
 *
 * A message is the identity function with its two ends on two ranks, so its
 * derivative is the identity too: where forward sends, backward receives, and the
 * other way round. Tapes play back strictly in reverse, so when the forward
 * messages of two ranks meet, their backward messages do.
 */
#include "parallel/crossing.h"
#include "autograd/tape_impl.h"

#include <string.h>

/* What a node of either kind keeps. */
typedef struct crossing {
    weft_comm     *comm;
    weft__ways     ways;
    weft__part_set gradients; /* of node->in where it sends, of node->out where it receives */
    weft_request  *sent;      /* values or gradients; NULL: nothing on its way */
} crossing;

static bool has(weft__part_set set, int part)
{
    return (set >> part & 1U) != 0;
}

weft__ways weft__ways_of(const weft_tape *tape, int peer, int edge, const char *there_label,
                         const char *back_label)
{
    weft__ways ways = { .there = { .peer = peer,
                                   .edge = edge,
                                   .mode = (int)weft_tape_mode(tape),
                                   .label = there_label } };
    ways.back = ways.there;
    ways.back.backward = true;
    ways.back.label = back_label;
    return ways;
}

/* ---- what was sent must leave before its memory does ------------------------------- */

static weft_status finish(const weft_node *node)
{
    crossing *c = node->state;
    if (c == NULL || c->sent == NULL)
        return WEFT_OK;
    WEFT_TRY(weft_comm_wait(c->comm, c->sent));
    c->sent = NULL;
    return WEFT_OK;
}

/* ---- the node that sends --------------------------------------------------------------- */

/* Where the gradient of part i goes: also one that nobody here wants arrives. */
static weft_tensor *place_of(const weft_node *node, int i)
{
    if (node->gin[i] != NULL)
        return node->gin[i];
    weft_tensor *unwanted = weft_tape_take(node->tape, (int64_t)sizeof *unwanted);
    if (unwanted == NULL)
        return NULL;
    *unwanted = node->in[i]->grad;
    return weft__tensor_take(node->tape->arena, unwanted) == WEFT_OK ? unwanted : NULL;
}

static weft_status send_backward(const weft_node *node)
{
    const crossing *c = node->state;
    weft_tensor    *gx[WEFT_MAX_PARTS];
    int             n = 0;

    for (int i = 0; i < node->n_in; i++)
        if (has(c->gradients, i))
            WEFT_TRY_NEW(gx[n++] = place_of(node, i));
    return n > 0 ? weft_comm_recv(c->comm, &c->ways.back, n, gx) : WEFT_OK;
}

static const weft_op send_op = {
    .name = "send", .backward = send_backward, .finish = finish, .remote = true
};

static weft_status check_gradients(weft_vars x, const weft__ways *ways, weft__part_set gradients)
{
    for (int i = 0; i < x.n; i++)
        if (x.at[i]->needs_grad && !has(gradients, i))
            return WEFT_FAIL(WEFT_E_STATE,
                             "%s: part %d needs a gradient, of which the plan does not know",
                             ways->there.label, i);
    return WEFT_OK;
}

static weft_status start(weft_tape *tape, crossing c, weft_vars x, weft_var *delegate)
{
    const weft_tensor *value[WEFT_MAX_PARTS];
    const weft_node   *node;

    WEFT_TRY(check_gradients(x, &c.ways, c.gradients));
    for (int i = 0; i < x.n; i++)
        value[i] = &x.at[i]->value;
    WEFT_TRY_NEW(node = weft_record(tape, &send_op, x, weft_one(delegate), sizeof c));
    memcpy(node->state, &c, sizeof c);

    crossing *kept = node->state;
    kept->sent = weft_comm_send_start(c.comm, &c.ways.there, x.n, value);
    if (kept->sent == NULL)
        kept->gradients = 0; /* none will come */
    return kept->sent == NULL ? weft_error_status() : WEFT_OK;
}

weft_var *weft__delegate(weft_tape *tape)
{
    return weft_variable(tape, WEFT_F32, 1, (int64_t[]){ 0 }, false);
}

weft_var *weft__cross_send(weft_comm *comm, weft_tape *tape, weft_vars x, const weft__ways *ways,
                           weft__part_set gradients)
{
    const crossing c = { .comm = comm, .ways = *ways, .gradients = gradients };
    weft_var      *delegate = weft__delegate(tape);

    if (delegate == NULL || start(tape, c, x, delegate) != WEFT_OK)
        return NULL;
    return delegate;
}

/* ---- the node that receives ------------------------------------------------------------- */

static weft_status fill_with_zeros(weft_tape *tape, weft_tensor *x)
{
    if (x->data == NULL)
        WEFT_TRY(weft__tensor_take(tape->arena, x));
    memset(x->data, 0, (size_t)weft_tensor_bytes(x));
    return WEFT_OK;
}

static weft_status recv_backward(const weft_node *node)
{
    crossing          *c = node->state;
    const weft_tensor *gy[WEFT_MAX_PARTS];
    int                n = 0;

    for (int j = 0; j < node->n_out; j++) {
        weft_var *y = node->out[j];
        if (!has(c->gradients, j))
            continue;
        if (!y->has_grad)
            WEFT_TRY(fill_with_zeros(node->tape, &y->grad));
        gy[n++] = &y->grad;
    }
    for (int i = 0; i < node->n_in; i++) /* the delegate, if any */
        if (node->gin[i] != NULL)
            WEFT_TRY(fill_with_zeros(node->tape, node->gin[i]));
    if (n > 0)
        WEFT_TRY_NEW(c->sent = weft_comm_send_start(c->comm, &c->ways.back, n, gy));
    return WEFT_OK;
}

static const weft_op recv_op = {
    .name = "recv", .backward = recv_backward, .finish = finish, .remote = true
};

/* Record y, which has arrived. */
static weft_status arrive(weft_tape *tape, crossing c, weft_vars delegates, weft_vars y)
{
    const weft_node *node;

    for (int j = 0; j < y.n; j++)
        if (y.at[j]->needs_grad)
            c.gradients |= 1U << j;
    WEFT_TRY_NEW(node = weft_record(tape, &recv_op, delegates, y, sizeof c));
    memcpy(node->state, &c, sizeof c);
    return WEFT_OK;
}

/* ---- what comes, as the peer sends it ----------------------------------------------- */

static void *take(void *tape, int64_t bytes)
{
    return weft_tape_take(tape, bytes);
}

static weft_status recv_any(weft_tape *tape, const crossing *c, weft_vars *y)
{
    weft_tensor value[WEFT_MAX_PARTS];
    int         n;

    WEFT_TRY(weft_comm_recv_any(c->comm, &c->ways.there, take, tape, &n, value));
    for (; y->n < n; y->n++) {
        weft_var *v;
        WEFT_TRY_NEW(v = weft_input(tape, &value[y->n]));
        v->needs_grad = weft_tape_mode(tape) == WEFT_TRAIN && weft_dtype_is_real(v->value.dtype);
        y->at[y->n] = v;
    }
    return WEFT_OK;
}

/* ---- what comes, as planned: straight into place ------------------------------------ */

static weft_status recv_parts(weft_tape *tape, const crossing *c, const weft__plan_parts *parts,
                              weft_vars *y)
{
    weft_tensor *value[WEFT_MAX_PARTS];

    for (; y->n < parts->n; y->n++) {
        const weft__plan_part *p = &parts->at[y->n];
        weft_var              *v;
        WEFT_TRY_NEW(v = weft_variable(tape, p->dtype, p->ndim, p->shape, p->has_gradient));
        y->at[y->n] = v;
        value[y->n] = &v->value;
    }
    return weft_comm_recv(c->comm, &c->ways.there, y->n, value);
}

static weft_status receive(weft_tape *tape, const crossing *c, const weft__plan_parts *parts,
                           weft_vars delegates, weft_vars *y)
{
    if (parts != NULL)
        WEFT_TRY(recv_parts(tape, c, parts, y));
    else
        WEFT_TRY(recv_any(tape, c, y));
    return arrive(tape, *c, delegates, *y);
}

weft_vars weft__cross_recv(weft_comm *comm, weft_tape *tape, const weft__ways *ways,
                           const weft__plan_parts *parts, weft_vars delegates)
{
    const crossing c = { .comm = comm, .ways = *ways };
    weft_vars      y = { 0 };
    return receive(tape, &c, parts, delegates, &y) == WEFT_OK ? y : weft_one(NULL);
}

/* ---- how far a tape is ----------------------------------------------------------------- */

int weft__crossings(const weft_tape *tape, bool sends, const weft_comm *comm, int peer)
{
    for (const weft__entry *e = tape->last; e != NULL; e = e->before) {
        const crossing *c = e->node.state;
        if (e->node.op == (sends ? &send_op : &recv_op) && c->comm == comm &&
            c->ways.there.peer == peer)
            return c->ways.there.edge + 1;
    }
    return 0;
}
