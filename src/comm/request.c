/* request.c -- a message in memory, described once to MPI and kept for the next
 * one with the same addresses.
 *
 * Header, tensors and the padding between them lie in different places; an MPI
 * type with absolute addresses gathers them, so that one MPI message carries them
 * and nothing is copied here. A tape's addresses repeat, so a steady step
 * finds all its types made.
 */
#include "comm/comm_impl.h"

#include <string.h>

/* ---- MPI types ------------------------------------------------------------- */

enum { MAX_BLOCKS = 1 + 2 * WEFT_MAX_PARTS };

/* The pieces of memory that make up bytes begin .. end - 1 of the message. */
typedef struct cut {
    int64_t  begin, end;
    int64_t  passed; /* bytes of the message looked at so far */
    int      n;
    int      length[MAX_BLOCKS];
    MPI_Aint at[MAX_BLOCKS];
} cut;

static weft_status pass(weft_comm *comm, const weft_request *m, cut *c, void *memory, int64_t bytes)
{
    const int64_t from = c->begin > c->passed ? c->begin - c->passed : 0;
    const int64_t left = c->end - c->passed;
    const int64_t to = left < bytes ? left : bytes;

    if (from < to) {
        c->length[c->n] = (int)(to - from);
        WEFT__TRY_MPI(comm, &m->op, MPI_Get_address((char *)memory + from, &c->at[c->n]));
        c->n++;
    }
    c->passed += bytes;
    return WEFT_OK;
}

static weft_status make_type(weft_comm *comm, weft_request *m, int64_t begin, int64_t end,
                             MPI_Datatype *type)
{
    cut c = { .begin = begin, .end = end };

    WEFT_TRY(pass(comm, m, &c, &m->header, weft__header_bytes(m->n)));
    for (int i = 0; i < m->n; i++) {
        WEFT_TRY(pass(comm, m, &c, m->padding[i], weft__aligned(c.passed) - c.passed));
        WEFT_TRY(pass(comm, m, &c, m->data[i], m->bytes[i]));
    }
    WEFT__TRY_MPI(comm, &m->op, MPI_Type_create_hindexed(c.n, c.length, c.at, MPI_BYTE, type));
    WEFT__TRY_MPI(comm, &m->op, MPI_Type_commit(type));
    return WEFT_OK;
}

/* One type if the tensors may travel with the header; else one for the header and
 * one for each chunk. */
static weft_status make_types(weft_comm *comm, weft_request *m)
{
    const int64_t header = weft__header_bytes(m->n), chunk = comm->chunk_bytes;

    WEFT_TRY(make_type(comm, m, 0, weft__request_first(m), &m->type[0]));
    for (int k = 1; k < m->messages; k++) {
        const int64_t begin = header + (k - 1) * chunk, end = header + m->data_bytes;
        WEFT_TRY(make_type(comm, m, begin, end - begin < chunk ? end : begin + chunk, &m->type[k]));
    }
    return WEFT_OK;
}

int64_t weft__request_first(const weft_request *message)
{
    return weft__header_bytes(message->n) + (message->messages > 1 ? 0 : message->data_bytes);
}

static void free_types(weft_request *m)
{
    for (int k = 0; k < m->messages; k++)
        if (m->type[k] != MPI_DATATYPE_NULL)
            MPI_Type_free(&m->type[k]);
    m->messages = 0;
}

/* ---- laying one out --------------------------------------------------------- */

static weft_status make_room(weft_request *m, int messages)
{
    if (messages <= m->room)
        return WEFT_OK;
    weft_free(m->type);
    weft_free(m->pending);
    m->room = 0;
    m->pending = NULL;
    WEFT_TRY_NEW(m->type = weft_alloc(messages * (int64_t)sizeof *m->type));
    WEFT_TRY_NEW(m->pending = weft_alloc(messages * (int64_t)sizeof *m->pending));
    m->room = messages;
    return WEFT_OK;
}

/* Make it one over these tensors, whatever it was before. */
static weft_status lay_out(weft_comm *comm, weft_request *m, const weft__operation *op, int n,
                           const weft_tensor *const *x)
{
    const int64_t bytes = weft__data_bytes(n, x), chunk = comm->chunk_bytes;
    const int64_t messages = bytes <= chunk ? 1 : 1 + (bytes + chunk - 1) / chunk;

    if (messages > INT32_MAX)
        return WEFT_FAIL(WEFT_E_ARG, "%s: %lld bytes in chunks of %lld",
                         weft__operation_text(op).at, (long long)bytes, (long long)chunk);
    free_types(m);
    WEFT_TRY(make_room(m, (int)messages));
    m->op = *op;
    m->n = n;
    for (int i = 0; i < n; i++) {
        m->data[i] = x[i]->data;
        m->bytes[i] = weft_tensor_bytes(x[i]);
    }
    m->data_bytes = bytes;
    m->messages = (int)messages;
    for (int k = 0; k < m->messages; k++) {
        m->type[k] = MPI_DATATYPE_NULL;
        m->pending[k] = MPI_REQUEST_NULL;
    }
    return make_types(comm, m);
}

