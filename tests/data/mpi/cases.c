/* Small programs that a recorder may harm or count wrongly: `cases NAME`. What rank 0 prints, how it ends and what
 * own.h counts must be the same with and without a recorder. */
#include "own.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

static char out[200000], in[200000];
static int right, left;

static void say(const char *what, double value)
{
    double sum = 0;
    MPI_Reduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, WORLD);
    if (me == 0)
        printf("%s %g\n", what, sum);
}

static void ring(int rounds, int bytes)
{
    for (int i = 0; i < rounds; i++) {
        MPI_Sendrecv(out, bytes, MPI_BYTE, right, 3, in, sizeof in, MPI_BYTE, left, 3, WORLD, MPI_STATUS_IGNORE);
        sends(right, bytes);
    }
}

/* Point to point. */

static void modes(void)
{
    static char buffer[100000];
    MPI_Request request[4], received[8];
    void *detached;
    int size;
    MPI_Buffer_attach(buffer, sizeof buffer);
    for (int i = 0; i < 8; i++)
        MPI_Irecv(in + 1000 * i, 1000, MPI_BYTE, left, i, WORLD, &received[i]);
    MPI_Barrier(WORLD);
    MPI_Send(out, 1, MPI_BYTE, right, 0, WORLD);
    MPI_Bsend(out, 2, MPI_BYTE, right, 1, WORLD);
    MPI_Rsend(out, 3, MPI_BYTE, right, 2, WORLD);
    MPI_Ssend(out, 4, MPI_BYTE, right, 3, WORLD);
    MPI_Isend(out, 5, MPI_BYTE, right, 4, WORLD, &request[0]);
    MPI_Ibsend(out, 6, MPI_BYTE, right, 5, WORLD, &request[1]);
    MPI_Irsend(out, 7, MPI_BYTE, right, 6, WORLD, &request[2]);
    MPI_Issend(out, 8, MPI_BYTE, right, 7, WORLD, &request[3]);
    for (int i = 1; i <= 8; i++)
        sends(right, i);
    MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
    MPI_Waitall(8, received, MPI_STATUSES_IGNORE);
    MPI_Buffer_detach(&detached, &size);
}

static void completions(void)
{
    enum { N = 6 };
    for (int way = 0; way < 7; way++) {
        MPI_Request requests[2 * N];
        MPI_Status statuses[2 * N];
        int left_over = 2 * N, indices[2 * N], done, flag, which;
        for (int i = 0; i < N; i++)
            MPI_Irecv(in + i * 1000, 1000, MPI_BYTE, way % 2 ? left : MPI_ANY_SOURCE, way % 3 ? i : MPI_ANY_TAG, WORLD,
                      &requests[i]);
        for (int i = 0; i < N; i++) {
            MPI_Isend(out, 10 * i + way, MPI_BYTE, right, i, WORLD, &requests[N + i]);
            sends(right, 10 * i + way);
        }
        while (left_over > 0)
            switch (way) {
            case 0: MPI_Waitany(2 * N, requests, &which, MPI_STATUS_IGNORE); left_over--; break;
            case 1: MPI_Waitsome(2 * N, requests, &done, indices, MPI_STATUSES_IGNORE); left_over -= done; break;
            case 2: MPI_Testany(2 * N, requests, &which, &flag, statuses); left_over -= flag; break;
            case 3: MPI_Testsome(2 * N, requests, &done, indices, statuses); left_over -= done > 0 ? done : 0; break;
            case 4: MPI_Testall(2 * N, requests, &flag, MPI_STATUSES_IGNORE); left_over -= flag ? 2 * N : 0; break;
            case 5:
                for (int i = 0; i < 2 * N; i++)
                    do
                        MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
                    while (!flag);
                left_over = 0;
                break;
            default: MPI_Waitall(2 * N, requests, statuses); left_over = 0;
            }
        MPI_Barrier(WORLD);
    }
}

static void persistent(void)
{
    MPI_Request requests[3];
    for (int round = 0; round < 5; round++) {
        MPI_Recv_init(in, 1000, MPI_BYTE, round % 2 ? left : MPI_ANY_SOURCE, 1, WORLD, &requests[0]);
        MPI_Send_init(out, 100 + round, MPI_BYTE, right, 1, WORLD, &requests[1]);
        MPI_Send_init(out, 100, MPI_BYTE, MPI_PROC_NULL, 1, WORLD, &requests[2]);
        for (int i = 0; i < 4; i++) {
            MPI_Startall(3, requests);
            sends(right, 100 + round);
            MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
        }
        for (int i = 0; i < 3; i++)
            MPI_Request_free(&requests[i]);
        MPI_Barrier(WORLD);
    }
}

