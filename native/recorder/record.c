/* A preloaded library that counts what an MPI program sends: by function, and by rank that it is sent to.
 *
 * It is linked against no MPI and compiled without `mpi.h` (abi.h says what differs). MPI_X and PMPI_X are both
 * defined, as one function: Fortran's bindings call the one or the other, and the library itself is reached by
 * its own PMPI_X. Each thread counts in a block of its own, without atomics; blocks lie in a mapped file a rank
 * (format.h), which survives whatever ends the rank. Nothing is sent and nobody waits for anybody.
 *
 * Invariants: a program never fails because of the recorder; what can't be counted is counted as such. A call is
 * counted when it has succeeded, and only where it is the program's: `depth` hides what MPI's own functions call.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "abi.h"
#include "format.h"

#ifndef EVENTS
#define EVENTS 0 /* 1: receives and completions are wrapped too, and every call is an event (events.h). */
#endif
#define FOLDER_VARIABLE "NETLOOM_RECORD"
#define LIMIT_VARIABLE "NETLOOM_RECORD_EVENTS"
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define EXPORT __attribute__((visibility("default")))

#include "functions.inc"

/* What a thread has at hand; `stamp` is that of the caches it was filled under. */
struct thread {
    unsigned depth, stamp;
    int erred; /* A handler of the program was told of an error: MPICH 5 then says that the call succeeded. */
    word comm, type;
    const int *map; /* World ranks of the peers of `comm`; NULL where they are the same. */
    int peers;
    long long size; /* Of `type`. */
    struct sum *calls, *pairs;
    struct sum *one_sided; /* Two a rank; NULL until something is put or got. */
    struct block *block;
    struct caches *caches;
#if EVENTS
    struct event *next, *end;
    uint64_t base; /* Of the clock. */
    int comm_id;   /* Of `comm`. */
#endif
};

enum { CACHED = 256 };

/* What a thread looked up; flushed when any handle is freed. */
struct caches {
    struct comm *comms[CACHED];
    struct {
        word type;
        long long size;
        int known;
    } types[CACHED];
    struct block *block, *one_sided;
    struct caches *next;
    struct message *messages; /* Of a neighbourhood: `messages_room` of them. */
    int messages_room;
#if EVENTS
    struct block *chunk; /* Events are written there. */
    struct event *next_event, *end;
    uint64_t base;
    int number, full, room;
    word *handles; /* `room` of them, and of statuses. */
    char *statuses;
#endif
};

/* A communicator's or a window's peers. */
struct comm {
    word key;
    int window, inter, peers, local, me;
    int hidden; /* MPI made it for itself, within a call: what it sends there is not the program's. */
    int id;     /* Of events; the world is 0. */
    int *map;
    int in, out; /* Neighbours of a topology; -1: not asked for yet. */
    int *to;     /* `out` of them, ranks of the communicator; negative: nobody. */
    struct comm *next;
};

/* What a call of a neighbourhood sends to one neighbour: a rank of the communicator, and of the world. */
struct message {
    int member, rank;
    long long bytes;
};

/* A persistent request: what every start of it sends. */
struct request {
    word key;
    int function, peer, tag, comm, receives;
    long long bytes;
    int count; /* Of `messages`, of a neighbourhood; else both are 0. */
    struct message *messages;
    struct request *next;
};

static struct abi abi;
static void *library; /* The MPI library, where its functions are found. */
static void *real[FUNCTIONS];
static struct head *head;
static int file = -1, opened;
static int locking; /* Threads may call MPI at once. */
static char file_path[PATH_MAX];
static dev_t file_device;
static ino_t file_inode;
static volatile unsigned stamp = 1; /* Raised when a handle is freed, and when recording begins and ends. */
static volatile int recording;
static __thread struct thread here;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t leaving;
static struct caches *unused; /* Of threads that have ended. */
static struct comm *comms[CACHED];
static struct request *requests[1024];

static void complain(const char *format, ...)
{
    char text[1200];
    va_list arguments;
    va_start(arguments, format);
    int n = snprintf(text, sizeof text, "netloom: record: ");
    n += vsnprintf(text + n, sizeof text - n - 1, format, arguments);
    va_end(arguments);
    if (n > (int)sizeof text - 2)
        n = sizeof text - 2;
    text[n++] = '\n';
    if (write(2, text, n) < 0)
        return;
}

static uint64_t now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + t.tv_nsec;
}

#include "library.h"

/* The file and its blocks. */

/* A descriptor that is out of the program's way: the lowest numbers are its own, as without us. */
static int high(int descriptor)
{
    struct rlimit most;
    enum { HIGHEST = 4096, OF_THEM = 64, LEAST = 256 };
    if (descriptor < 0 || getrlimit(RLIMIT_NOFILE, &most))
        return descriptor;
    rlim_t limit = most.rlim_cur < HIGHEST ? most.rlim_cur : HIGHEST;
    if (limit < LEAST)
        return descriptor;
    int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, (int)limit - OF_THEM);
    if (moved < 0)
        return descriptor;
    close(descriptor);
    return moved;
}

