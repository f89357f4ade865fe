/* Communicators of some ranks, in another order, made and freed again and again; an intercommunicator, whose peers
 * are of the other side; collectives of all of them; puts and gets.
 *
 * The intercommunicator's leaders are the first and the last rank, which send each other nothing else: Open MPI's
 * monitoring counts what they say while it is made among the program's own messages. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, me, n;
    static double out[4096], in[4096];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm half;
    /* Even and odd ranks, the last first: handles are used again. */
    for (int round = 0; round < 5; round++) {
        MPI_Comm_split(MPI_COMM_WORLD, round % 2 ? rank % 2 : rank < size / 2, -rank, &half);
        MPI_Comm_rank(half, &me);
        MPI_Comm_size(half, &n);
        MPI_Sendrecv(out, 10 + round, MPI_DOUBLE, (me + 1) % n, 0, in, 4096, MPI_DOUBLE, (me + n - 1) % n, 0, half,
                     MPI_STATUS_IGNORE);
        MPI_Comm_free(&half);
    }
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Comm_rank(half, &me);
    MPI_Comm_size(half, &n);
    MPI_Comm across;
    /* `size` is even: the last rank is odd. */
    MPI_Intercomm_create(half, rank % 2 ? n - 1 : 0, MPI_COMM_WORLD, rank % 2 ? 0 : size - 1, 77, &across);
    MPI_Sendrecv(out, 100 + rank, MPI_DOUBLE, me, 5, in, 4096, MPI_DOUBLE, me, 5, across, MPI_STATUS_IGNORE);
    MPI_Bcast(out, 50, MPI_DOUBLE, rank % 2 ? 0 : me ? MPI_PROC_NULL : MPI_ROOT, across);
    MPI_Comm_free(&across);
    MPI_Allreduce(MPI_IN_PLACE, out, 8, MPI_DOUBLE, MPI_SUM, half);
    MPI_Allgather(out, 3, MPI_DOUBLE, in, 3, MPI_DOUBLE, MPI_COMM_WORLD);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, 2, MPI_DOUBLE, MPI_COMM_WORLD);
    MPI_Gather(out, 4, MPI_DOUBLE, in, 4, MPI_DOUBLE, 1, MPI_COMM_WORLD);
    MPI_Request request;
    MPI_Ibcast(out, 1000, MPI_FLOAT, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&half);
    MPI_Win window;
    MPI_Win_create(in, sizeof in, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    MPI_Put(out, 12, MPI_DOUBLE, (rank + 1) % size, 0, 12, MPI_DOUBLE, window);
    MPI_Win_fence(0, window);
    MPI_Get(out, 5, MPI_DOUBLE, (rank + 2) % size, 0, 5, MPI_DOUBLE, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