static void nobody(void)
{
    MPI_Status status;
    MPI_Request request;
    MPI_Message message;
    MPI_Send(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, WORLD);
    MPI_Recv(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, WORLD, &status);
    MPI_Irecv(NULL, 0, MPI_BYTE, MPI_PROC_NULL, MPI_ANY_TAG, WORLD, &request);
    MPI_Wait(&request, &status);
    MPI_Mprobe(MPI_PROC_NULL, 1, WORLD, &message, &status);
    MPI_Mrecv(in, 10, MPI_BYTE, &message, &status);
    MPI_Sendrecv(out, 7, MPI_BYTE, me + 1 < ranks ? me + 1 : MPI_PROC_NULL, 1, in, 10, MPI_BYTE,
                 me ? me - 1 : MPI_PROC_NULL, 1, WORLD, &status);
    sends(me + 1 < ranks ? me + 1 : -1, 7);
    request = MPI_REQUEST_NULL;
    MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
    MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE);
    MPI_Sendrecv(out, 5, MPI_BYTE, me, 1, in, 10, MPI_BYTE, me, 1, WORLD, &status);
    sends(me, 5);
}

static void probes(void)
{
    MPI_Message message;
    MPI_Status status;
    MPI_Request request, received;
    int flag;
    for (int i = 0; i < 12; i++) {
        MPI_Isend(out, 7 * i, MPI_BYTE, right, i, WORLD, &request);
        sends(right, 7 * i);
        switch (i % 4) {
        case 0:
            MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &message, MPI_STATUS_IGNORE);
            MPI_Mrecv(in, 1000, MPI_BYTE, &message, MPI_STATUS_IGNORE);
            break;
        case 1:
            do
                MPI_Improbe(MPI_ANY_SOURCE, i, WORLD, &flag, &message, &status);
            while (!flag);
            MPI_Imrecv(in, 1000, MPI_BYTE, &message, &received);
            MPI_Wait(&received, MPI_STATUS_IGNORE);
            break;
        case 2:
            MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &status);
            MPI_Recv(in, 1000, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, WORLD, MPI_STATUS_IGNORE);
            break;
        default:
            do
                MPI_Iprobe(MPI_ANY_SOURCE, i, WORLD, &flag, MPI_STATUS_IGNORE);
            while (!flag);
            MPI_Recv(in, 1000, MPI_BYTE, MPI_ANY_SOURCE, i, WORLD, MPI_STATUS_IGNORE);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Barrier(WORLD);
    }
}

static void cancelled(void)
{
    int flag = 0;
    for (int i = 0; i < 5; i++) {
        MPI_Request request, sent;
        MPI_Status status;
        MPI_Irecv(in, 100, MPI_BYTE, i % 2 ? left : MPI_ANY_SOURCE, 5, WORLD, &request);
        MPI_Cancel(&request);
        if (i == 3)
            MPI_Request_free(&request);
        else {
            MPI_Wait(&request, &status);
            MPI_Test_cancelled(&status, &flag);
        }
        MPI_Barrier(WORLD);
        MPI_Isend(out, 50, MPI_BYTE, right, 5, WORLD, &sent);
        sends(right, 50);
        MPI_Recv(in, 100, MPI_BYTE, left, 5, WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&sent, MPI_STATUS_IGNORE);
    }
    say("cancelled", flag);
}

