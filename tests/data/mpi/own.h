/* What a program itself counts of its messages: a line a pair, `own.RANK` in the folder OWN: source, destination,
 * messages, bytes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORLD MPI_COMM_WORLD

static int me, ranks;
static long long own_times[2][64], own_bytes[2][64];

/* A message to `peer`, or (`from`) what is got from him. */
static void own(int from, int peer, long long bytes)
{
    if (peer < 0)
        return;
    __atomic_add_fetch(&own_times[from][peer], 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&own_bytes[from][peer], bytes, __ATOMIC_RELAXED);
}

static void sends(int peer, long long bytes)
{
    own(0, peer, bytes);
}

static void tell(void)
{
    char path[1000];
    const char *folder = getenv("OWN");
    if (!folder)
        return;
    snprintf(path, sizeof path, "%s/own.%d", folder, me);
    FILE *out = fopen(path, "w");
    for (int i = 0; i < ranks; i++) {
        if (own_times[0][i])
            fprintf(out, "%d %d %lld %lld\n", me, i, own_times[0][i], own_bytes[0][i]);
        if (own_times[1][i])
            fprintf(out, "%d %d %lld %lld\n", i, me, own_times[1][i], own_bytes[1][i]);
    }
    fclose(out);
}