/* Whether a descriptor is of the rank's file, and of nothing that the program opened in its place. */
static int is_file(int descriptor)
{
    struct stat found;
    return descriptor >= 0 && !fstat(descriptor, &found) && found.st_dev == file_device && found.st_ino == file_inode;
}

/* Makes sure that `file` is the rank's file: programs close descriptors that are not theirs, and open others. */
static int hold_file(void)
{
    if (is_file(file))
        return 1;
    /* What has the number now is the program's. */
    file = high(open(file_path, O_RDWR | O_NOFOLLOW | O_CLOEXEC));
    if (is_file(file))
        return 1;
    if (file >= 0)
        close(file);
    file = -1;
    return 0;
}

/* Makes the file so long; 0 or an errno. Not by ftruncate: where the disk is full, touching a page would be a SIGBUS. */
static int reserve(uint64_t bytes)
{
    struct rlimit most;
    if (!hold_file())
        return EBADF;
    /* Beyond the limit there is a signal, which ends the program. */
    if (!getrlimit(RLIMIT_FSIZE, &most) && most.rlim_cur != RLIM_INFINITY && bytes > most.rlim_cur)
        return EFBIG;
    return posix_fallocate(file, 0, bytes);
}

/* Makes the file longer; called with the lock held. */
static void *extend(size_t bytes)
{
    uint64_t at = head->bytes;
    bytes = (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    if (reserve(at + bytes))
        return NULL;
    void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, at);
    return mapped == MAP_FAILED ? NULL : mapped;
}

