/* A ring of persistent requests, started one by one and all at once; a request that is freed, and its handle used
 * again. Names of PMPI_ are called too, as Fortran's bindings do.
 *
 * With -DPLAIN the same messages are sent without persistent requests, which Open MPI's monitoring does not see. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size;
    static char out[5000], in[5000];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int length = 1; length <= 5000; length *= 17) {
        MPI_Request both[2];
#ifdef PLAIN
        for (int step = 0; step < 8; step++) {
            MPI_Irecv(in, 5000, MPI_CHAR, left, 0, MPI_COMM_WORLD, &both[0]);
            MPI_Isend(out, length, MPI_CHAR, right, 0, MPI_COMM_WORLD, &both[1]);
            MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
        }
        MPI_Isend(out, 2 * length / 3, MPI_CHAR, left, 1, MPI_COMM_WORLD, &both[0]);
        MPI_Irecv(in, 5000, MPI_CHAR, right, 1, MPI_COMM_WORLD, &both[1]);
        MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
#else
        MPI_Recv_init(in, 5000, MPI_CHAR, left, 0, MPI_COMM_WORLD, &both[0]);
        MPI_Send_init(out, length, MPI_CHAR, right, 0, MPI_COMM_WORLD, &both[1]);
        for (int step = 0; step < 5; step++) {
            MPI_Startall(2, both);
            MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
        }
        for (int step = 0; step < 3; step++) {
            PMPI_Start(&both[0]);
            PMPI_Start(&both[1]);
            MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
        }
        MPI_Request_free(&both[0]);
        MPI_Request_free(&both[1]);
        /* The other way round. */
        MPI_Send_init(out, 2 * length / 3, MPI_CHAR, left, 1, MPI_COMM_WORLD, &both[0]);
        MPI_Recv_init(in, 5000, MPI_CHAR, right, 1, MPI_COMM_WORLD, &both[1]);
        MPI_Startall(2, both);
        MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
        MPI_Request_free(&both[0]);
        MPI_Request_free(&both[1]);
#endif
    }
    MPI_Finalize();
    return 0;
}
