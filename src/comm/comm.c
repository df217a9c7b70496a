/* comm.c -- groups of ranks: made, split, asked, ended. */
#include "comm/comm_impl.h"

#include <string.h>

enum { CHUNK_MOST = 1 << 30 };

/* ---- making ---------------------------------------------------------------- */

static weft_status check_mpi(MPI_Comm mpi)
{
    int begun, ended, between = 0;
    MPI_Initialized(&begun);
    MPI_Finalized(&ended);

    if (!begun || ended)
        return WEFT_FAIL(WEFT_E_STATE, "a communicator %s",
                         ended ? "after MPI_Finalize()" : "before MPI_Init()");
    if (mpi != MPI_COMM_NULL)
        MPI_Comm_test_inter(mpi, &between);
    if (mpi == MPI_COMM_NULL || between)
        return WEFT_FAIL(WEFT_E_ARG, "a communicator over %s",
                         between ? "MPI's kind between two groups" : "MPI_COMM_NULL");
    return WEFT_OK;
}

static weft_status choose_options(const weft_comm_options *options, weft_comm_options *chosen)
{
    *chosen = options != NULL ? *options : (weft_comm_options){ 0 };
    if (chosen->chunk_bytes == 0)
        chosen->chunk_bytes = CHUNK_MOST;
    if (chosen->chunk_bytes < 1 || chosen->chunk_bytes > CHUNK_MOST)
        return WEFT_FAIL(WEFT_E_ARG, "chunks of %lld bytes; there may be 1 to %d",
                         (long long)chosen->chunk_bytes, CHUNK_MOST);
    return weft__deadline_choose(chosen->deadline, &chosen->deadline);
}

static weft_status make_tables(weft_comm *comm)
{
    const int64_t ranks = comm->size;
    WEFT_TRY_NEW(comm->give = weft_alloc_zeroed(ranks * (int64_t)sizeof *comm->give));
    WEFT_TRY_NEW(comm->get = weft_alloc_zeroed(ranks * (int64_t)sizeof *comm->get));
    WEFT_TRY_NEW(comm->sent = weft_alloc_zeroed(ranks * (int64_t)sizeof *comm->sent));
    return WEFT_OK;
}

char *weft__scratch(weft_comm *comm, int64_t bytes)
{
    if (bytes <= comm->scratch_bytes)
        return comm->scratch;
    weft_free(comm->scratch);
    comm->scratch = weft_alloc(bytes);
    comm->scratch_bytes = comm->scratch != NULL ? bytes : 0;
    return comm->scratch;
}

/* Free what is this rank's alone. */
static void end_here(weft_comm *comm)
{
    weft_free(comm->give);
    weft_free(comm->get);
    weft_free(comm->sent);
    if (comm->broken.at[0] == '\0') {
        weft_free(comm->scratch);
        weft_free(comm);
    }
}

/* One without an MPI communicator yet. */
static weft_comm *make_blank(int rank, int size, const weft_comm_options *options)
{
    weft_comm *comm = weft_alloc_zeroed((int64_t)sizeof *comm);
    if (comm == NULL)
        return NULL;
    comm->mpi = MPI_COMM_NULL;
    comm->rank = rank;
    comm->size = size;
    comm->deadline = options->deadline;
    comm->chunk_bytes = options->chunk_bytes;
    if (make_tables(comm) != WEFT_OK) {
        end_here(comm);
        return NULL;
    }
    return comm;
}

static weft_status connect(weft_comm *comm, MPI_Comm mpi)
{
    const weft__operation op = weft__collective(WEFT__CREATE, NULL, NULL);
    MPI_Request           request;

    WEFT__TRY_MPI(comm, &op, MPI_Comm_idup(mpi, &comm->mpi, &request));
    WEFT_TRY(weft__wait_request(comm, &op, &request));
    WEFT__TRY_MPI(comm, &op, MPI_Comm_set_errhandler(comm->mpi, MPI_ERRORS_RETURN));
    return WEFT_OK;
}

