/* Communicators of the same members: two of each that a function makes, with messages that cross. `contexts kinds`:
 * rank 1 receives 4000 bytes of the first and then 4 of the second, which rank 0 sends the other way round.
 * `contexts threads`: a thread of each rank answers on a duplicate of the world, with the tag of the question;
 * `contexts copies`: each thread has a duplicate of its own, all with the same tags; `contexts handed`: one waits
 * in its first call until another has ended; `contexts probed`: all threads find messages of one tag, whose handles
 * go from one to another. */
#include "own.h"
#include <pthread.h>

enum { LARGE = 1000, THREADS = 3, ROUNDS = 20 };

/* `make` is the call of a function that fills `made`. */
#define CROSS(make)                                                                                              \
    do {                                                                                                         \
        MPI_Comm both[2], *made;                                                                                 \
        made = &both[0];                                                                                         \
        make;                                                                                                    \
        made = &both[1];                                                                                         \
        make;                                                                                                    \
        cross(both[0], both[1]);                                                                                 \
        MPI_Comm_free(&both[0]);                                                                                 \
        MPI_Comm_free(&both[1]);                                                                                 \
    } while (0)

static int out[LARGE], in[THREADS + 1][LARGE], one;

static void cross(MPI_Comm first, MPI_Comm second)
{
    MPI_Request requests[2];
    int inter, peer = !me;
    MPI_Comm_test_inter(first, &inter);
    peer = inter ? 0 : peer;
    if (me == 1) {
        MPI_Irecv(in[0], LARGE, MPI_INT, peer, 0, first, &requests[0]);
        MPI_Irecv(&one, 1, MPI_INT, peer, 0, second, &requests[1]);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        MPI_Send(out, 0, MPI_INT, 0, 7, WORLD);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    } else {
        MPI_Send(out, 1, MPI_INT, peer, 0, second);
        MPI_Recv(&one, 0, MPI_INT, 1, 7, WORLD, MPI_STATUS_IGNORE);
        MPI_Send(out, LARGE, MPI_INT, peer, 0, first);
    }
}

static void kinds(void)
{
    int size[1] = {2}, no[1] = {0}, yes[1] = {1}, index[2] = {1, 2}, edges[2] = {1, 0}, other[1] = {!me}, weight[1] = {1};
    MPI_Group group;
    MPI_Request request, started[2];
    MPI_Comm grid, self, across;
    int side = me, degree[1] = {1};
    MPI_Comm_group(WORLD, &group);
    MPI_Cart_create(WORLD, 1, size, no, 0, &grid);
    CROSS(MPI_Comm_dup(WORLD, made));
    CROSS(MPI_Comm_dup_with_info(WORLD, MPI_INFO_NULL, made));
    CROSS(MPI_Comm_idup(WORLD, made, &request); MPI_Wait(&request, MPI_STATUS_IGNORE));
    CROSS(MPI_Comm_create(WORLD, group, made));
    CROSS(MPI_Comm_create_group(WORLD, group, 5, made));
    CROSS(MPI_Comm_split(WORLD, 0, me, made));
    CROSS(MPI_Comm_split_type(WORLD, MPI_COMM_TYPE_SHARED, me, MPI_INFO_NULL, made));
    CROSS(MPI_Cart_create(WORLD, 1, size, no, 0, made));
    CROSS(MPI_Cart_sub(grid, yes, made));
    CROSS(MPI_Graph_create(WORLD, 2, index, edges, 0, made));
    CROSS(MPI_Dist_graph_create(WORLD, 1, &side, degree, other, weight, MPI_INFO_NULL, 0, made));
    CROSS(MPI_Dist_graph_create_adjacent(WORLD, 1, other, weight, 1, other, weight, MPI_INFO_NULL, 0, made));
    /* Only one of them has made a communicator of itself before. */
    if (me == 1) {
        MPI_Comm_dup(MPI_COMM_SELF, &self);
        MPI_Comm_free(&self);
    }
    CROSS(MPI_Intercomm_create(MPI_COMM_SELF, 0, WORLD, !me, 3, made));
    MPI_Intercomm_create(MPI_COMM_SELF, 0, WORLD, !me, 3, &across);
    CROSS(MPI_Comm_dup(across, made));
    CROSS(MPI_Intercomm_merge(across, me, made));
    MPI_Comm_free(&across);
    /* Each rank begins and awaits these in another order; both go from rank 0 to rank 1. */
    for (int i = 0; i < 2; i++)
        if (me == i)
            MPI_Ibcast(out, 9, MPI_INT, 0, WORLD, &started[i]);
        else
            MPI_Ireduce(out, in[0], 9, MPI_INT, MPI_SUM, 1, grid, &started[i]);
    MPI_Wait(&started[0], MPI_STATUS_IGNORE);
    MPI_Wait(&started[1], MPI_STATUS_IGNORE);
    MPI_Barrier(grid);
    MPI_Comm_free(&grid);
    MPI_Group_free(&group);
}

