/* Whether the recorder's table of constants (abi.h) says what this MPI's `mpi.h` says; each difference is printed. */
#include "abi.h"
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>

static int wrong;

static void is(const char *name, long long table, long long found)
{
    if (table != found)
        wrong = 1, printf("%s: %lld in the table, %lld in mpi.h\n", name, table, found);
}

int main(void)
{
#if defined(OPEN_MPI)
    struct abi abi = OPEN_MPI_ABI;
#elif defined(MPICH_NUMVERSION) || defined(MPICH_VERSION)
    struct abi abi = MPICH_ABI;
#else
    struct abi abi = STANDARD_ABI;
#endif
    is("bytes of a handle", abi.wide ? sizeof(word) : 4, sizeof(MPI_Comm));
#ifndef OPEN_MPI /* Its handles are addresses: asked for when MPI starts. */
    is("MPI_COMM_WORLD", abi.world, (word)MPI_COMM_WORLD);
    is("MPI_COMM_SELF", abi.self, (word)MPI_COMM_SELF);
    is("MPI_COMM_NULL", abi.null_comm, (word)MPI_COMM_NULL);
    is("MPI_DATATYPE_NULL", abi.null_type, (word)MPI_DATATYPE_NULL);
    is("MPI_NO_OP", abi.no_op, (word)MPI_NO_OP);
#endif
    is("MPI_IN_PLACE", abi.in_place, (word)MPI_IN_PLACE);
    is("MPI_ROOT", abi.root, MPI_ROOT);
    is("MPI_ERR_COUNT", abi.error_count, MPI_ERR_COUNT);
    is("MPI_ERR_OTHER", abi.error_other, MPI_ERR_OTHER);
    is("MPI_ANY_SOURCE", abi.any_source, MPI_ANY_SOURCE);
    is("MPI_ANY_TAG", abi.any_tag, MPI_ANY_TAG);
    is("MPI_GRAPH", abi.graph, MPI_GRAPH);
    is("MPI_CART", abi.cart, MPI_CART);
    is("MPI_DIST_GRAPH", abi.dist_graph, MPI_DIST_GRAPH);
    is("MPI_THREAD_MULTIPLE", abi.thread_multiple, MPI_THREAD_MULTIPLE);
    is("MPI_STATUS_IGNORE", abi.ignore, (word)MPI_STATUS_IGNORE);
    is("MPI_STATUSES_IGNORE", abi.ignore, (word)MPI_STATUSES_IGNORE);
    is("MPI_SOURCE", abi.source_at, offsetof(MPI_Status, MPI_SOURCE) / sizeof(int));
    is("MPI_TAG", abi.source_at + 1, offsetof(MPI_Status, MPI_TAG) / sizeof(int));
    is("bytes of a status", abi.status_bytes, sizeof(MPI_Status));
    is("MPI_PROC_NULL is negative", 1, MPI_PROC_NULL < 0);
    return wrong;
}
