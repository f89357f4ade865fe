/* Sendrecv along an open chain (MPI_PROC_NULL at its ends), a farm with wildcard receives, buffered and synchronous
 * sends, messages to oneself. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size;
    static int out[3000], in[3000];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int up = rank + 1 < size ? rank + 1 : MPI_PROC_NULL, down = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    for (int step = 1; step <= 10; step++) {
        MPI_Sendrecv(out, 100 * step, MPI_INT, up, 0, in, 3000, MPI_INT, down, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv_replace(out, 7, MPI_INT, down, 1, up, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (rank == 0) {
        for (int i = 0; i < 3 * (size - 1); i++) {
            MPI_Status status;
            MPI_Recv(in, 3000, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            MPI_Ssend(out, 1 + status.MPI_TAG, MPI_INT, status.MPI_SOURCE, 9, MPI_COMM_WORLD);
        }
    } else {
        for (int i = 0; i < 3; i++) {
            MPI_Send(out, 10 * rank + i, MPI_INT, 0, rank, MPI_COMM_WORLD);
            MPI_Recv(in, 3000, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    int bytes = 3000 * sizeof(int) + MPI_BSEND_OVERHEAD;
    char *buffer = malloc(bytes);
    MPI_Buffer_attach(buffer, bytes);
    MPI_Bsend(out, 11, MPI_INT, rank, 3, MPI_COMM_WORLD);
    MPI_Recv(in, 11, MPI_INT, rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Buffer_detach(&buffer, &bytes);
    free(buffer);
    MPI_Finalize();
    return 0;
}
