/* What differs between the binary interfaces of MPI libraries, as far as a recorder needs it.
 *
 * Handles are machine words here: MPICH and its kin use 32-bit integers (the upper half of a register is then
 * undefined), Open MPI addresses of structures, MPI 5's standard interface words with small constants. Which one
 * a program has is told when it starts MPI: nothing of any `mpi.h` is compiled in.
 */
#ifndef NETLOOM_ABI_H
#define NETLOOM_ABI_H

#include <stdint.h>

typedef uintptr_t word;

enum { ABI_UNKNOWN, ABI_MPICH, ABI_OPEN_MPI, ABI_STANDARD };

/* What a handle, a constant or an error is in the program's MPI; a test compares each with the installed `mpi.h`. */
struct abi {
    int kind;
    int wide;            /* Handles fill a word; else 32 bits. */
    word world;          /* MPI_COMM_WORLD */
    word self;           /* MPI_COMM_SELF */
    word null_comm;      /* MPI_COMM_NULL */
    word null_type;      /* MPI_DATATYPE_NULL */
    word no_op;          /* MPI_NO_OP */
    word in_place;       /* MPI_IN_PLACE */
    int root;            /* MPI_ROOT */
    int error_count;     /* MPI_ERR_COUNT */
    int error_other;     /* MPI_ERR_OTHER */
    int any_source;      /* MPI_ANY_SOURCE */
    int any_tag;         /* MPI_ANY_TAG */
    int graph, cart, dist_graph; /* MPI_GRAPH and its kin: what MPI_Topo_test tells. */
    int thread_multiple; /* MPI_THREAD_MULTIPLE */
    word ignore;         /* MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE */
    int source_at;       /* MPI_SOURCE among the ints of a status; MPI_TAG is the next. */
    int status_bytes;
};

static const struct abi MPICH_ABI = {
    ABI_MPICH, 0, 0x44000000u, 0x44000001u, 0x04000000u, 0x0c000000u, 0x5800000eu, (word)-1, -3, 2, 15, -2, -1, 1, 2, 3, 3,
    1, 2, 20,
};
/* Its handles are symbols, found when MPI starts. */
static const struct abi OPEN_MPI_ABI = {
    ABI_OPEN_MPI, 1, 0, 0, 0, 0, 0, 1, -4, 2, 16, -1, -1, 2, 1, 3, 3, 0, 0, 24,
};
static const struct abi STANDARD_ABI = {
    ABI_STANDARD, 1, 0x101, 0x102, 0x100, 0x200, 0x3d, 1, -4, 2, 16, -1, -2, 212, 211, 213, 4096, 0, 0, 32,
};

/* A handle without what a 32-bit register leaves undefined. */
static inline word handle(const struct abi *abi, word given)
{
    return abi->wide ? given : (word)(uint32_t)given;
}

/* The `index`-th handle of an array. */
static inline word handle_at(const struct abi *abi, const void *array, long index)
{
    return abi->wide ? ((const word *)array)[index] : (word)((const uint32_t *)array)[index];
}

#endif
