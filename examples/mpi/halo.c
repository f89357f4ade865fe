/* A halo on a periodic ring of ranks and its chords: nonblocking messages of several sizes and of a derived type,
 * on the world and on a duplicate of it. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm twin;
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    /* A column of a matrix: every 16th double, 100 of them, with holes between. */
    MPI_Datatype column;
    MPI_Type_vector(100, 1, 16, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    double *out = calloc(20000, sizeof(double)), *in = calloc(80000, sizeof(double));
    for (int step = 0; step < 20; step++) {
        MPI_Request requests[8];
        int right = (rank + 1) % size, left = (rank + size - 1) % size, far = (rank + 2) % size;
        int from_far = (rank + size - 2) % size;
        MPI_Irecv(in, 4000, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(in + 4000, 20000, MPI_DOUBLE, right, 2, twin, &requests[1]);
        MPI_Irecv(in + 24000, 2, column, from_far, 3, MPI_COMM_WORLD, &requests[2]);
        MPI_Irecv(in + 40000, 0, MPI_BYTE, left, 4, MPI_COMM_WORLD, &requests[3]);
        MPI_Isend(out, 100 + step, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[4]);
        MPI_Isend(out, 10000 + rank, MPI_DOUBLE, left, 2, twin, &requests[5]);
        MPI_Issend(out, 2, column, far, 3, MPI_COMM_WORLD, &requests[6]);
        MPI_Isend(out, 0, MPI_BYTE, right, 4, MPI_COMM_WORLD, &requests[7]);
        MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Type_free(&column);
    MPI_Comm_free(&twin);
    MPI_Finalize();
    return 0;
}