static void tags(void)
{
    int *most, flag;
    MPI_Comm_get_attr(WORLD, MPI_TAG_UB, &most, &flag);
    int tag[] = {0, 65534, 65535, 65536, *most};
    for (int i = 0; i < 5; i++) {
        MPI_Request request;
        MPI_Isend(out, 8, MPI_BYTE, right, tag[i], WORLD, &request);
        sends(right, 8);
        MPI_Recv(in, 100, MPI_BYTE, i & 1 ? MPI_ANY_SOURCE : left, i & 2 ? MPI_ANY_TAG : tag[i], WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Barrier(WORLD);
    }
}

static void types(void)
{
    for (int i = 1; i < 20; i++) {
        MPI_Datatype vector, structure, resized;
        int lengths[2] = {i, 2}, size;
        MPI_Aint at[2] = {0, 8 * i + 16}, address;
        MPI_Datatype of[2] = {MPI_INT, MPI_DOUBLE};
        MPI_Type_vector(i, 2, 5, MPI_INT, &vector);
        MPI_Type_create_struct(2, lengths, at, of, &structure);
        MPI_Type_create_resized(structure, 0, 1024, &resized);
        MPI_Type_commit(&vector);
        MPI_Type_commit(&resized);
        MPI_Sendrecv(out, 1, vector, right, 1, in, 1000, MPI_BYTE, left, 1, WORLD, MPI_STATUS_IGNORE);
        sends(right, 8 * i);
        MPI_Sendrecv(out, 3, resized, right, 1, in, 1000, MPI_BYTE, left, 1, WORLD, MPI_STATUS_IGNORE);
        sends(right, 3 * (4 * i + 16));
        MPI_Sendrecv(NULL, 0, vector, right, 1, in, 1000, MPI_BYTE, left, 1, WORLD, MPI_STATUS_IGNORE);
        sends(right, 0);
        MPI_Get_address(out, &address);
        MPI_Datatype absolute;
        MPI_Type_create_hindexed(1, &i, &address, MPI_DOUBLE, &absolute);
        MPI_Type_commit(&absolute);
        MPI_Type_size(absolute, &size);
        MPI_Sendrecv(MPI_BOTTOM, 1, absolute, right, 1, in, 1000, MPI_BYTE, left, 1, WORLD, MPI_STATUS_IGNORE);
        sends(right, size);
        MPI_Type_free(&vector);
        MPI_Type_free(&structure);
        MPI_Type_free(&resized);
        MPI_Type_free(&absolute);
    }
}

static void farm(void)
{
    if (me == 0)
        for (int i = 0; i < 20 * (ranks - 1); i++) {
            MPI_Status status;
            int n;
            MPI_Recv(in, 1000, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &status);
            MPI_Get_count(&status, MPI_BYTE, &n);
            MPI_Send(out, n / 2, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, WORLD);
            sends(status.MPI_SOURCE, n / 2);
        }
    else
        for (int i = 0; i < 20; i++) {
            MPI_Send(out, 10 * i + me, MPI_BYTE, 0, i, WORLD);
            sends(0, 10 * i + me);
            MPI_Recv(in, 1000, MPI_BYTE, 0, i, WORLD, MPI_STATUS_IGNORE);
        }
}

static void freed(void)
{
    for (int i = 0; i < 10; i++) {
        MPI_Request request;
        MPI_Isend(out, 8, MPI_BYTE, right, i, WORLD, &request);
        MPI_Request_free(&request);
        sends(right, 8);
        MPI_Recv(in, 8, MPI_BYTE, left, i, WORLD, MPI_STATUS_IGNORE);
    }
}

static void asked_first(void)
{
    int flag = 0;
    MPI_Request request, sent;
    MPI_Irecv(in, 8, MPI_BYTE, MPI_ANY_SOURCE, 0, WORLD, &request);
    MPI_Isend(out, 8, MPI_BYTE, right, 0, WORLD, &sent);
    sends(right, 8);
    while (!flag)
        MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
}

/* Communicators. */

static void handles(void)
{
    for (int i = 0; i < 30; i++) {
        MPI_Comm half;
        int rank, size;
        MPI_Comm_split(WORLD, i % 2 ? me % 2 : 0, -me, &half);
        MPI_Comm_rank(half, &rank);
        MPI_Comm_size(half, &size);
        int to = (rank + 1) % size, world = 0;
        MPI_Group mine, all;
        MPI_Comm_group(half, &mine);
        MPI_Comm_group(WORLD, &all);
        MPI_Group_translate_ranks(mine, 1, &to, all, &world);
        MPI_Sendrecv(out, i, MPI_BYTE, to, 0, in, 100, MPI_BYTE, (rank + size - 1) % size, 0, half, MPI_STATUS_IGNORE);
        sends(world, i);
        MPI_Group_free(&mine);
        MPI_Group_free(&all);
        MPI_Comm_free(&half);
    }
}

static void between(void)
{
    MPI_Comm half, other, whole;
    int color = me % 2, rank, remote, size;
    MPI_Comm_split(WORLD, color, me, &half);
    MPI_Intercomm_create(half, 0, WORLD, 1 - color, 9, &other);
    MPI_Comm_rank(half, &rank);
    MPI_Comm_remote_size(other, &remote);
    if (rank < remote) {
        MPI_Sendrecv(out, 33, MPI_BYTE, rank, 0, in, 100, MPI_BYTE, rank, 0, other, MPI_STATUS_IGNORE);
        sends(2 * rank + 1 - color, 33);
    }
    /* Who is not the root of his group gives nothing that is looked at. */
    if (color == 0)
        MPI_Bcast(out, 100, MPI_BYTE, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, other);
    else
        MPI_Bcast(in, 100, MPI_BYTE, 0, other);
    MPI_Barrier(other);
    MPI_Intercomm_merge(other, color, &whole);
    MPI_Comm_size(whole, &size);
    say("merged", size);
    MPI_Comm_free(&whole);
    MPI_Comm_free(&other);
    MPI_Comm_free(&half);
}

static void duplicates(void)
{
    for (int i = 0; i < 5; i++) {
        MPI_Comm copy, later;
        MPI_Request request;
        MPI_Comm_dup(WORLD, &copy);
        MPI_Comm_idup(copy, &later, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Sendrecv(out, 10, MPI_BYTE, right, 0, in, 100, MPI_BYTE, left, 0, copy, MPI_STATUS_IGNORE);
        MPI_Sendrecv(out, 20, MPI_BYTE, right, 0, in, 100, MPI_BYTE, left, 0, later, MPI_STATUS_IGNORE);
        sends(right, 10);
        sends(right, 20);
        MPI_Comm_free(&copy);
        MPI_Comm_disconnect(&later);
    }
}

/* Collectives. */

static void collectives(void)
{
    int counts[64], places[64];
    for (int i = 0; i < ranks; i++)
        counts[i] = i + 1, places[i] = 100 * i;
    for (int root = 0; root < ranks; root++) {
        int at_root = me == root;
        /* What is not of the root is ignored there. */
        MPI_Datatype type = at_root ? MPI_INT : MPI_DATATYPE_NULL;
        MPI_Bcast(out, 5, MPI_INT, root, WORLD);
        MPI_Gather(out, 3, MPI_INT, at_root ? in : NULL, at_root ? 3 : -1, type, root, WORLD);
        MPI_Scatter(at_root ? out : NULL, at_root ? 3 : -1, type, in, 3, MPI_INT, root, WORLD);
        MPI_Gatherv(out, me + 1, MPI_INT, at_root ? in : NULL, at_root ? counts : NULL, at_root ? places : NULL, type, root,
                    WORLD);
        MPI_Scatterv(at_root ? out : NULL, at_root ? counts : NULL, at_root ? places : NULL, type, in, me + 1, MPI_INT, root,
                     WORLD);
        MPI_Reduce(out, at_root ? in : NULL, 4, MPI_INT, MPI_SUM, root, WORLD);
    }
    MPI_Allreduce(out, in, 4, MPI_INT, MPI_SUM, WORLD);
    MPI_Allgather(out, 2, MPI_INT, in, 2, MPI_INT, WORLD);
    MPI_Allgatherv(out, me + 1, MPI_INT, in, counts, places, MPI_INT, WORLD);
    MPI_Alltoall(out, 2, MPI_INT, in, 2, MPI_INT, WORLD);
    MPI_Scan(out, in, 2, MPI_INT, MPI_SUM, WORLD);
    MPI_Exscan(out, in, 2, MPI_INT, MPI_SUM, WORLD);
    MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, WORLD);
    MPI_Reduce_scatter_block(out, in, 2, MPI_INT, MPI_SUM, WORLD);
    MPI_Barrier(WORLD);
}

static void in_place(void)
{
    int counts[64], places[64];
    for (int i = 0; i < ranks; i++)
        counts[i] = 2, places[i] = 2 * i;
    MPI_Allreduce(MPI_IN_PLACE, in, 4, MPI_INT, MPI_SUM, WORLD);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 2, MPI_INT, WORLD);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, counts, places, MPI_INT, WORLD);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 2, MPI_INT, WORLD);
    MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, in, counts, places, MPI_INT, WORLD);
    MPI_Gather(me == 0 ? MPI_IN_PLACE : out, me == 0 ? 0 : 2, me == 0 ? MPI_DATATYPE_NULL : MPI_INT, in, 2, MPI_INT, 0, WORLD);
    MPI_Reduce(me == 0 ? MPI_IN_PLACE : out, in, 2, MPI_INT, MPI_SUM, 0, WORLD);
    MPI_Scatter(out, 2, MPI_INT, me == 0 ? MPI_IN_PLACE : in, 2, MPI_INT, 0, WORLD);
}

