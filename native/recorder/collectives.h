/* What a collective call sends as asked: the bytes of its own send buffer, whatever the library makes of it.
 *
 * Part of record.c. Counts are arrays of int, in the twins for large counts (`wide`) of 64 bits. Every function
 * here answers -1 where it does not understand a type or a communicator: that call is counted as unknown.
 */

static const struct comm *members(struct thread *t, word comm)
{
    return ready(t) ? peers_of(t, handle(&abi, comm), 0) : NULL;
}

static long long element(const void *counts, int wide, long index)
{
    return wide ? ((const int64_t *)counts)[index] : ((const int *)counts)[index];
}

static long long product(long long count, long long size)
{
    return count < 0 || size < 0 ? -1 : count * size;
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

/* Neighbours of a topology: how many are sent to, and received from; 0 without one. */
static void neighbours(struct thread *t, struct comm *c)
{
    int weighted, dimensions;
    int (*graph)(word, int *, int *, int *) = OWN(Dist_graph_neighbors_count, (word, int *, int *, int *));
    int (*cart)(word, int *) = OWN(Cartdim_get, (word, int *));
    int (*old)(word, int, int *) = OWN(Graph_neighbors_count, (word, int, int *));
    int (*kind)(word, int *) = OWN(Topo_test, (word, int *));
    (void)t;
    c->in = c->out = 0;
    int which = 0;
    if (!kind || kind(c->key, &which))
        return;
    /* MPI_GRAPH, MPI_CART, MPI_DIST_GRAPH: 1, 2, 3 in every interface. */
    if (which == 3 && graph && !graph(c->key, &c->in, &c->out, &weighted))
        return;
    if (which == 2 && cart && !cart(c->key, &dimensions))
        c->in = c->out = 2 * dimensions;
    else if (which == 1 && old && !old(c->key, c->me, &c->out))
        c->in = c->out;
}

static long out_degree(struct thread *t, const struct comm *c)
{
    if (c->out < 0)
        neighbours(t, (struct comm *)c);
    return c->out;
}

static long in_degree(struct thread *t, const struct comm *c)
{
    if (c->in < 0)
        neighbours(t, (struct comm *)c);
    return c->in;
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