/* ---- the shelves ------------------------------------------------------------- */

static weft_request **shelf_of(weft_comm *comm, int n, const weft_tensor *const *x)
{
    uint64_t hash = (uint64_t)n;
    for (int i = 0; i < n; i++)
        hash = (hash ^ (uintptr_t)x[i]->data ^ (uint64_t)x[i]->count << 40) * 0x9e3779b97f4a7c15U;
    return &comm->shelf[(hash >> 32) % WEFT__SHELVES];
}

static bool lies_over(const weft_request *m, int n, const weft_tensor *const *x)
{
    if (m->n != n)
        return false;
    for (int i = 0; i < n; i++)
        if (m->data[i] != x[i]->data || m->bytes[i] != weft_tensor_bytes(x[i]))
            return false;
    return true;
}

/* Take the idle one that was not used for longest from its shelf; NULL: none. */
static weft_request *take_oldest(weft_comm *comm)
{
    weft_request **oldest = NULL;
    for (int s = 0; s < WEFT__SHELVES; s++)
        for (weft_request **at = &comm->shelf[s]; *at != NULL; at = &(*at)->next)
            if (!(*at)->in_use && (oldest == NULL || (*at)->op.number < (*oldest)->op.number))
                oldest = at;

    weft_request *m = oldest != NULL ? *oldest : NULL;
    if (m != NULL)
        *oldest = m->next;
    return m;
}

static void end(weft_comm *comm, weft_request *m)
{
    free_types(m);
    weft_free(m->type);
    weft_free(m->pending);
    weft_free(m);
    comm->requests--;
}

/* One that can be laid out anew, on no shelf. */
static weft_request *find_blank(weft_comm *comm)
{
    weft_request *m = comm->requests < WEFT__KEPT_REQUESTS ? NULL : take_oldest(comm);
    if (m != NULL)
        return m;
    m = weft_alloc_zeroed((int64_t)sizeof *m);
    if (m != NULL)
        comm->requests++;
    return m;
}

static weft_request *make(weft_comm *comm, const weft__operation *op, int n,
                          const weft_tensor *const *x)
{
    weft_request *m = find_blank(comm);
    if (m == NULL)
        return NULL;
    if (lay_out(comm, m, op, n, x) != WEFT_OK) {
        end(comm, m);
        return NULL;
    }
    weft_request **shelf = shelf_of(comm, n, x);
    m->next = *shelf;
    *shelf = m;
    return m;
}

weft_request *weft__request_take(weft_comm *comm, const weft__operation *op, int n,
                                 const weft_tensor *const *x)
{
    weft_request *m = *shelf_of(comm, n, x);
    while (m != NULL && (m->in_use || !lies_over(m, n, x)))
        m = m->next;
    if (m == NULL)
        m = make(comm, op, n, x);
    if (m == NULL)
        return NULL;

    m->in_use = true;
    m->incoming = false;
    m->op = *op;
    weft__header_fill(&m->header, comm, op, n, x);
    return m;
}

void weft__request_give(weft_request *message)
{
    message->in_use = false;
}

/* ---- the end ------------------------------------------------------------------ */

/* Whether MPI has let go of its memory. A receive can be called back, a send not. */
static bool let_go(weft_request *m)
{
    int done = 1;
    for (int k = 0; k < m->messages && done; k++) {
        MPI_Test(&m->pending[k], &done, MPI_STATUS_IGNORE);
        if (!done && m->incoming) {
            MPI_Cancel(&m->pending[k]);
            MPI_Test(&m->pending[k], &done, MPI_STATUS_IGNORE);
        }
    }
    return done;
}

void weft__requests_end(weft_comm *comm)
{
    for (int s = 0; s < WEFT__SHELVES; s++) {
        while (comm->shelf[s] != NULL) {
            weft_request *m = comm->shelf[s];
            comm->shelf[s] = m->next;
            if (let_go(m))
                end(comm, m);
        }
    }
}
