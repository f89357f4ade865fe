/* Random programs: `random SEED` makes the same plan on every rank. In a step ranks send each other messages of random
 * sizes, by random calls, on random communicators, to receives of one or of any source; some receives are cancelled, some
 * steps are collectives. Seeds divisible by three do so in several threads at once, each with a tag of its own. */
#include "own.h"
#include <pthread.h>

enum { MOST = 40, STEPS = 30, THREADS = 3 };

static MPI_Comm comms[3];
static unsigned seed;
static int threaded;

static unsigned draw(unsigned *state, unsigned below)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % below;
}

static void finish(unsigned way, int n, MPI_Request *requests)
{
    int flag = 0, done, which, indices[2 * MOST], left = n;
    if (way == 0)
        MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    else if (way == 1)
        for (int i = n - 1; i >= 0; i--)
            MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    else if (way == 2)
        while (left > 0) {
            MPI_Waitsome(n, requests, &done, indices, MPI_STATUSES_IGNORE);
            left = done == MPI_UNDEFINED ? 0 : left - done;
        }
    else if (way == 3)
        while (left-- > 0)
            MPI_Waitany(n, requests, &which, MPI_STATUS_IGNORE);
    else
        while (!flag)
            MPI_Testall(n, requests, &flag, MPI_STATUSES_IGNORE);
}

static void *run(void *given)
{
    long thread = (long)given;
    unsigned plan = seed * 7919 + thread, mine = plan + 31 * me;
    static char out[20000], in[THREADS][2 * MOST][10000];
    for (int step = 0; step < STEPS; step++) {
        MPI_Comm comm = comms[draw(&plan, 3)];
        int rank, n = 1 + draw(&plan, MOST - 1), any = draw(&plan, 4) == 0, filled = 0, tag = thread * 4 + step % 2;
        unsigned way = draw(&plan, 5), world[64];
        MPI_Request requests[2 * MOST];
        MPI_Comm_rank(comm, &rank);
        /* The last communicator has the ranks the other way round. */
        for (int i = 0; i < ranks; i++)
            world[i] = comm == comms[2] ? ranks - 1 - i : i;
        if (draw(&plan, 3) == 0) {
            MPI_Request never;
            MPI_Irecv(in[thread][0], 10000, MPI_BYTE, any ? MPI_ANY_SOURCE : 0, thread * 4 + 2, comm, &never);
            MPI_Cancel(&never);
            MPI_Wait(&never, MPI_STATUS_IGNORE);
        }
        for (int turn = 0; turn < 2; turn++) {
            unsigned again = plan;
            for (int i = 0; i < n; i++) {
                int from = draw(&again, ranks), to = draw(&again, ranks), bytes = draw(&again, 9000);
                if (turn == 0 && to == rank)
                    MPI_Irecv(in[thread][filled], 10000, MPI_BYTE, any ? MPI_ANY_SOURCE : from, tag, comm,
                              &requests[filled]), filled++;
                if (turn == 1 && from == rank) {
                    unsigned call = draw(&mine, 3);
                    if (call == 0)
                        MPI_Send(out, bytes, MPI_BYTE, to, tag, comm);
                    else if (call == 1)
                        MPI_Isend(out, bytes, MPI_BYTE, to, tag, comm, &requests[filled]), filled++;
                    else
                        MPI_Issend(out, bytes, MPI_BYTE, to, tag, comm, &requests[filled]), filled++;
                    sends(world[to], bytes);
                }
            }
            if (turn == 1)
                plan = again;
        }
        finish(way, filled, requests);
        /* Receives of any source belong to one step. */
        if (!threaded && (any || draw(&plan, 4) == 0))
            MPI_Allreduce(out, in[thread][0], 10, MPI_INT, MPI_SUM, comm);
        else if (any) {
            char word = 0;
            for (int peer = 0; peer < ranks; peer++) {
                MPI_Request request;
                MPI_Isend(&word, 1, MPI_BYTE, peer, thread * 4 + 3, comm, &request);
                sends(world[peer], 1);
                MPI_Request_free(&request);
            }
            for (int peer = 0; peer < ranks; peer++)
                MPI_Recv(in[thread][0], 1, MPI_BYTE, peer, thread * 4 + 3, comm, MPI_STATUS_IGNORE);
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int level;
    seed = atoi(argv[1]);
    threaded = seed % 3 == 0;
    MPI_Init_thread(&argc, &argv, threaded ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(WORLD, &me);
    MPI_Comm_size(WORLD, &ranks);
    comms[0] = WORLD;
    MPI_Comm_dup(WORLD, &comms[1]);
    MPI_Comm_split(WORLD, 0, -me, &comms[2]);
    if (threaded) {
        pthread_t threads[THREADS];
        for (long i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, run, (void *)i);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
    } else
        run(NULL);
    tell();
    MPI_Finalize();
    return 0;
}
