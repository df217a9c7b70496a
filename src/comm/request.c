/* request.c -- a message in memory, described once to MPI and kept for the next
 * one with the same addresses.
 *
 * Header, tensors and the padding between them lie in different places; an MPI
 * type with absolute addresses gathers them, so that one MPI message carries a short
 * message and nothing is copied here. A tape's addresses repeat, so a steady step
 * finds all its types made.
 */
#include "comm/comm_impl.h"

#include <string.h>

/* ---- the MPI type of the first message --------------------------------------- */

typedef struct blocks {
    int      n;
    int      length[1 + 2 * WEFT_MAX_PARTS];
    MPI_Aint at[1 + 2 * WEFT_MAX_PARTS];
    int64_t  bytes; /* in all */
} blocks;

static weft_status put(weft_comm *comm, const weft_request *m, blocks *b, void *memory,
                       int64_t bytes)
{
    if (bytes > 0) {
        b->length[b->n] = (int)bytes;
        WEFT__TRY_MPI(comm, &m->op, MPI_Get_address(memory, &b->at[b->n]));
        b->n++;
        b->bytes += bytes;
    }
    return WEFT_OK;
}

static weft_status make_type(weft_comm *comm, weft_request *m, bool with_data)
{
    blocks b = { 0 };

    WEFT_TRY(put(comm, m, &b, &m->header, weft__header_bytes(m->n)));
    for (int i = 0; i < m->n && with_data; i++) {
        WEFT_TRY(put(comm, m, &b, m->padding[i], weft__aligned(b.bytes) - b.bytes));
        WEFT_TRY(put(comm, m, &b, m->data[i], m->bytes[i]));
    }
    m->first_bytes = b.bytes;
    WEFT__TRY_MPI(comm, &m->op, MPI_Type_create_hindexed(b.n, b.length, b.at, MPI_BYTE, &m->type));
    WEFT__TRY_MPI(comm, &m->op, MPI_Type_commit(&m->type));
    return WEFT_OK;
}

/* ---- laying one out ------------------------------------------------------------ */

static weft_status make_room(weft_request *m, int messages)
{
    if (messages > m->room) {
        weft_free(m->pending);
        m->room = 0;
        WEFT_TRY_NEW(m->pending = weft_alloc(messages * (int64_t)sizeof *m->pending));
        m->room = messages;
    }
    m->messages = messages;
    for (int k = 0; k < messages; k++)
        m->pending[k] = MPI_REQUEST_NULL;
    return WEFT_OK;
}

static int64_t count_messages(const weft_comm *comm, const weft_request *m, bool with_data)
{
    int64_t messages = 1;
    for (int i = 0; i < m->n && !with_data; i++)
        messages += (m->bytes[i] + comm->chunk_bytes - 1) / comm->chunk_bytes;
    return messages;
}

static void free_type(weft_request *m)
{
    if (m->type != MPI_DATATYPE_NULL)
        MPI_Type_free(&m->type);
}

/* Make it one over these tensors, whatever it was before. */
static weft_status lay_out(weft_comm *comm, weft_request *m, const weft__operation *op, int n,
                           const weft_tensor *const *x)
{
    const bool with_data = weft__is_short(comm, weft__data_bytes(n, x));

    free_type(m);
    m->op = *op;
    m->n = n;
    for (int i = 0; i < n; i++) {
        m->data[i] = x[i]->data;
        m->bytes[i] = weft_tensor_bytes(x[i]);
    }
    const int64_t messages = count_messages(comm, m, with_data);
    if (messages > INT32_MAX)
        return WEFT_FAIL(WEFT_E_ARG, "%s: %lld pieces of %lld bytes", weft__operation_text(op).at,
                         (long long)messages, (long long)comm->chunk_bytes);
    WEFT_TRY(make_room(m, (int)messages));
    return make_type(comm, m, with_data);
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
    free_type(m);
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
    if (m == NULL)
        return NULL;
    m->type = MPI_DATATYPE_NULL;
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
