/* Two processes are spawned and merged with those that spawned them: of one communicator are ranks of the world, and
 * others. Each rank of the world sends 4 bytes to the next there, gets a message of any source from a spawned one, and
 * calls collectives with all. */
#include "own.h"

enum { SPAWNED = 2 };

int main(int argc, char **argv)
{
    MPI_Comm parent, others, all;
    MPI_Request request;
    int out[64] = {0}, in[64], counts[64], places[64], rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(WORLD, &me);
    MPI_Comm_size(WORLD, &ranks);
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL)
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, SPAWNED, MPI_INFO_NULL, 0, WORLD, &others, MPI_ERRCODES_IGNORE);
    else
        others = parent;
    MPI_Intercomm_merge(others, parent != MPI_COMM_NULL, &all);
    MPI_Comm_rank(all, &rank);
    MPI_Comm_size(all, &ranks);
    for (int i = 0; i < ranks; i++)
        counts[i] = 1, places[i] = i;
    if (parent == MPI_COMM_NULL) {
        int world = ranks - SPAWNED;
        MPI_Irecv(in, 1, MPI_INT, MPI_ANY_SOURCE, 1, all, &request);
        MPI_Sendrecv(out, 1, MPI_INT, (me + 1) % world, 0, in + 1, 1, MPI_INT, (me + world - 1) % world, 0, all,
                     MPI_STATUS_IGNORE);
        sends((me + 1) % world, 4);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (me == 0)
        for (int i = 0; i < ranks - SPAWNED; i++)
            MPI_Send(out, 1, MPI_INT, i, 1, all);
    MPI_Alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, all);
    MPI_Barrier(all);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&others);
    MPI_Finalize();
    return 0;
}