static void different(void)
{
    int sent[64], received[64], places[64];
    MPI_Datatype each[64];
    for (int i = 0; i < ranks; i++) {
        sent[i] = (me + i) % 3, received[i] = (me + i) % 3, places[i] = 100 * i;
        each[i] = i % 2 ? MPI_INT : MPI_FLOAT;
    }
    MPI_Alltoallv(out, sent, places, MPI_INT, in, received, places, MPI_INT, WORLD);
    for (int i = 0; i < ranks; i++)
        each[i] = MPI_INT;
    MPI_Alltoallw(out, sent, places, each, in, received, places, each, WORLD);
}

static void nonblocking(void)
{
    MPI_Request requests[6];
    MPI_Ibarrier(WORLD, &requests[0]);
    MPI_Ibcast(out, 100, MPI_INT, 0, WORLD, &requests[1]);
    MPI_Iallreduce(out, in, 10, MPI_INT, MPI_SUM, WORLD, &requests[2]);
    MPI_Ialltoall(out, 2, MPI_INT, in + 1000, 2, MPI_INT, WORLD, &requests[3]);
    MPI_Iallgather(out, 2, MPI_INT, in + 2000, 2, MPI_INT, WORLD, &requests[4]);
    MPI_Ireduce(out, in + 3000, 2, MPI_INT, MPI_SUM, 0, WORLD, &requests[5]);
    ring(5, 40);
    MPI_Waitall(6, requests, MPI_STATUSES_IGNORE);
}

