/* What Open MPI's monitoring counts of every collective, message by message: `RANK NAME BYTES COMM TO SIZE` a line.

   The monitoring calls mca_common_monitoring_record_pml for each message; the program has one of its own, which the
   dynamic linker takes first. Tags below 0 are those of collectives: lines `I`.

   mpicc -rdynamic collectives.c -o collectives
   mpirun --mca pml_monitoring_enable 2 --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_bcast_algorithm 6 ./collectives */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long long sent[64];
static int on;

void mca_common_monitoring_record_pml(int to, size_t bytes, int tag) {
  /* A message without bytes is a packet too. */
  if (on && tag < 0 && to < 64) sent[to] += bytes ? bytes : 1;
}

int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm comms[2] = {MPI_COMM_WORLD, MPI_COMM_NULL};
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2 ? 0 : MPI_UNDEFINED, 0, &comms[1]);
  static const char *names[] = {"barrier", "bcast", "reduce", "allreduce", "allgather", "gather", "scatter",
                                "alltoall", "reduce_scatter_block", "scan", "exscan"};
  static const int bytes[] = {8, 4096, 1 << 20};
  char *in = calloc(size, 1 << 20), *out = calloc(size, 1 << 20);
  for (int c = 0; c < 2; c++)
    for (int b = 0; b < 3; b++)
      for (int k = 0; k < 11; k++) {
        int n = bytes[b] / 4;
        MPI_Comm comm = comms[c];
        MPI_Barrier(MPI_COMM_WORLD);
        memset(sent, 0, sizeof sent);
        on = 1;
        if (comm != MPI_COMM_NULL) switch (k) {
          case 0: MPI_Barrier(comm); break;
          case 1: MPI_Bcast(in, n, MPI_INT, 1, comm); break;
          case 2: MPI_Reduce(in, out, n, MPI_INT, MPI_SUM, 1, comm); break;
          case 3: MPI_Allreduce(in, out, n, MPI_INT, MPI_SUM, comm); break;
          case 4: MPI_Allgather(in, n, MPI_INT, out, n, MPI_INT, comm); break;
          case 5: MPI_Gather(in, n, MPI_INT, out, n, MPI_INT, 1, comm); break;
          case 6: MPI_Scatter(in, n, MPI_INT, out, n, MPI_INT, 1, comm); break;
          case 7: MPI_Alltoall(in, n, MPI_INT, out, n, MPI_INT, comm); break;
          case 8: MPI_Reduce_scatter_block(in, out, n, MPI_INT, MPI_SUM, comm); break;
          case 9: MPI_Scan(in, out, n, MPI_INT, MPI_SUM, comm); break;
          case 10: MPI_Exscan(in, out, n, MPI_INT, MPI_SUM, comm); break;
        }
        on = 0;
        for (int to = 0; to < size; to++)
          if (sent[to]) printf("%d %s %d %s %d %llu\n", rank, names[k], bytes[b], c ? "odd" : "world", to, sent[to]);
      }
  MPI_Finalize();
  return 0;
}
