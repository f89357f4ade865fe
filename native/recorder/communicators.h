/* Peers of communicators and windows, as ranks of the world. */

static int *world_ranks(word group, int n)
{
    word world;
    int *ranks = malloc(2 * (size_t)n * sizeof(int) + sizeof(int));
    if (!ranks)
        return NULL;
    for (int i = 0; i < n; i++)
        ranks[n + i] = i, ranks[i] = -1;
    int (*of)(word, word *) = OWN(Comm_group, (word, word *));
    int (*translate)(word, int, const int *, word, int *) = OWN(Group_translate_ranks, (word, int, const int *, word, int *));
    int (*release)(word *) = OWN(Group_free, (word *));
    if (!of || !translate || !release || of(abi.world, &world)) {
        free(ranks);
        return NULL;
    }
    int failed = translate(group, n, ranks + n, world, ranks);
    release(&world);
    /* MPI_UNDEFINED is negative: a process of another world. */
    for (int i = 0; i < n; i++)
        if (ranks[i] < 0 || ranks[i] >= (int)head->ranks)
            ranks[i] = -1;
    if (failed) {
        free(ranks);
        return NULL;
    }
    return ranks;
}

/* The group behind a handle: remote of an intercommunicator, of a window all that share it. */
static struct comm *look_up(word key, int window)
{
    struct comm made = {.key = key, .window = window, .in = -1, .out = -1};
    word group = 0;
    int failed;
    if (window) {
        int (*of)(word, word *) = OWN(Win_get_group, (word, word *));
        failed = !of || of(key, &group);
    } else {
        int (*is_inter)(word, int *) = OWN(Comm_test_inter, (word, int *));
        int (*size)(word, int *) = OWN(Comm_size, (word, int *));
        int (*rank)(word, int *) = OWN(Comm_rank, (word, int *));
        failed = !is_inter || !size || !rank || is_inter(key, &made.inter) || size(key, &made.local) ||
                 rank(key, &made.me);
        if (!failed) {
            int (*of)(word, word *) =
                made.inter ? OWN(Comm_remote_group, (word, word *)) : OWN(Comm_group, (word, word *));
            failed = !of || of(key, &group);
        }
    }
    if (failed)
        return NULL;
    int (*size)(word, int *) = OWN(Group_size, (word, int *));
    int (*release)(word *) = OWN(Group_free, (word *));
    failed = !size || size(group, &made.peers);
    if (!failed)
        made.map = world_ranks(group, made.peers);
    if (release)
        release(&group);
    struct comm *kept = failed || !made.map ? NULL : malloc(sizeof made);
    if (kept)
        *kept = made;
    else
        free(made.map);
    return kept;
}

/* What is known of a handle; called with the lock held. */
static struct comm *known(word key, int window)
{
    struct comm *found = comms[slot(key)];
    while (found && (found->key != key || found->window != window))
        found = found->next;
    return found;
}

static struct comm *keep_comm(struct comm *made)
{
    static int last;
    made->id = made->hidden || made->window || made->key == abi.world ? 0 : ++last;
    made->next = comms[slot(made->key)];
    return comms[slot(made->key)] = made;
}

static void free_comm(struct comm *gone)
{
    if (gone) {
        free(gone->map);
        free(gone->to);
        free(gone);
    }
}

/* A handle was freed: it may soon name another thing. */
static void forget(word key, int window)
{
    pthread_mutex_lock(&lock);
    struct comm **at = &comms[slot(key)];
    while (*at) {
        struct comm *gone = *at;
        if (gone->key == key && gone->window == window) {
            *at = gone->next;
            free_comm(gone);
        } else
            at = &gone->next;
    }
    stamp++;
    pthread_mutex_unlock(&lock);
}

/* A communicator was made: what had its handle before is no more, even where nobody told. */
static void is_new(word key)
{
    pthread_mutex_lock(&lock);
    int stale = known(key, 0) != NULL;
    pthread_mutex_unlock(&lock);
    if (stale)
        forget(key, 0);
}

static __attribute__((noinline)) struct comm *peers_of(struct thread *t, word key, int window)
{
    struct comm **cached = &t->caches->comms[slot(key + window)];
    if (*cached && (*cached)->key == key && (*cached)->window == window)
        return *cached;
    pthread_mutex_lock(&lock);
    struct comm *found = known(key, window);
    pthread_mutex_unlock(&lock);
    if (!found) {
        int is_new = 0;
        /* Not with the lock: MPI may call the program's error handler, which may never come back. */
        t->depth++;
        struct comm *made = look_up(key, window);
        t->depth--;
        pthread_mutex_lock(&lock);
        if (made && !(found = known(key, window))) {
            found = keep_comm(made);
            is_new = 1;
        }
        pthread_mutex_unlock(&lock);
        if (!is_new)
            free_comm(made);
#if EVENTS
        else
            define(t, found, identity_of(key));
#endif
    }
    return *cached = found;
}

/* MPI made a communicator for itself, within a call: MPI-IO does, and sends there when a request is waited for. */
static void hide(word key)
{
    struct comm *made = key == abi.null_comm ? NULL : calloc(1, sizeof *made);
    if (!made)
        return;
    is_new(key);
    made->key = key;
    made->hidden = 1;
    pthread_mutex_lock(&lock);
    keep_comm(made);
    pthread_mutex_unlock(&lock);
}
