/* What a message takes: to oneself (`self`), or back and forth between two ranks (`ping`). Prints nanoseconds a
 * send, the least of many batches: what else runs on the machine only adds. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { BATCHES = 5000, MESSAGES = 100 };

int main(int argc, char **argv)
{
    int rank;
    char out[8] = "", in[8];
    double least = 1e9;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int self = argc > 1 && !strcmp(argv[1], "self");
    for (int batch = 0; batch < BATCHES; batch++) {
        double start = MPI_Wtime();
        for (int i = 0; i < MESSAGES; i++)
            if (self) {
                MPI_Request request;
                MPI_Irecv(in, 8, MPI_CHAR, rank, 0, MPI_COMM_WORLD, &request);
                MPI_Send(out, 8, MPI_CHAR, rank, 0, MPI_COMM_WORLD);
                MPI_Wait(&request, MPI_STATUS_IGNORE);
            } else if (rank == 0) {
                MPI_Send(out, 8, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
                MPI_Recv(in, 8, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            } else {
                MPI_Recv(in, 8, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                MPI_Send(out, 8, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
            }
        /* A round trip has a send on each side. */
        double each = (MPI_Wtime() - start) / MESSAGES / (self ? 1 : 2);
        least = each < least ? each : least;
    }
    if (rank == 0)
        printf("%.3f\n", least * 1e9);
    MPI_Finalize();
    return 0;
}
