/* Receives, and the calls that complete requests: only in the library that records events. Part of record.c.
 *
 * A receive from any source, or with any tag, is told when it is complete, from its status; where the program wants
 * none, the call gets one of ours. Requests are told apart by their handles, which may be used again: a completion is
 * of the last request that began with its handle. Tests that found nothing are no events.
 */

enum { OWN_STATUS = 64 };

static int wildcards; /* Whether any receive needed its status; never unset. */
static int cancels;   /* Whether any request was to be cancelled; never unset. */

static inline int status_source(const void *status)
{
    return ((const int *)status)[abi.source_at];
}

static inline int status_tag(const void *status)
{
    return ((const int *)status)[abi.source_at + 1];
}

static inline int ignored(const void *status)
{
    return (word)status == abi.ignore;
}

/* The world rank of who sends, or PEER_ANY; PEER_NONE where it cannot be told. */
static uint32_t receives_from(struct thread *t, int source, int tag, word comm, const void *status)
{
    if (source < 0 && source == abi.any_source)
        source = status ? status_source(status) : -1;
    else if (source < 0)
        return PEER_NONE;
    int rank = world_rank(t, source < 0 ? 0 : source, comm);
    if (rank < OUTSIDE)
        return PEER_NONE;
    if (source < 0 || tag < 0)
        wildcards = 1;
    return source < 0 ? PEER_ANY : rank < 0 ? PEER_NONE : (uint32_t)rank;
}

/* A blocking receive that is complete. */
static void received(struct thread *t, int function, int source, int tag, word comm, const void *status, uint64_t start)
{
    if (!ready(t))
        return;
    uint32_t peer = receives_from(t, source, tag, comm, status);
    if (peer != PEER_NONE)
        note(t, function, peer, t->comm_id, tag < 0 ? status_tag(status) : tag, 0, 0, start);
}

static void receive_begun(struct thread *t, int function, int source, int tag, word comm, const void *request,
                          uint64_t start)
{
    if (!ready(t))
        return;
    uint32_t peer = receives_from(t, source, tag, comm, NULL);
    if (peer != PEER_NONE)
        note(t, function, peer, t->comm_id, tag < 0 ? -1 : tag, 0, handle_at(&abi, request, 0), start);
}

static void keep_receive(struct thread *t, int function, int source, int tag, word comm, const void *request)
{
    if (!ready(t))
        return;
    uint32_t peer = receives_from(t, source, tag, comm, NULL);
    if (peer != PEER_NONE)
        keep(handle_at(&abi, request, 0), (struct request){.function = function, .peer = peer,
                                                           .tag = tag < 0 ? -1 : tag, .comm = t->comm_id,
                                                           .receives = 1});
}

/* A message that was found, until it is received: its handle is no request's. */
static word message_key(const void *message)
{
    return handle_at(&abi, message, 0) ^ (word)1 << 63;
}

static void keep_found(struct thread *t, int source, int tag, word comm, const void *message, const void *status)
{
    if (!ready(t))
        return;
    uint32_t peer = receives_from(t, source, tag, comm, status);
    if (peer != PEER_NONE)
        keep(message_key(message), (struct request){.peer = peer, .tag = tag < 0 ? status_tag(status) : tag,
                                                    .comm = t->comm_id, .receives = 1});
}

/* Which message a call is to receive: asked before it, for as soon as that is over another thread may find one with
 * the same handle. */
static int take_found(const void *message, struct request *found)
{
    word key = message_key(message);
    if (!kept(key, found))
        return 0;
    drop(key);
    return 1;
}

static void found_received(struct thread *t, int function, const struct request *found, const void *request,
                           uint64_t start)
{
    if (ready(t))
        note(t, function, found->peer, found->comm, found->tag, 0, request ? handle_at(&abi, request, 0) : 0, start);
}

/* A call that completes requests: what it was given, before it forgets. */
struct completing {
    word *handles;
    char *statuses;
    uint64_t began;
};

