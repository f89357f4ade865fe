/* Events: what every call sent, received, completed, in 16 bytes each (format.h). Part of record.c, in the library
 * that is compiled with EVENTS; in the other one nothing of this is left but the names.
 *
 * A thread writes into a chunk of its own, without atomics; a full one is unmapped, and the next is twice as long, up
 * to MOST_CHUNK. What no longer fits below the limit, or on the disk, is counted as dropped; sums go on. A record's
 * second word is written first, and its code last: a rank that is killed leaves whole records only.
 */

enum { LEAST_CHUNK = 1 << 16, MOST_CHUNK = 1 << 22, ROOM = 6 };

#define ALL_BELOW_32 0xffffffffu

#if EVENTS

static int has_ticks; /* The processor's counter runs at one pace. */
static uint64_t events_limit = 64u << 20;

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
static void choose_clock(void)
{
    unsigned a, b, c, d = 0;
    has_ticks = __get_cpuid(0x80000007, &a, &b, &c, &d) && d & 1u << 8;
}
static inline uint64_t ticks(void)
{
    return LIKELY(has_ticks) ? __rdtsc() : now(CLOCK_MONOTONIC);
}
#else
static void choose_clock(void)
{
}
static inline uint64_t ticks(void)
{
    return now(CLOCK_MONOTONIC);
}
#endif

/* What time it is, and the clock then: the closest of some readings, for the program may lose its processor in one. */
static void read_clocks(uint64_t *nanoseconds, uint64_t *clock)
{
    uint64_t least = ~(uint64_t)0;
    for (int i = 0; i < 8; i++) {
        uint64_t before = ticks(), time = now(CLOCK_REALTIME), after = ticks();
        if (after - before < least) {
            least = after - before;
            *nanoseconds = time;
            *clock = before + least / 2;
        }
    }
}

static inline void put(struct thread *t, uint64_t first, uint64_t second)
{
    t->next->second = second;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    t->next->first = first;
    t->next++;
}

/* A chunk for at least ROOM records; 0 where there is none, and the event is then counted as dropped. */
static __attribute__((noinline)) int more(struct thread *t)
{
    struct caches *caches = t->caches;
    if (!caches)
        return 0;
    if (!caches->full) {
        uint64_t size = caches->chunk ? 2 * caches->chunk->bytes : LEAST_CHUNK;
        size = size > MOST_CHUNK ? MOST_CHUNK : size;
        pthread_mutex_lock(&lock);
        struct block *block = NULL;
        if (head->events_bytes + size > events_limit)
            head->flags |= FLAG_LIMIT;
        else if (!(block = extend(size)))
            head->flags |= FLAG_EVENTS_NO_SPACE;
        else {
            block->magic = BLOCK_MAGIC;
            block->kind = BLOCK_EVENTS;
            block->bytes = size;
            block->owner = caches->number;
            head->bytes += size;
            head->events_bytes += size;
        }
        pthread_mutex_unlock(&lock);
        if (block) {
            if (caches->chunk)
                munmap(caches->chunk, caches->chunk->bytes);
            caches->chunk = block;
            t->next = (struct event *)(block + 1);
            t->end = (struct event *)((char *)block + size);
            return 1;
        }
        caches->full = 1;
        t->end = t->next;
    }
    t->block->dropped++;
    return 0;
}

static inline int room(struct thread *t)
{
    return LIKELY(t->end - t->next >= ROOM) || more(t);
}

/* The clock's reading in full, and what time it is. */
static __attribute__((noinline)) uint32_t rebase(struct thread *t, uint64_t when)
{
    if (room(t)) {
        put(t, (uint64_t)EVENT_CLOCK << 32, when);
        put(t, (uint64_t)EVENT_TIME << 32, now(CLOCK_REALTIME) - (ticks() - when) * head->ns_per_tick);
        t->base = when;
    }
    return 0;
}

/* An event of a call; `tag`, `request`, `began` may lack (-1, 0, 0). Whether it was kept. */
static inline __attribute__((always_inline)) int note(struct thread *t, int function, uint32_t peer, uint32_t comm,
                                                      int tag, uint64_t bytes, word request, uint64_t began)
{
    uint64_t when = ticks(), since = when - t->base;
    if (UNLIKELY(since >> 32))
        since = rebase(t, when);
    if (!room(t))
        return 0;
    if (began)
        put(t, (uint64_t)EVENT_SPENT << 32, when - began);
    if (UNLIKELY(tag >= NO_TAG || bytes >> 32 || comm >= WIDE_COMM)) {
        put(t, (uint64_t)EVENT_WIDE << 32 | (uint32_t)tag, (bytes >> 32) << 32 | comm);
        comm = WIDE_COMM;
        tag = NO_TAG;
    }
    put(t, since | (uint64_t)(FIRST_FUNCTION + function) << 32 | (uint64_t)(uint16_t)tag << 48,
        (peer & PEER_NONE) | comm << 24 | bytes << 32);
    if (request)
        put(t, (uint64_t)EVENT_REQUEST << 32, request);
    return 1;
}

/* What belongs to the event before. */
static inline void note_more(struct thread *t, int code, uint32_t number, uint64_t value)
{
    if (room(t))
        put(t, (uint64_t)code << 32 | number, value);
}

/* Members of a communicator, as ranks of the world, and what tells it from others with the same. */
static void define(struct thread *t, const struct comm *c, uint64_t identity)
{
    if (c->id <= 0 || !room(t))
        return;
    put(t, (uint64_t)EVENT_COMMUNICATOR << 32 | (uint32_t)c->id, (uint64_t)c->inter << 32 | (uint32_t)c->peers);
    if (identity)
        note_more(t, EVENT_CONTEXT, 0, identity);
    for (int i = 0; i < c->peers; i++)
        note_more(t, EVENT_MEMBER, i, (uint32_t)c->map[i]);
}

/* The time before a call; of one that hardly waits only where threads may call MPI at once: nothing else tells the
 * order of what they did. */
static inline uint64_t began_if(int own, int waits)
{
    if (!(waits || locking) || !own || !recording)
        return 0;
    /* A thread has its number before its first call: it may be that of one that ends while this waits. */
    if (locking)
        ready(&here);
    return ticks();
}

#else

static inline uint64_t began_if(int own, int waits)
{
    return (void)own, (void)waits, 0;
}

static inline int note(struct thread *t, int function, uint32_t peer, uint32_t comm, int tag, uint64_t bytes,
                       word request, uint64_t began)
{
    (void)t, (void)function, (void)peer, (void)comm, (void)tag, (void)bytes, (void)request, (void)began;
    return 0;
}

#endif