static void *answer(void *given)
{
    MPI_Status status;
    for (;;) {
        MPI_Recv(&one, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, *(MPI_Comm *)given, &status);
        if (status.MPI_TAG == 99)
            return NULL;
        MPI_Send(out, 1, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, WORLD);
    }
}

static void answered(void)
{
    MPI_Comm copy;
    MPI_Comm_dup(WORLD, &copy);
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t thread;
        pthread_create(&thread, NULL, answer, &copy);
        MPI_Send(out, 1, MPI_INT, (me + 1) % ranks, 1, copy);
        MPI_Recv(in[0], 1, MPI_INT, (me + 1) % ranks, 1, WORLD, MPI_STATUS_IGNORE);
        MPI_Barrier(WORLD);
        MPI_Send(out, 0, MPI_INT, me, 99, copy);
        pthread_join(thread, NULL);
    }
    MPI_Comm_free(&copy);
}

static MPI_Comm copies[THREADS + 1];

static void *ring(void *given)
{
    long which = (long)given;
    for (int i = 0; i < ROUNDS; i++) {
        int sum, count = (which * 31 + i * 17) % LARGE;
        MPI_Sendrecv(out, count, MPI_INT, (me + 1) % ranks, i, in[which], LARGE, MPI_INT, (me + ranks - 1) % ranks, i,
                     copies[which], MPI_STATUS_IGNORE);
        MPI_Allreduce(&count, &sum, 1, MPI_INT, MPI_SUM, copies[which]);
    }
    return NULL;
}

/* Rank 1 has a thread that waits in its first call until another one has ended. */
static void *waits(void *given)
{
    (void)given;
    MPI_Recv(in[0], 1, MPI_INT, 0, 9, copies[0], MPI_STATUS_IGNORE);
    return NULL;
}

static void *ends(void *given)
{
    (void)given;
    usleep(100000);
    MPI_Sendrecv(out, 1, MPI_INT, 1 - me, 1, in[1], 1, MPI_INT, 1 - me, 1, copies[1], MPI_STATUS_IGNORE);
    if (me == 0) {
        usleep(200000);
        MPI_Send(out, 1, MPI_INT, 1, 9, copies[0]);
    }
    return NULL;
}

static void *probe(void *given)
{
    long which = (long)given;
    for (int i = 0; i < 10 * ROUNDS; i++) {
        MPI_Request request;
        MPI_Message message;
        MPI_Status status;
        MPI_Isend(out, 9, MPI_INT, (me + 1) % ranks, 200, WORLD, &request);
        MPI_Mprobe(MPI_ANY_SOURCE, 200, WORLD, &message, &status);
        MPI_Mrecv(in[which], 9, MPI_INT, &message, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(WORLD, &me);
    MPI_Comm_size(WORLD, &ranks);
    if (!strcmp(argv[1], "kinds"))
        kinds();
    else if (!strcmp(argv[1], "threads"))
        answered();
    else if (!strcmp(argv[1], "handed")) {
        pthread_t first, second;
        MPI_Comm_dup(WORLD, &copies[0]);
        MPI_Comm_dup(WORLD, &copies[1]);
        if (me == 1)
            pthread_create(&first, NULL, waits, NULL);
        pthread_create(&second, NULL, ends, NULL);
        pthread_join(second, NULL);
        if (me == 1)
            pthread_join(first, NULL);
        MPI_Barrier(WORLD);
    } else {
        void *(*run)(void *) = strcmp(argv[1], "probed") ? ring : probe;
        pthread_t threads[THREADS];
        for (int i = 0; i <= THREADS; i++)
            MPI_Comm_dup(WORLD, &copies[i]);
        for (long i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, run, (void *)i);
        run((void *)(long)THREADS);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        for (int i = 0; i <= THREADS; i++)
            MPI_Comm_free(&copies[i]);
    }
    MPI_Finalize();
    return 0;
}