/* Whether there is anything to note; `statuses` becomes ours where the program ignores them and they are needed. */
static int completes(struct thread *t, struct completing *c, int n, const void *array, char **statuses)
{
    if (!recording || !ready(t) || n <= 0 || !array)
        return 0;
    if (t->caches->room < n) {
        word *handles = realloc(t->caches->handles, n * sizeof *handles);
        t->caches->handles = handles ? handles : t->caches->handles;
        char *own = realloc(t->caches->statuses, (size_t)n * OWN_STATUS);
        t->caches->statuses = own ? own : t->caches->statuses;
        if (!handles || !own)
            return 0;
        t->caches->room = n;
    }
    c->handles = t->caches->handles;
    for (int i = 0; i < n; i++)
        c->handles[i] = handle_at(&abi, array, i);
    int needed = wildcards || cancels;
    if (needed && ignored(*statuses))
        *statuses = t->caches->statuses;
    c->statuses = needed ? *statuses : NULL;
    c->began = ticks();
    return 1;
}

static int is_cancelled(struct thread *t, const char *status)
{
    int (*ask)(const char *, int *) = OWN(Test_cancelled, (const char *, int *));
    int cancelled = 0;
    t->depth++;
    int failed = !ask || ask(status, &cancelled);
    t->depth--;
    return !failed && cancelled;
}

/* What the `at`-th status says of the request that was noted last. */
static void note_status(struct thread *t, const struct completing *c, int at)
{
    if (c->statuses) {
        const char *status = c->statuses + (size_t)at * abi.status_bytes;
        if (cancels && is_cancelled(t, status))
            note_more(t, EVENT_CANCELLED, 0, 0);
        else if (status_source(status) >= 0)
            note_more(t, EVENT_MATCHED, (uint32_t)status_tag(status), (uint32_t)status_source(status));
    }
}

/* One of them is complete; its status is the `at`-th. */
static void complete(struct thread *t, const struct completing *c, int which, int at)
{
    note_more(t, EVENT_COMPLETES, 0, c->handles[which]);
    note_status(t, c, at);
}

/* A call that completes one request, in one record. */
static void completed_one(struct thread *t, int function, const struct completing *c, int which, int at, int waits)
{
    uint64_t when = ticks(), since = when - t->base, spent = waits ? when - c->began : NO_TAG;
    if (UNLIKELY(since >> 32))
        since = rebase(t, when);
    if (!room(t))
        return;
    if (waits && spent >= NO_TAG)
        put(t, (uint64_t)EVENT_SPENT << 32, spent);
    put(t, since | (uint64_t)(COMPLETES_ONE | (FIRST_FUNCTION + function)) << 32 |
               (spent < NO_TAG ? spent : NO_TAG) << 48, c->handles[which]);
    note_status(t, c, at);
}

static int completing_event(struct thread *t, int function, const struct completing *c, int n, int waits)
{
    return note(t, function, PEER_NONE, 0, -1, n, 0, waits ? c->began : 0);
}