static struct block *new_block(int kind, size_t bytes)
{
    struct block *block = extend(bytes);
    if (!block) {
        head->state = STATE_NO_SPACE;
        recording = 0;
        return NULL;
    }
    block->magic = BLOCK_MAGIC;
    block->kind = kind;
    block->bytes = (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    head->bytes += block->bytes;
    return block;
}

static inline int ready(struct thread *t);
#include "events.h"

/* A thread that ends leaves its block to another. */
static void left(void *given)
{
    struct caches *caches = given;
#if EVENTS
    caches->next_event = here.next;
    caches->end = here.end;
    caches->base = here.base;
#endif
    pthread_mutex_lock(&lock);
    caches->next = unused;
    unused = caches;
    pthread_mutex_unlock(&lock);
    memset(&here, 0, sizeof here);
}

/* Flushes the thread's caches, and makes them if need be; whether it is being recorded. */
static __attribute__((noinline)) int renew(struct thread *t)
{
    if (!recording)
        return 0;
    if (!t->caches) {
        pthread_mutex_lock(&lock);
        struct caches *caches = unused;
        if (caches)
            unused = caches->next;
        else if ((caches = calloc(1, sizeof *caches))) {
            size_t sums = (size_t)FUNCTIONS + head->ranks;
            caches->block = new_block(BLOCK_SUMS, sizeof(struct block) + sums * sizeof(struct sum));
#if EVENTS
            static int threads;
            caches->number = threads++;
#endif
        }
        pthread_mutex_unlock(&lock);
        if (!caches || !caches->block)
            return 0;
        t->caches = caches;
        t->block = caches->block;
#if EVENTS
        t->next = caches->next_event;
        t->end = caches->end;
        t->base = caches->base;
#endif
        t->calls = (struct sum *)(caches->block + 1);
        t->pairs = t->calls + FUNCTIONS;
        t->one_sided = caches->one_sided ? (struct sum *)(caches->one_sided + 1) : NULL;
        pthread_setspecific(leaving, caches);
    }
    memset(t->caches->comms, 0, sizeof t->caches->comms);
    memset(t->caches->types, 0, sizeof t->caches->types);
    t->comm = t->type = 0;
    t->stamp = stamp;
    return 1;
}

static inline int ready(struct thread *t)
{
    return LIKELY(t->stamp == stamp) || renew(t);
}

static int slot(word key)
{
    return (key ^ key >> 8 ^ key >> 16) & (CACHED - 1);
}

#if EVENTS
static uint64_t identity_of(word key); /* contexts.h */
#endif
#include "communicators.h"
#if EVENTS
#include "contexts.h"
#endif

static __attribute__((noinline)) long long size_of_other(struct thread *t, word type)
{
    int at = slot(type);
    if (!t->caches->types[at].known || t->caches->types[at].type != type) {
        long long size = -1;
        int (*wide)(word, long long *) = OWN(Type_size_x, (word, long long *));
        int (*narrow)(word, int *) = OWN(Type_size, (word, int *));
        int small;
        t->depth++;
        /* To ask for the size of nothing would be the program's error. */
        if (type != abi.null_type && (!wide || wide(type, &size)))
            size = narrow && !narrow(type, &small) ? small : -1;
        t->depth--;
        t->caches->types[at].known = 1;
        t->caches->types[at].type = type;
        t->caches->types[at].size = size;
    }
    t->type = type;
    return t->size = t->caches->types[at].size;
}

static inline long long size_of(struct thread *t, word type)
{
    type = handle(&abi, type);
    return LIKELY(type == t->type) ? t->size : size_of_other(t, type);
}

static long long product(long long count, long long size)
{
    return count < 0 || size < 0 ? -1 : count * size;
}

/* Of none, whatever the type is: it is not looked at. */
static inline long long bytes_of(struct thread *t, long long count, word type)
{
    return UNLIKELY(count == 0) ? 0 : product(count, size_of(t, type));
}

/* Counting. */

static inline void add(struct sum *sum, uint64_t bytes)
{
    sum->times++;
    sum->bytes += bytes;
}

/* No rank of the world: of another world; of a communicator that is not understood; of one that MPI made for itself. */
enum { OUTSIDE = -1, NOT_UNDERSTOOD = -2, HIDDEN = -3 };

static __attribute__((noinline)) int other_comm(struct thread *t, word comm)
{
    const struct comm *found = peers_of(t, comm, 0);
    if (!found || found->hidden)
        return found ? HIDDEN : NOT_UNDERSTOOD;
    t->comm = comm;
    t->map = found->map;
    t->peers = found->peers;
#if EVENTS
    t->comm_id = found->id;
#endif
    return 0;
}

/* The world rank of a peer, or one of `OUTSIDE`, `NOT_UNDERSTOOD`, `HIDDEN`. */
static inline int world_rank(struct thread *t, int peer, word comm)
{
    comm = handle(&abi, comm);
    if (UNLIKELY(comm != t->comm)) {
        int failed = other_comm(t, comm);
        if (failed)
            return failed;
    }
    if (UNLIKELY(peer >= t->peers))
        return NOT_UNDERSTOOD;
    return t->map[peer];
}

static __attribute__((noinline)) void count_odd(struct thread *t, int rank, long long bytes)
{
    if (rank == HIDDEN)
        return;
    if (rank == NOT_UNDERSTOOD && t->erred) {
        t->erred = 0;
        return;
    }
    if (rank == NOT_UNDERSTOOD || bytes < 0) {
        t->block->unknown++;
        return;
    }
    t->block->outside++;
    t->block->outside_bytes += bytes;
}

static inline int id_of(const struct thread *t)
{
#if EVENTS
    return t->comm_id;
#else
    return (void)t, 0;
#endif
}

/* A message to `peer`; a negative one is MPI_PROC_NULL in every interface. `request` may lack. */
static inline __attribute__((always_inline)) void sent(struct thread *t, int function, long long count, word type,
                                                       int peer, word comm, int tag, const void *request,
                                                       uint64_t start)
{
    if (peer < 0 || !ready(t))
        return;
    long long bytes = bytes_of(t, count, type);
    int rank = world_rank(t, peer, comm);
    if (UNLIKELY(rank < 0 || bytes < 0)) {
        count_odd(t, rank < 0 ? rank : NOT_UNDERSTOOD, bytes);
        return;
    }
    add(&t->calls[function], bytes);
    add(&t->pairs[rank], bytes);
    note(t, function, rank, id_of(t), tag, bytes, request ? handle_at(&abi, request, 0) : 0, start);
}

/* A call without pairs: a collective. */
static int called(struct thread *t, int function, const struct comm *c, int root, long long bytes,
                  const void *request, uint64_t start)
{
    if (bytes < 0) {
        t->block->unknown++;
        return 0;
    }
    add(&t->calls[function], bytes);
    return note(t, function, root < 0 ? PEER_NONE : root, c->id, -1, bytes,
                request ? handle_at(&abi, request, 0) : 0, start);
}

/* Bytes put to a peer of a window, and got from it; -1 where there are none. */
static void moved(struct thread *t, int function, long long put, long long got, int peer, word window)
{
    if (peer < 0 || !ready(t))
        return;
    const struct comm *found = peers_of(t, handle(&abi, window), 1);
    int rank = found && peer < found->peers ? found->map[peer] : NOT_UNDERSTOOD;
    if (rank < 0) {
        count_odd(t, rank, (put > 0 ? put : 0) + (got > 0 ? got : 0));
        return;
    }
    if (!t->one_sided) {
        pthread_mutex_lock(&lock);
        size_t bytes = sizeof(struct block) + 2 * (size_t)head->ranks * sizeof(struct sum);
        struct block *block = new_block(BLOCK_ONE_SIDED, bytes);
        pthread_mutex_unlock(&lock);
        if (!block)
            return;
        t->caches->one_sided = block;
        t->one_sided = (struct sum *)(block + 1);
    }
    if (put >= 0)
        add(&t->one_sided[rank], put);
    if (got >= 0)
        add(&t->one_sided[head->ranks + rank], got);
    add(&t->calls[function], (put > 0 ? put : 0) + (got > 0 ? got : 0));
    note(t, function, rank, 0, -1, (put > 0 ? put : 0) + (got > 0 ? got : 0), 0, 0);
}

#include "collectives.h"
#include "requests.h"
#if EVENTS
#include "receives.h"
#endif
#include "handlers.h"
#include "lifetime.h"
#include "wrappers.inc"