weft_comm *weft_comm_create(MPI_Comm mpi, const weft_comm_options *options)
{
    weft_comm_options chosen;
    int               rank, size;

    if (check_mpi(mpi) != WEFT_OK || choose_options(options, &chosen) != WEFT_OK)
        return NULL;
    MPI_Comm_rank(mpi, &rank);
    MPI_Comm_size(mpi, &size);

    weft_comm *comm = make_blank(rank, size, &chosen);
    if (comm != NULL && connect(comm, mpi) != WEFT_OK) {
        end_here(comm);
        return NULL;
    }
    return comm;
}

/* ---- splitting ---------------------------------------------------------------- */

/* MPI_Comm_split() has no form that can be waited for with a deadline, so all ranks
 * meet before it. */
static weft_status split(weft_comm *comm, int color, int key, MPI_Comm *part)
{
    weft__operation op = weft__collective(WEFT__SPLIT, NULL, NULL);

    WEFT_TRY(weft__check_comm(comm, &op));
    WEFT_TRY(weft__begin(comm, &op));
    WEFT_TRY(weft__meet(comm, &op));
    op.route.peer = WEFT__NOBODY;
    WEFT__TRY_MPI(comm, &op,
                  MPI_Comm_split(comm->mpi, color < 0 ? MPI_UNDEFINED : color, key, part));
    if (*part != MPI_COMM_NULL)
        WEFT__TRY_MPI(comm, &op, MPI_Comm_set_errhandler(*part, MPI_ERRORS_RETURN));
    return WEFT_OK;
}

weft_comm *weft_comm_split(weft_comm *comm, int color, int key)
{
    MPI_Comm mpi = MPI_COMM_NULL;
    int      rank, size;

    if (split(comm, color, key, &mpi) != WEFT_OK)
        return NULL;
    if (mpi == MPI_COMM_NULL) {
        weft_error_clear();
        return NULL;
    }
    MPI_Comm_rank(mpi, &rank);
    MPI_Comm_size(mpi, &size);

    const weft_comm_options same = { .deadline = comm->deadline, .chunk_bytes = comm->chunk_bytes };
    weft_comm              *part = make_blank(rank, size, &same);
    if (part != NULL)
        part->mpi = mpi;
    return part;
}

/* ---- ending --------------------------------------------------------------------- */

/* All ranks meet, so that no message is on its way any more; a rank that does not
 * come is waited for as long as for anything else, and the MPI communicator then
 * stays. */
static weft_status leave(weft_comm *comm)
{
    weft__operation op = weft__collective(WEFT__BARRIER, NULL, "end of the communicator");

    op.number = comm->traffic.operations + 1;
    op.collective = comm->traffic.collectives + 1;
    WEFT_TRY(weft__meet(comm, &op));
    WEFT__TRY_MPI(comm, &op, MPI_Comm_free(&comm->mpi));
    return WEFT_OK;
}

void weft_comm_destroy(weft_comm *comm)
{
    int ended;

    if (comm == NULL)
        return;
    MPI_Finalized(&ended);
    if (!ended && comm->broken.at[0] == '\0' && leave(comm) != WEFT_OK)
        weft_log(WEFT_LOG_WARN, "%s", weft_error_message());
    if (!ended)
        weft__requests_end(comm);
    end_here(comm);
}

/* ---- asking --------------------------------------------------------------------- */

int weft_comm_rank(const weft_comm *comm)
{
    return comm->rank;
}

int weft_comm_size(const weft_comm *comm)
{
    return comm->size;
}

weft_traffic weft_comm_traffic(const weft_comm *comm)
{
    return comm->traffic;
}

/* Open MPI and Intel end the name with a comma or a line, MPICH has a tab in it. */
const char *weft_mpi_version(void)
{
    static _Thread_local char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int                       length;

    if (MPI_Get_library_version(text, &length) != MPI_SUCCESS)
        return "an unknown MPI";
    text[strcspn(text, ",\n")] = '\0';
    for (char *tab = text; (tab = strchr(tab, '\t')) != NULL;)
        *tab = ' ';
    return text;
}
