/* The file that every rank writes while it runs: mapped, so that what was counted is there whatever ends the rank.
 *
 *     head (4096 bytes) | names of the functions (32 bytes each) | blocks, each from a multiple of 4096
 *
 * A block belongs to one thread at a time, so nothing is locked where it is counted: a block of sums has, after its
 * own head, `struct sum` for every function and then for every rank of the world; a block of one-sided sums has two
 * for every rank, what was put there and what was got from there. Files of events have these too, and blocks of
 * `struct event`. Numbers are of the machine that wrote; `order` tells. netloom/recording reads this, and believes
 * none of it.
 */
#ifndef NETLOOM_FORMAT_H
#define NETLOOM_FORMAT_H

#include <stdint.h>

#define RECORD_MAGIC "NLRECORD"
#define BLOCK_MAGIC 0x4b4c424eu /* "NBLK" */
enum { RECORD_VERSION = 3, KIND_SUMS = 1, KIND_EVENTS = 2, HEAD_BYTES = 4096, NAME_BYTES = 32, PAGE_BYTES = 4096 };

/* How far a rank came. */
enum { STATE_OPEN = 1, STATE_FINALIZED = 2, STATE_EXITED = 3, STATE_ABORTED = 4, STATE_NO_SPACE = 5 };

enum { BLOCK_SUMS = 1, BLOCK_ONE_SIDED = 2, BLOCK_EVENTS = 3 };

/* Bits of `flags`. */
enum {
    FLAG_TWO_LIBRARIES = 1,
    FLAG_SPAWNED = 2,
    FLAG_LIMIT = 4,           /* Events came to their limit. */
    FLAG_EVENTS_NO_SPACE = 8, /* The disk had no space for more of them. */
};

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
    uint64_t start_ticks, end_ticks; /* The clock of events at `start_ns` and `end_ns`. */
    double ns_per_tick;              /* Measured at the start. */
    uint64_t events_bytes;           /* Of blocks of events. */
    uint64_t processors[16];         /* Those that the rank may run on, a bit each; none: not known. */
};

struct block {
    uint32_t magic, kind;
    uint64_t bytes;      /* Of the block, with this. */
    uint64_t outside;    /* Messages to processes outside of the world. */
    uint64_t outside_bytes;
    uint64_t unknown;    /* Calls that could not be counted: type or communicator not understood. */
    uint64_t dropped;    /* Events that found no place. */
    uint64_t owner;      /* Of events: the number of the thread that wrote them. */
    uint64_t reserved;
};

struct sum {
    uint64_t times, bytes;
};

/* 16 bytes of what happened; 0 as a code is the end. `first` is, from its lowest bits: 32 of time (of the clock, since
 * the thread's last EVENT_CLOCK), 16 of code, 16 of tag. `second`: 24 of peer (a rank of the world; of a collective
 * its root, a rank of the communicator), 8 of communicator, 32 of bytes. A code is FIRST_FUNCTION and more for a
 * function of MPI, by its number among the names. Other codes belong to the function's event beside them: */
struct event {
    uint64_t first, second;
};

enum {
    EVENT_CLOCK = 1,        /* second: the clock. */
    EVENT_TIME = 2,         /* second: nanoseconds since 1970, at the clock before. */
    EVENT_SPENT = 3,        /* Before: second: how long the call took, of the clock. */
    EVENT_WIDE = 4,         /* Before: low 32 of first: the tag; second: communicator, then bytes above 32 bits. */
    EVENT_REQUEST = 5,      /* After: second: the handle of the request that began. */
    EVENT_COMPLETES = 6,    /* After: second: the handle of a request that is complete. */
    EVENT_MATCHED = 7,      /* After EVENT_COMPLETES: low 32 of first: the tag; second: the source in its communicator. */
    EVENT_COUNT = 8,        /* After: low 32 of first: which member; second: bytes to it. */
    EVENT_COMMUNICATOR = 9, /* Low 32 of first: its number, from 1; second: members; above 32 bits: 1 if these are remote. */
    EVENT_MEMBER = 10,      /* After: low 32 of first: which; second: rank of the world, -1: another world. */
    EVENT_CANCELLED = 11,   /* After EVENT_COMPLETES: the request was cancelled. */
    EVENT_CANCEL = 12,      /* Second: the handle of a request that is to be cancelled. */
    EVENT_CONTEXT = 13,     /* After EVENT_COMMUNICATOR: second: its identity, the same at all members. */
    FIRST_FUNCTION = 16,
    /* A bit of a function's code: the call completes one request. second: its handle; the tag: how long the call took,
     * of the clock, or NO_TAG: not known, or EVENT_SPENT before has it. */
    COMPLETES_ONE = 0x8000,
};

/* Peers, tags and communicators that say something else. */
enum { PEER_NONE = 0xffffff, PEER_ANY = 0xfffffe, NO_TAG = 0xffff, WIDE_COMM = 0xff };

#endif
