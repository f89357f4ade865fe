/* What a collective call sends as asked: the bytes of its own send buffer, whatever the library makes of it.
 *
 * Part of record.c. Counts are arrays of int, in the twins for large counts (`wide`) of 64 bits. Every function
 * here answers -1 where it does not understand a type or a communicator: that call is counted as unknown.
 */

static struct comm *members(struct thread *t, word comm)
{
    return ready(t) ? peers_of(t, handle(&abi, comm), 0) : NULL;
}

/* A collective that cannot be counted. */
static void uncounted(struct thread *t, const struct comm *c)
{
    if (ready(t) && !(c && c->hidden))
        t->block->unknown++;
}

static long long element(const void *counts, int wide, long index)
{
    return wide ? ((const int64_t *)counts)[index] : ((const int *)counts)[index];
}

static long long sum_of(const void *counts, int wide, long n)
{
    long long sum = 0;
    for (long i = 0; i < n; i++)
        sum += element(counts, wide, i);
    return sum;
}

static long long sum_of_types(struct thread *t, const void *counts, const void *types, int wide, long n)
{
    long long sum = 0;
    for (long i = 0; i < n; i++) {
        long long count = element(counts, wide, i), size;
        if (count == 0)
            continue;
        size = size_of(t, handle_at(&abi, types, i));
        if (size < 0)
            return -1;
        sum += count * size;
    }
    return sum;
}

#if EVENTS
/* What goes to each member, by its event: of `type`, or of the types of a list. */
static void note_counts(struct thread *t, int wide, const void *counts, const void *types, word type, long n)
{
    for (long i = 0; i < n; i++) {
        long long count = element(counts, wide, i);
        if (count > 0)
            note_more(t, EVENT_COUNT, i, count * size_of(t, types ? handle_at(&abi, types, i) : type));
    }
}
#endif

/* Whether this rank is the root; in an intercommunicator it says so. */
static int at_root(const struct comm *c, int root)
{
    return c->inter ? root == abi.root : root == c->me;
}

/* Whether an operation takes what the caller gives: MPI_NO_OP only fetches. */
static int gives(word op)
{
    return handle(&abi, op) != abi.no_op;
}

/* Neighbours of a topology, as its communicator tells them; whether it did. A question that is not of the topology's
 * own kind would be an error of the program, and its end. */
static int ask_neighbours(struct comm *c, int *in, int *out, int **to)
{
    int (*kind)(word, int *) = OWN(Topo_test, (word, int *));
    int which, weighted, dimensions;
    if (!kind || kind(c->key, &which))
        return 0;
    if (which == abi.dist_graph) {
        int (*count)(word, int *, int *, int *) = OWN(Dist_graph_neighbors_count, (word, int *, int *, int *));
        int (*ask)(word, int, int *, int *, int, int *, int *) =
            OWN(Dist_graph_neighbors, (word, int, int *, int *, int, int *, int *));
        if (!count || !ask || count(c->key, in, out, &weighted))
            return 0;
        /* Sources, their weights, destinations, their weights. */
        int *room = malloc(2 * ((size_t)*in + *out + 2) * sizeof(int));
        *to = malloc(((size_t)*out + 1) * sizeof(int));
        int failed = !room || !*to || ask(c->key, *in, room, room + *in + 1, *out, *to, room + 2 * *in + 2);
        free(room);
        return !failed;
    }
    if (which == abi.graph) {
        int (*count)(word, int, int *) = OWN(Graph_neighbors_count, (word, int, int *));
        int (*ask)(word, int, int, int *) = OWN(Graph_neighbors, (word, int, int, int *));
        if (!count || !ask || count(c->key, c->me, out))
            return 0;
        *in = *out;
        *to = malloc(((size_t)*out + 1) * sizeof(int));
        return *to && !ask(c->key, c->me, *out, *to);
    }
    if (which != abi.cart)
        return 0;
    int (*count)(word, int *) = OWN(Cartdim_get, (word, int *));
    int (*shift)(word, int, int, int *, int *) = OWN(Cart_shift, (word, int, int, int *, int *));
    if (!count || !shift || count(c->key, &dimensions))
        return 0;
    *in = *out = 2 * dimensions;
    *to = malloc(((size_t)*out + 1) * sizeof(int));
    for (int i = 0; *to && i < dimensions; i++)
        if (shift(c->key, i, 1, &(*to)[2 * i], &(*to)[2 * i + 1]))
            return 0;
    return *to != NULL;
}

