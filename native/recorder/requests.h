/* Persistent requests: what a start of each sends, kept from its making until it is freed.
 *
 * Part of record.c. Threads that may call MPI at once (MPI_THREAD_MULTIPLE) lock; others need not.
 */

static struct request **chain_of(word key)
{
    return &requests[(key ^ key >> 10 ^ key >> 20) & 1023];
}

static void hold(int taken)
{
    if (!locking)
        return;
    if (taken)
        pthread_mutex_lock(&lock);
    else
        pthread_mutex_unlock(&lock);
}

/* Keeps what a request sends: to `peer` of the world, or (-1) as a collective. */
static void keep(word key, struct request made)
{
    hold(1);
    struct request **chain = chain_of(key), *kept = *chain;
    while (kept && kept->key != key)
        kept = kept->next;
    if (!kept && (kept = calloc(1, sizeof *kept))) {
        kept->next = *chain;
        *chain = kept;
    }
    if (kept) {
        made.key = key;
        made.next = kept->next;
        free(kept->messages);
        *kept = made;
    } else
        free(made.messages);
    hold(0);
}

static void keep_message(struct thread *t, int function, long long count, word type, int peer, word comm, int tag,
                         void *request)
{
    if (peer < 0 || !ready(t))
        return;
    int rank = world_rank(t, peer, comm);
    long long bytes = bytes_of(t, count, type);
    if (rank == HIDDEN)
        return;
    keep(handle_at(&abi, request, 0), (struct request){.function = function, .peer = rank < 0 ? rank - 1 : rank,
                                                       .tag = tag, .comm = id_of(t), .bytes = bytes});
}

static void keep_collective(struct thread *t, int function, const struct comm *c, int root, long long bytes,
                            void *request)
{
    if (ready(t))
        keep(handle_at(&abi, request, 0), (struct request){.function = function, .peer = -1, .tag = root,
                                                           .comm = c->id, .bytes = bytes});
}

static void keep_around(struct thread *t, int function, word comm, struct around given, const void *request)
{
    struct comm *c = members(t, comm);
    long long bytes;
    int n = c && !c->hidden ? messages_of(t, c, &given, &bytes) : -1;
    struct message *messages = n < 0 ? NULL : malloc((n + 1) * sizeof *messages);
    if (!messages) {
        uncounted(t, c);
        return;
    }
    if (n > 0)
        memcpy(messages, t->caches->messages, n * sizeof *messages);
    keep(handle_at(&abi, request, 0), (struct request){.function = function, .peer = -1, .comm = c->id, .bytes = bytes,
                                                       .count = n, .messages = messages});
}

static void drop(word key)
{
    hold(1);
    for (struct request **at = chain_of(key); *at; at = &(*at)->next)
        if ((*at)->key == key) {
            struct request *gone = *at;
            *at = gone->next;
            free(gone->messages);
            free(gone);
            break;
        }
    hold(0);
}

static int kept(word key, struct request *found)
{
    hold(1);
    const struct request *one = *chain_of(key);
    while (one && one->key != key)
        one = one->next;
    if (one)
        *found = *one;
    hold(0);
    return one != NULL;
}

static void started(struct thread *t, word key, uint64_t start)
{
    struct request found;
    if (!kept(key, &found) || !ready(t))
        return;
    if (found.receives)
        note(t, found.function, found.peer, found.comm, found.tag, 0, key, start);
    else if (found.messages)
        sent_around(t, found.function, found.comm, found.messages, found.count, found.bytes, &key, start);
    else if (found.peer == -1)
        called(t, found.function, &(struct comm){.id = found.comm}, found.tag, found.bytes, &key, start);
    else if (found.peer < -1 || found.bytes < 0)
        count_odd(t, found.bytes < 0 ? NOT_UNDERSTOOD : found.peer + 1, found.bytes);
    else {
        add(&t->calls[found.function], found.bytes);
        add(&t->pairs[found.peer], found.bytes);
        note(t, found.function, found.peer, found.comm, found.tag, found.bytes, key, start);
    }
}

EXPORT int PMPI_Start(void *request)
{
    int (*call)(void *) = (int (*)(void *))real_function(F_Start);
    if (!call)
        return absent(F_Start);
    struct thread *t = &here;
    word key = handle_at(&abi, request, 0);
    uint64_t start = began_if(IS_OWN(t), 0);
    t->depth++;
    int failed = call(request);
    t->depth--;
    if (IS_OWN(t) && !failed && recording)
        started(t, key, start);
    return failed;
}

EXPORT int PMPI_Startall(int n, void *array)
{
    int (*call)(int, void *) = (int (*)(int, void *))real_function(F_Startall);
    if (!call)
        return absent(F_Startall);
    struct thread *t = &here;
    uint64_t start = began_if(IS_OWN(t), 0);
    t->depth++;
    int failed = call(n, array);
    t->depth--;
    if (IS_OWN(t) && !failed && recording)
        for (int i = 0; i < n; i++)
            started(t, handle_at(&abi, array, i), start);
    return failed;
}

/* A handle that is freed is looked up no more; `forgets` is told it before the call, for as soon as that is over
 * another thread may be given the same. `after` the call is what the program may need within it, in callbacks. */
#define FREES(name, forgets, after)                                                                              \
    EXPORT int PMPI_##name(void *given)                                                                          \
    {                                                                                                            \
        int (*call)(void *) = (int (*)(void *))real_function(F_##name);                                          \
        if (!call)                                                                                               \
            return absent(F_##name);                                                                             \
        word key = given && abi.kind ? handle_at(&abi, given, 0) : 0;                                            \
        uint64_t identity = 0;                                                                                   \
        (void)key, (void)identity;                                                                               \
        if (recording)                                                                                           \
            forgets;                                                                                             \
        here.depth++;                                                                                            \
        int failed = call(given);                                                                                \
        here.depth--;                                                                                            \
        if (!failed) {                                                                                           \
            after;                                                                                               \
        }                                                                                                        \
        return failed;                                                                                           \
    }

#if EVENTS
#define FORGET_COMM forget(key, 0), identity = identity_of(key)
#define LEAVE_COMM leave(key, identity)
#else
#define FORGET_COMM forget(key, 0)
#define LEAVE_COMM (void)0
#endif

FREES(Request_free, drop(key), (void)0)
FREES(Comm_free, FORGET_COMM, LEAVE_COMM)
FREES(Comm_disconnect, FORGET_COMM, LEAVE_COMM)
FREES(Win_free, forget(key, 1), (void)0)
FREES(Type_free, forget(0, -1), (void)0)

EXPORT int MPI_Start(void *) __attribute__((alias("PMPI_Start")));
EXPORT int MPI_Startall(int, void *) __attribute__((alias("PMPI_Startall")));
EXPORT int MPI_Request_free(void *) __attribute__((alias("PMPI_Request_free")));
EXPORT int MPI_Comm_free(void *) __attribute__((alias("PMPI_Comm_free")));
EXPORT int MPI_Comm_disconnect(void *) __attribute__((alias("PMPI_Comm_disconnect")));
EXPORT int MPI_Win_free(void *) __attribute__((alias("PMPI_Win_free")));
EXPORT int MPI_Type_free(void *) __attribute__((alias("PMPI_Type_free")));