#define BEGIN(name, types, ...)                                                                                  \
    int(*call) types = (int(*) types)real_function(F_##name);                                                    \
    if (!call)                                                                                                   \
        return absent(F_##name);                                                                                 \
    struct thread *t = &here;                                                                                    \
    struct completing c = {0};                                                                                   \
    int noted = IS_OWN(t) && completes(t, &c, __VA_ARGS__);                                                                   \
    t->depth++

EXPORT int PMPI_Wait(void *request, char *status)
{
    BEGIN(Wait, (void *, char *), 1, request, &status);
    int failed = call(request, status);
    t->depth--;
    if (noted && !failed)
        completed_one(t, F_Wait, &c, 0, 0, 1);
    return failed;
}

EXPORT int PMPI_Test(void *request, int *flag, char *status)
{
    BEGIN(Test, (void *, int *, char *), 1, request, &status);
    int failed = call(request, flag, status);
    t->depth--;
    if (noted && !failed && *flag)
        completed_one(t, F_Test, &c, 0, 0, 0);
    return failed;
}

EXPORT int PMPI_Waitall(int n, void *array, char *statuses)
{
    BEGIN(Waitall, (int, void *, char *), n, array, &statuses);
    int failed = call(n, array, statuses);
    t->depth--;
    if (noted && !failed && completing_event(t, F_Waitall, &c, n, 1))
        for (int i = 0; i < n; i++)
            complete(t, &c, i, i);
    return failed;
}

EXPORT int PMPI_Testall(int n, void *array, int *flag, char *statuses)
{
    BEGIN(Testall, (int, void *, int *, char *), n, array, &statuses);
    int failed = call(n, array, flag, statuses);
    t->depth--;
    if (noted && !failed && *flag && completing_event(t, F_Testall, &c, n, 0))
        for (int i = 0; i < n; i++)
            complete(t, &c, i, i);
    return failed;
}

EXPORT int PMPI_Waitany(int n, void *array, int *which, char *status)
{
    BEGIN(Waitany, (int, void *, int *, char *), n, array, &status);
    int failed = call(n, array, which, status);
    t->depth--;
    if (noted && !failed && *which >= 0 && *which < n)
        completed_one(t, F_Waitany, &c, *which, 0, 1);
    return failed;
}

EXPORT int PMPI_Testany(int n, void *array, int *which, int *flag, char *status)
{
    BEGIN(Testany, (int, void *, int *, int *, char *), n, array, &status);
    int failed = call(n, array, which, flag, status);
    t->depth--;
    if (noted && !failed && *flag && *which >= 0 && *which < n)
        completed_one(t, F_Testany, &c, *which, 0, 0);
    return failed;
}

static void completed_some(struct thread *t, int function, const struct completing *c, int n, int done,
                           const int *indices, int waits)
{
    if (done <= 0 || done > n || !completing_event(t, function, c, done, waits))
        return;
    for (int i = 0; i < done; i++)
        if (indices[i] >= 0 && indices[i] < n)
            complete(t, c, indices[i], i);
}

EXPORT int PMPI_Waitsome(int n, void *array, int *done, int *indices, char *statuses)
{
    BEGIN(Waitsome, (int, void *, int *, int *, char *), n, array, &statuses);
    int failed = call(n, array, done, indices, statuses);
    t->depth--;
    if (noted && !failed)
        completed_some(t, F_Waitsome, &c, n, *done, indices, 1);
    return failed;
}

EXPORT int PMPI_Testsome(int n, void *array, int *done, int *indices, char *statuses)
{
    BEGIN(Testsome, (int, void *, int *, int *, char *), n, array, &statuses);
    int failed = call(n, array, done, indices, statuses);
    t->depth--;
    if (noted && !failed)
        completed_some(t, F_Testsome, &c, n, *done, indices, 0);
    return failed;
}

/* Whether it was cancelled is told when it is complete; a receive that is freed before was. */
EXPORT int PMPI_Cancel(void *request)
{
    int (*call)(void *) = (int (*)(void *))real_function(F_Cancel);
    if (!call)
        return absent(F_Cancel);
    struct thread *t = &here;
    word key = recording ? handle_at(&abi, request, 0) : 0;
    cancels = 1;
    t->depth++;
    int failed = call(request);
    t->depth--;
    if (IS_OWN(t) && !failed && ready(t))
        note_more(t, EVENT_CANCEL, 0, key);
    return failed;
}

EXPORT int MPI_Cancel(void *) __attribute__((alias("PMPI_Cancel")));
EXPORT int MPI_Wait(void *, char *) __attribute__((alias("PMPI_Wait")));
EXPORT int MPI_Test(void *, int *, char *) __attribute__((alias("PMPI_Test")));
EXPORT int MPI_Waitall(int, void *, char *) __attribute__((alias("PMPI_Waitall")));
EXPORT int MPI_Testall(int, void *, int *, char *) __attribute__((alias("PMPI_Testall")));
EXPORT int MPI_Waitany(int, void *, int *, char *) __attribute__((alias("PMPI_Waitany")));
EXPORT int MPI_Testany(int, void *, int *, int *, char *) __attribute__((alias("PMPI_Testany")));
EXPORT int MPI_Waitsome(int, void *, int *, int *, char *) __attribute__((alias("PMPI_Waitsome")));
EXPORT int MPI_Testsome(int, void *, int *, int *, char *) __attribute__((alias("PMPI_Testsome")));