static void largest(void *a, void *b, int *n, MPI_Datatype *type)
{
    int size;
    MPI_Type_size(*type, &size);
    for (int i = 0; i < *n; i++)
        ((int *)b)[i] = ((int *)a)[i] > ((int *)b)[i] ? ((int *)a)[i] : ((int *)b)[i];
}

static void operation(void)
{
    MPI_Op op;
    int mine = me, most = 0;
    MPI_Op_create(largest, 1, &op);
    MPI_Allreduce(&mine, &most, 1, MPI_INT, op, WORLD);
    MPI_Op_free(&op);
    say("largest", most);
}

/* Neighbours. */

static void around(MPI_Comm comm, int n, const int *to)
{
    int sent[16], got[16];
    MPI_Request request;
    for (int i = 0; i < 16; i++)
        sent[i] = me, got[i] = -1;
    MPI_Neighbor_allgather(sent, 1, MPI_INT, got, 1, MPI_INT, comm);
    MPI_Ineighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    int counts[16], places[16];
    MPI_Datatype kinds[16];
    MPI_Aint far[16];
    for (int i = 0; i < n; i++)
        counts[i] = 1, places[i] = i, far[i] = 4 * i, kinds[i] = MPI_INT;
    MPI_Neighbor_alltoallv(sent, counts, places, MPI_INT, got, counts, places, MPI_INT, comm);
    MPI_Neighbor_alltoallw(sent, counts, far, kinds, got, counts, far, kinds, comm);
    MPI_Neighbor_allgatherv(sent, 1, MPI_INT, got, counts, places, MPI_INT, comm);
    for (int i = 0; i < n; i++)
        for (int call = 0; call < 5; call++)
            sends(to[i], 4);
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += got[i];
    say("neighbours", sum);
}

static void grid(int periodic)
{
    MPI_Comm comm;
    int sides[1] = {ranks}, wraps[1] = {periodic};
    MPI_Cart_create(WORLD, 1, sides, wraps, 0, &comm);
    int to[2] = {me || periodic ? left : -1, me + 1 < ranks || periodic ? right : -1};
    around(comm, 2, to);
    MPI_Comm_free(&comm);
}

static void torus(void)
{
    grid(1);
}

static void line(void)
{
    grid(0);
}

static void plane(void)
{
    MPI_Comm comm, row;
    int sides[2] = {1, ranks}, wraps[2] = {1, 0}, keep[2] = {0, 1};
    MPI_Cart_create(WORLD, 2, sides, wraps, 0, &comm);
    int to[4] = {me, me, me ? left : -1, me + 1 < ranks ? right : -1};
    around(comm, 4, to);
    MPI_Cart_sub(comm, keep, &row);
    around(row, 2, to + 2);
    MPI_Comm_free(&row);
    MPI_Comm_free(&comm);
}

static void graph(void)
{
    MPI_Comm comm;
    int ends[64], edges[128];
    for (int i = 0; i < ranks; i++)
        ends[i] = 2 * i + 2, edges[2 * i] = (i + 1) % ranks, edges[2 * i + 1] = (i + ranks - 1) % ranks;
    MPI_Graph_create(WORLD, ranks, ends, edges, 0, &comm);
    int to[2] = {right, left};
    around(comm, 2, to);
    MPI_Comm_free(&comm);
}