/* Neighbours of a communicator are known from here on; without a topology, or one that is not understood, none. */
static int *neighbours(struct thread *t, struct comm *c)
{
    if (__atomic_load_n(&c->out, __ATOMIC_ACQUIRE) < 0) {
        int in = 0, out = 0, *to = NULL;
        t->depth++;
        if (!ask_neighbours(c, &in, &out, &to)) {
            free(to);
            to = NULL;
            in = out = 0;
        }
        t->depth--;
        pthread_mutex_lock(&lock);
        if (c->out < 0) {
            c->in = in;
            c->to = to;
            to = NULL;
            __atomic_store_n(&c->out, out, __ATOMIC_RELEASE);
        }
        pthread_mutex_unlock(&lock);
        free(to);
    }
    return c->to;
}

static long out_degree(struct thread *t, struct comm *c)
{
    neighbours(t, c);
    return c->out;
}

static long in_degree(struct thread *t, struct comm *c)
{
    neighbours(t, c);
    return c->in;
}

/* Counts messages to neighbours, and notes them as one call. */
static void sent_around(struct thread *t, int function, int comm_id, const struct message *messages, int n,
                        long long bytes, const void *request, uint64_t start)
{
    add(&t->calls[function], bytes);
    for (int i = 0; i < n; i++) {
        if (messages[i].rank < 0)
            count_odd(t, messages[i].rank, messages[i].bytes);
        else
            add(&t->pairs[messages[i].rank], messages[i].bytes);
    }
#if EVENTS
    if (note(t, function, PEER_NONE, comm_id, -1, bytes, request ? handle_at(&abi, request, 0) : 0, start))
        for (int i = 0; i < n; i++)
            note_more(t, EVENT_COUNT, messages[i].member, messages[i].bytes);
#else
    (void)comm_id, (void)request, (void)start;
#endif
}

/* What a call of a neighbourhood sends: `counts` and `types` for each neighbour, or (NULL) the same to all. */
struct around {
    int wide;
    const void *counts, *types;
    long long count;
    word type;
};

/* The messages of a call, in the thread's room for them: how many, and their bytes in all; -1 if not understood.
 * Beyond the border of a grid there is nobody, and what is given for him is not looked at. */
static int messages_of(struct thread *t, struct comm *c, const struct around *a, long long *bytes)
{
    const int *to = neighbours(t, c);
    int n = 0;
    if (!to)
        return -1;
    if (t->caches->messages_room < c->out) {
        struct message *room = realloc(t->caches->messages, c->out * sizeof *room);
        if (!room)
            return -1;
        t->caches->messages = room;
        t->caches->messages_room = c->out;
    }
    *bytes = 0;
    for (int i = 0; i < c->out; i++) {
        if (to[i] < 0 || to[i] >= c->peers)
            continue;
        long long count = a->counts ? element(a->counts, a->wide, i) : a->count;
        long long each = count ? bytes_of(t, count, a->types ? handle_at(&abi, a->types, i) : a->type) : 0;
        if (each < 0)
            return -1;
        t->caches->messages[n++] = (struct message){to[i], c->map[to[i]], each};
        *bytes += each;
    }
    return n;
}

static void around_called(struct thread *t, int function, word comm, struct around given, const void *request,
                          uint64_t start)
{
    struct comm *c = members(t, comm);
    long long bytes;
    int n = c && !c->hidden ? messages_of(t, c, &given, &bytes) : -1;
    if (n < 0)
        uncounted(t, c);
    else
        sent_around(t, function, c->id, t->caches->messages, n, bytes, request, start);
}

/* Large counts as the ints that an older library takes. */
struct narrowed {
    long n;
    struct narrowed *next;
    int values[];
};

static struct narrowed *narrowed_before; /* Of calls that go on after they return. */

/* `n` counts as ints; `lasts`: the call needs them after it has returned. NULL, and `*fits` 0, if one is too large.
 *
 * What lasts is kept for good and used again where it is equal: programs ask for the same counts again and again.
 */
static int *narrow(const void *given, long n, int lasts, int *fits)
{
    if (!given || n <= 0)
        return NULL;
    struct narrowed *made = malloc(sizeof *made + n * sizeof(int));
    if (!made) {
        *fits = 0;
        return NULL;
    }
    made->n = n;
    for (long i = 0; i < n; i++) {
        int64_t value = ((const int64_t *)given)[i];
        made->values[i] = (int)value;
        if (value != (int)value)
            *fits = 0;
    }
    if (lasts) {
        pthread_mutex_lock(&lock);
        struct narrowed *same = narrowed_before;
        while (same && (same->n != n || memcmp(same->values, made->values, n * sizeof(int))))
            same = same->next;
        if (same) {
            free(made);
            made = same;
        } else {
            made->next = narrowed_before;
            narrowed_before = made;
        }
        pthread_mutex_unlock(&lock);
    }
    return made->values;
}

static void widen(int *values, int lasts)
{
    if (values && !lasts)
        free((char *)values - offsetof(struct narrowed, values));
}

static int fits_int(long long count)
{
    return count == (int)count;
}
