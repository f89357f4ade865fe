/* The file that every rank writes while it runs: mapped, so that what was counted is there whatever ends the rank.
 *
 *     head (4096 bytes) | names of the functions (32 bytes each) | blocks, each from a multiple of 4096
 *
 * A block belongs to one thread at a time, so nothing is locked where it is counted: a block of sums has, after its
 * own head, `struct sum` for every function and then for every rank of the world; a block of one-sided sums has two
 * for every rank, what was put there and what was got from there. Numbers are of the machine that wrote; `order`
 * tells. netloom/recording/records.py reads this, and believes none of it. `kind` leaves room for files of events.
 */
#ifndef NETLOOM_FORMAT_H
#define NETLOOM_FORMAT_H

#include <stdint.h>

#define RECORD_MAGIC "NLRECORD"
#define BLOCK_MAGIC 0x4b4c424eu /* "NBLK" */
enum { RECORD_VERSION = 1, KIND_SUMS = 1, HEAD_BYTES = 4096, NAME_BYTES = 32, PAGE_BYTES = 4096 };

/* How far a rank came. */
enum { STATE_OPEN = 1, STATE_FINALIZED = 2, STATE_EXITED = 3, STATE_ABORTED = 4, STATE_NO_SPACE = 5 };

enum { BLOCK_SUMS = 1, BLOCK_ONE_SIDED = 2 };

/* Bits of `flags`. */
enum { FLAG_TWO_LIBRARIES = 1, FLAG_SPAWNED = 2 };

struct head {
    char magic[8];
    uint32_t order; /* 0x01020304 */
    uint32_t version, kind, head_bytes;
    uint32_t state, flags;
    uint32_t abi, rank, ranks, functions, threads_level;
    int32_t exit_code; /* Of MPI_Abort. */
    uint64_t bytes;    /* Of the file; blocks follow each other up to here. */
    uint64_t pid, start_ns, end_ns; /* Since 1970; end: 0 while it runs. */
    double ns_per_call; /* What counting one call takes, measured at the start. */
    char host[256];
    char program[1024];
    char library[512]; /* MPI_Get_library_version */
};

struct block {
    uint32_t magic, kind;
    uint64_t bytes;      /* Of the block, with this. */
    uint64_t outside;    /* Messages to processes outside of the world. */
    uint64_t outside_bytes;
    uint64_t unknown;    /* Calls that could not be counted: type or communicator not understood. */
    uint64_t reserved[3];
};

struct sum {
    uint64_t times, bytes;
};

#endif