static void distributed(void)
{
    MPI_Comm comm;
    int from[1] = {left}, to[1] = {right}, weight[1] = {3};
    MPI_Dist_graph_create_adjacent(WORLD, 1, from, MPI_UNWEIGHTED, 1, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
    around(comm, 1, to);
    MPI_Comm_free(&comm);
    MPI_Dist_graph_create_adjacent(WORLD, 1, from, weight, 1, to, weight, MPI_INFO_NULL, 0, &comm);
    around(comm, 1, to);
    MPI_Comm_free(&comm);
}

/* One-sided. */

static void puts_and_gets(void)
{
    int *base, value[4] = {1, 2, 3, 4};
    MPI_Win win;
    MPI_Win_allocate(1000, 4, MPI_INFO_NULL, WORLD, &base, &win);
    memset(base, 0, 1000);
    MPI_Win_fence(0, win);
    MPI_Put(value, 4, MPI_INT, right, 0, 4, MPI_INT, win);
    own(0, right, 16);
    MPI_Win_fence(0, win);
    MPI_Get(value, 2, MPI_INT, right, 0, 2, MPI_INT, win);
    own(1, right, 8);
    MPI_Win_fence(0, win);
    MPI_Accumulate(value, 1, MPI_INT, left, 8, 1, MPI_INT, MPI_SUM, win);
    own(0, left, 4);
    MPI_Put(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, 0, MPI_INT, win);
    MPI_Win_fence(0, win);
    say("put", base[0] + base[8]);
    MPI_Win_free(&win);
}

static void operations(void)
{
    long *base, mine = me, got = 0;
    MPI_Win win;
    MPI_Win_allocate(80, 8, MPI_INFO_NULL, WORLD, &base, &win);
    memset(base, 0, 80);
    MPI_Barrier(WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
    MPI_Fetch_and_op(&mine, &got, MPI_LONG, right, 0, MPI_SUM, win);
    own(0, right, 8), own(1, right, 8);
    MPI_Win_flush(right, win);
    MPI_Fetch_and_op(NULL, &got, MPI_LONG, right, 0, MPI_NO_OP, win);
    own(1, right, 8);
    MPI_Win_flush(right, win);
    MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, &got, 1, MPI_LONG, right, 0, 1, MPI_LONG, MPI_NO_OP, win);
    own(1, right, 8);
    MPI_Win_flush(right, win);
    MPI_Request request;
    MPI_Rput(&mine, 1, MPI_LONG, right, 2, 1, MPI_LONG, win, &request);
    own(0, right, 8);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_unlock(right, win);
    MPI_Barrier(WORLD);
    say("fetched", got);
    MPI_Win_free(&win);
}

/* Open MPI 4.1 crashes in it by itself; MPICH 4.0 now and then takes one rank's memory for another's, so that each
 * has a place of its own. */
#if OMPI_MAJOR_VERSION != 4
static void swap(void)
{
    long *base, mine = me + 1, expected = 0, before = -1;
    MPI_Win win;
    MPI_Win_allocate(8 * ranks, 8, MPI_INFO_NULL, WORLD, &base, &win);
    memset(base, 0, 8 * ranks);
    MPI_Barrier(WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
    for (int i = 0; i < 2; i++) {
        MPI_Compare_and_swap(&mine, &expected, &before, MPI_LONG, right, me, win);
        own(0, right, 8), own(1, right, 8);
        MPI_Win_flush(right, win);
    }
    MPI_Win_unlock(right, win);
    MPI_Barrier(WORLD);
    say("swapped", before);
    MPI_Win_free(&win);
}
#endif

/* Errors. */

static jmp_buf back;
static int handled;

static void jumps(MPI_Comm *comm, int *code, ...)
{
    longjmp(back, 1);
}

static void counts(MPI_Comm *comm, int *code, ...)
{
    handled++;
}

static void sends_there(MPI_Comm *comm, int *code, ...)
{
    ring(1, 17);
}

static void bad_send(void (*handler)(MPI_Comm *, int *, ...))
{
    MPI_Errhandler made;
    MPI_Comm_create_errhandler(handler, &made);
    MPI_Comm_set_errhandler(WORLD, made);
    if (!setjmp(back))
        MPI_Send(out, 1, MPI_INT, ranks + 5, 0, WORLD);
    ring(10, 4);
    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&made);
}

static void jump(void)
{
    bad_send(jumps);
}

static void handler(void)
{
    bad_send(counts);
    say("handled", handled);
}

static void handler_sends(void)
{
    bad_send(sends_there);
}

static void returned(void)
{
    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
    int failed = 0;
    failed += MPI_Send(out, 1, MPI_INT, ranks + 5, 0, WORLD) != MPI_SUCCESS;
    failed += MPI_Send(out, -1, MPI_INT, right, 0, WORLD) != MPI_SUCCESS;
    failed += MPI_Send(out, 1, MPI_INT, right, -77, WORLD) != MPI_SUCCESS;
    failed += MPI_Bcast(out, 1, MPI_INT, ranks + 5, WORLD) != MPI_SUCCESS;
    ring(3, 4);
    say("failed", failed);
}

/* Files. */

static void file(void)
{
    MPI_File shared;
    MPI_Datatype rows;
    MPI_Request request;
    char path[1000];
    snprintf(path, sizeof path, "%s/shared.bin", getenv("OWN") ? getenv("OWN") : "/tmp");
    MPI_File_open(WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &shared);
    MPI_Type_vector(20, 100, 100 * ranks, MPI_BYTE, &rows);
    MPI_Type_commit(&rows);
    MPI_File_set_view(shared, me * 100, MPI_BYTE, rows, "native", MPI_INFO_NULL);
    MPI_File_write_all(shared, out, 2000, MPI_BYTE, MPI_STATUS_IGNORE);
    ring(2, 6);
    MPI_File_seek(shared, 0, MPI_SEEK_SET);
    MPI_File_iread_all(shared, in, 2000, MPI_BYTE, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Offset size;
    MPI_File_get_size(shared, &size);
    MPI_File_close(&shared);
    MPI_Type_free(&rows);
    say("size", (double)size);
}

/* The process. */

static void descriptors(void)
{
    char path[1000], text[16] = "";
    for (int i = 3; i < 5000; i++) {
        char link[64], name[600];
        snprintf(link, sizeof link, "/proc/self/fd/%d", i);
        ssize_t n = readlink(link, name, sizeof name - 1);
        if (n > 0 && (name[n] = 0, strstr(name, "/rank.")))
            close(i);
    }
    snprintf(path, sizeof path, "%s/mine.%d", getenv("OWN"), me);
    int mine = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600), most = fcntl(mine, F_DUPFD, 4000);
    /* Whatever number the recorder had may now be of this file. */
    for (int i = 0; i < 80; i++)
        fcntl(mine, F_DUPFD, 4000 + i);
    if (write(most, "hello\n", 6) != 6)
        exit(9);
    ring(30000, 400);
    int n = pread(mine, text, sizeof text, 0);
    say(text, n == 6 && lseek(mine, 0, SEEK_END) == 6);
}

static void numbers(void)
{
    int first = open("/dev/null", O_RDONLY), second = open("/dev/null", O_RDONLY);
    ring(10, 4);
    /* The next numbers are the program's, as without a recorder. */
    say("next", second - first);
}

static void children(void)
{
    int status = 0;
    pid_t child = fork();
    if (!child)
        _exit(system("true") == 0 ? 7 : 8);
    waitpid(child, &status, 0);
    child = fork();
    if (!child)
        exit(0);
    waitpid(child, NULL, 0);
    ring(10, 4);
    say("child", WEXITSTATUS(status));
}

static void moves(void)
{
    if (chdir("/"))
        exit(9);
    setenv("NETLOOM_RECORD", "/nonexistent", 1);
    unsetenv("LD_PRELOAD");
    ring(20000, 40);
}

static void little(void)
{
    struct rlimit few = {64, 64};
    setrlimit(RLIMIT_NOFILE, &few);
    struct rlimit small = {100000, 100000};
    setrlimit(RLIMIT_FSIZE, &small);
    ring(20000, 40);
}

static void code(void)
{
    ring(3, 4);
    tell();
    MPI_Finalize();
    exit(3);
}

static void aborts(void)
{
    ring(3, 4);
    tell();
    MPI_Barrier(WORLD);
    if (me == 0)
        MPI_Abort(WORLD, 5);
    sleep(20);
}

static void *threads_run(void *given)
{
    long which = (long)given;
    static char room[4][1000];
    for (int i = 0; i < 40; i++) {
        MPI_Request requests[2];
        MPI_Irecv(room[which], 1000, MPI_BYTE, left, which, WORLD, &requests[0]);
        MPI_Isend(out, which * 7 + i, MPI_BYTE, right, which, WORLD, &requests[1]);
        sends(right, which * 7 + i);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    return NULL;
}

static void threads(void)
{
    for (int wave = 0; wave < 3; wave++) {
        pthread_t thread[4];
        for (long i = 0; i < 4; i++)
            pthread_create(&thread[i], NULL, threads_run, (void *)i);
        for (int i = 0; i < 4; i++)
            pthread_join(thread[i], NULL);
    }
}

/* Within MPI_Finalize. */
static int last_words(MPI_Comm self, int key, void *value, void *state)
{
    MPI_Sendrecv(out, 6, MPI_BYTE, 0, 9, in, 6, MPI_BYTE, 0, 9, self, MPI_STATUS_IGNORE);
    sends(me, 6);
    ring(3, 40);
    tell();
    return MPI_SUCCESS;
}

static void finalized(void)
{
    int key;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, last_words, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    ring(2, 30);
}

static int deleted(MPI_Comm comm, int key, void *value, void *state)
{
    return MPI_SUCCESS;
}

static void attributes(void)
{
    int key;
    MPI_Comm copy;
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, deleted, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, out);
    MPI_Comm_dup(MPI_COMM_SELF, &copy);
    MPI_Comm_set_attr(copy, key, out);
    MPI_Comm_free(&copy);
    ring(5, 4);
    MPI_Pcontrol(1);
}

static void memory(void)
{
    int *shared;
    MPI_Comm node;
    MPI_Win win;
    MPI_Comm_split_type(WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Win_allocate_shared(64, 4, MPI_INFO_NULL, node, &shared, &win);
    MPI_Win_fence(0, win);
    *shared = me;
    MPI_Win_fence(0, win);
    say("shared", *shared);
    MPI_Win_free(&win);
    MPI_Comm_free(&node);
}

#if MPI_VERSION >= 4
static void large(void)
{
    MPI_Request requests[2];
    MPI_Irecv_c(in, 1000, MPI_BYTE, left, 0, WORLD, &requests[0]);
    MPI_Isend_c(out, 100, MPI_BYTE, right, 0, WORLD, &requests[1]);
    sends(right, 100);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Allreduce_c(out, in, 10, MPI_INT, MPI_SUM, WORLD);
    MPI_Count counts[64];
    MPI_Aint places[64];
    for (int i = 0; i < ranks; i++)
        counts[i] = 1, places[i] = i;
    MPI_Alltoallv_c(out, counts, places, MPI_INT, in, counts, places, MPI_INT, WORLD);
}

static void started_collectives(void)
{
    MPI_Request request;
    MPI_Allreduce_init(out, in, 10, MPI_INT, MPI_SUM, WORLD, MPI_INFO_NULL, &request);
    for (int i = 0; i < 3; i++) {
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
    MPI_Comm comm;
    int sides[1] = {ranks}, wraps[1] = {1};
    MPI_Cart_create(WORLD, 1, sides, wraps, 0, &comm);
    MPI_Neighbor_alltoall_init(out, 3, MPI_INT, in, 3, MPI_INT, comm, MPI_INFO_NULL, &request);
    for (int i = 0; i < 3; i++) {
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        sends(left, 12), sends(right, 12);
    }
    MPI_Request_free(&request);
    MPI_Comm_free(&comm);
}
#endif

#define CASE(name) {#name, name}
static const struct {
    const char *name;
    void (*run)(void);
} CASES[] = {
    CASE(modes), CASE(completions), CASE(persistent), CASE(nobody), CASE(probes), CASE(cancelled), CASE(tags), CASE(types),
    CASE(farm), CASE(freed), CASE(asked_first), CASE(handles), CASE(between), CASE(duplicates), CASE(collectives),
    CASE(in_place), CASE(different), CASE(nonblocking), CASE(operation), CASE(torus), CASE(line), CASE(plane), CASE(graph),
    CASE(distributed), CASE(puts_and_gets), CASE(operations), CASE(jump), CASE(handler), CASE(handler_sends), CASE(returned),
    CASE(file), CASE(descriptors), CASE(numbers), CASE(children), CASE(moves), CASE(little), CASE(code), CASE(aborts),
    CASE(threads), CASE(attributes), CASE(memory),
#if OMPI_MAJOR_VERSION != 4
    CASE(swap),
#endif
    CASE(finalized),
#if MPI_VERSION >= 4
    CASE(large), CASE(started_collectives),
#endif
};

int main(int argc, char **argv)
{
    int level;
    const char *name = argc > 1 ? argv[1] : "";
    if (!strcmp(name, "threads"))
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    else
        MPI_Init(&argc, &argv);
    MPI_Comm_rank(WORLD, &me);
    MPI_Comm_size(WORLD, &ranks);
    right = (me + 1) % ranks, left = (me + ranks - 1) % ranks;
    for (unsigned i = 0; i < sizeof CASES / sizeof *CASES; i++)
        if (!strcmp(name, CASES[i].name)) {
            CASES[i].run();
            tell();
            MPI_Finalize();
            return 0;
        }
    MPI_Finalize();
    return 77; /* Not of this MPI. */
}
