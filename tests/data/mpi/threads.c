/* Four threads a rank, each on a communicator of its own that it frees and makes again; each also ends and begins
 * again, so that its sums go on in another thread's. */
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>

enum { THREADS = 4, ROUNDS = 50 };

static MPI_Comm comms[THREADS];

static void *run(void *given)
{
    int rank, size, me = (int)(long)given;
    char out[64] = "", in[64];
    MPI_Comm_rank(comms[me], &rank);
    MPI_Comm_size(comms[me], &size);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request requests[2];
        MPI_Irecv(in, 64, MPI_CHAR, (rank + size - 1) % size, 0, comms[me], &requests[0]);
        MPI_Isend(out, 1 + me, MPI_CHAR, (rank + 1) % size, 0, comms[me], &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int level, rank;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (level < MPI_THREAD_MULTIPLE)
        return 77;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int time = 0; time < 3; time++) {
        pthread_t threads[THREADS];
        for (int i = 0; i < THREADS; i++)
            MPI_Comm_split(MPI_COMM_WORLD, 0, i % 2 ? -rank : rank, &comms[i]);
        for (long i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, run, (void *)i);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        for (int i = 0; i < THREADS; i++)
            MPI_Comm_free(&comms[i]);
    }
    MPI_Finalize();
    return 0;
}
