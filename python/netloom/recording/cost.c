/* What recording adds to a message: to oneself (`self`), or back and forth between two ranks (`ping`).
 *
 * Batches of messages go in turn through what the program calls, which a recorder may have taken, and through the MPI
 * library's own functions, in one process and by its own clock: what else runs on the machine hits both. Prints
 * nanoseconds a message: the library's own median, and of the differences of neighbouring batches the first quartile,
 * the median and the third. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAIRS = 4000, MESSAGES = 100 };

struct calls {
    __typeof__(&MPI_Send) send;
    __typeof__(&MPI_Recv) recv;
    __typeof__(&MPI_Irecv) irecv;
    __typeof__(&MPI_Wait) wait;
};

static int rank, self;

static int by_size(const void *a, const void *b)
{
    double difference = *(const double *)a - *(const double *)b;
    return (difference > 0) - (difference < 0);
}

static double quantile(double *sorted, double share)
{
    return sorted[(int)(share * (PAIRS - 1))];
}

static double batch(const struct calls *by)
{
    char out[8] = "", in[8];
    double start = MPI_Wtime();
    for (int i = 0; i < MESSAGES; i++)
        if (self) {
            MPI_Request request;
            by->irecv(in, 8, MPI_CHAR, rank, 0, MPI_COMM_WORLD, &request);
            by->send(out, 8, MPI_CHAR, rank, 0, MPI_COMM_WORLD);
            by->wait(&request, MPI_STATUS_IGNORE);
        } else if (rank == 0) {
            by->send(out, 8, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
            by->recv(in, 8, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            by->recv(in, 8, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            by->send(out, 8, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
        }
    /* A round trip has a send on each side. */
    return (MPI_Wtime() - start) * 1e9 / MESSAGES / (self ? 1 : 2);
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"libmpi.so.40", "libmpi.so.12", "libmpich.so.12", "libmpi_abi.so.1"};
    static double own[PAIRS], more[PAIRS];
    struct calls ours = {MPI_Send, MPI_Recv, MPI_Irecv, MPI_Wait}, theirs;
    void *library = NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    self = argc > 1 && !strcmp(argv[1], "self");
    for (unsigned i = 0; !library && i < sizeof names / sizeof *names; i++)
        library = dlopen(names[i], RTLD_NOLOAD | RTLD_LAZY);
    if (!library)
        MPI_Abort(MPI_COMM_WORLD, 2);
    *(void **)&theirs.send = dlsym(library, "MPI_Send");
    *(void **)&theirs.recv = dlsym(library, "MPI_Recv");
    *(void **)&theirs.irecv = dlsym(library, "MPI_Irecv");
    *(void **)&theirs.wait = dlsym(library, "MPI_Wait");
    batch(&ours);
    for (int i = 0; i < PAIRS; i++) {
        /* Each is first as often as the other. */
        double first = batch(i % 2 ? &ours : &theirs), second = batch(i % 2 ? &theirs : &ours);
        own[i] = i % 2 ? second : first;
        more[i] = i % 2 ? first - second : second - first;
    }
    qsort(own, PAIRS, sizeof *own, by_size);
    qsort(more, PAIRS, sizeof *more, by_size);
    if (rank == 0)
        printf("%.3f %.3f %.3f %.3f\n", quantile(own, 0.5), quantile(more, 0.25), quantile(more, 0.5),
               quantile(more, 0.75));
    MPI_Finalize();
    return 0;
}
