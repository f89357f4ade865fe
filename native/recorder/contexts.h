/* What tells communicators of the same members apart, on all ranks: an identity that each member finds by itself.
 *
 * Making a communicator is collective, and what is made of one parent is made in one order. So the k-th child is the
 * same at all members of the parent, and its identity is made of the parent's and of k. Where not all know the parent
 * (of an intercommunicator each side knows its own; of a group only its members are asked) it is the k-th of these
 * members instead. 0: not known, because something made it that has no wrapper; it is then told by its members alone.
 * Nothing is sent for that. Part of record.c, in the library that records events.
 */

struct context {
    word key;
    uint64_t identity;
    uint32_t children;
    struct context *next;
};

/* How often communicators were made that only their members tell. */
struct tally {
    uint64_t of;
    uint32_t times;
    struct tally *next;
};

enum { IDENTITY_WORLD = 1, IDENTITY_SELF, OF_CHILD, OF_GROUP, OF_SIDES, OF_TEXT };

static struct context *contexts[CACHED];
static struct tally *tallies[CACHED];

/* Never 0. */
static uint64_t mixed(uint64_t a, uint64_t b)
{
    uint64_t x = (a ^ b * 0x9e3779b97f4a7c15u) + 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    x ^= x >> 31;
    return x ? x : 1;
}

/* Where the context of a handle is, or would be; called with the lock held. */
static struct context **context_at(word key)
{
    struct context **at = &contexts[slot(key)];
    while (*at && (*at)->key != key)
        at = &(*at)->next;
    return at;
}

static uint64_t identity_of(word key)
{
    pthread_mutex_lock(&lock);
    const struct context *found = *context_at(key);
    uint64_t identity = found ? found->identity : 0;
    pthread_mutex_unlock(&lock);
    return identity;
}

/* A handle is freed: if it is still that of `identity`, for another thread may have been given it meanwhile. */
static void leave(word key, uint64_t identity)
{
    pthread_mutex_lock(&lock);
    struct context **at = context_at(key), *gone = *at;
    if (gone && gone->identity == identity) {
        *at = gone->next;
        free(gone);
    }
    pthread_mutex_unlock(&lock);
}

/* A communicator was made. */
static void remember(word key, uint64_t identity)
{
    if (key == abi.null_comm)
        return;
    is_new(key);
    leave(key, identity_of(key));
    struct context *made = identity ? malloc(sizeof *made) : NULL;
    if (!made)
        return;
    pthread_mutex_lock(&lock);
    struct context **at = &contexts[slot(key)];
    *made = (struct context){key, identity, 0, *at};
    *at = made;
    pthread_mutex_unlock(&lock);
}

/* The next child of a parent; asked before the call, which may ask again (an attribute that is copied). */
static uint64_t child_of(word parent)
{
    uint64_t identity = 0;
    pthread_mutex_lock(&lock);
    struct context *found = *context_at(handle(&abi, parent));
    if (found)
        identity = mixed(mixed(found->identity, OF_CHILD), ++found->children);
    pthread_mutex_unlock(&lock);
    return identity;
}

/* The next of what only its members tell. */
static uint64_t next_of(uint64_t members)
{
    uint32_t times = 0;
    pthread_mutex_lock(&lock);
    struct tally **at = &tallies[members % CACHED];
    while (*at && (*at)->of != members)
        at = &(*at)->next;
    if (!*at && (*at = calloc(1, sizeof **at)))
        (*at)->of = members;
    if (*at)
        times = ++(*at)->times;
    pthread_mutex_unlock(&lock);
    return times ? mixed(members, times) : 0;
}

/* Of the members of a communicator, in their order: of its own group or the remote one; 0 if they cannot be told. */
static uint64_t members_of(word key, int remote)
{
    struct thread *t = &here;
    int (*of)(word, word *) = remote ? OWN(Comm_remote_group, (word, word *)) : OWN(Comm_group, (word, word *));
    int (*size)(word, int *) = OWN(Group_size, (word, int *));
    int (*release)(word *) = OWN(Group_free, (word *));
    word group = 0;
    uint64_t members = 0;
    int n;
    t->depth++;
    if (of && size && release && !of(key, &group)) {
        int *ranks = size(group, &n) ? NULL : world_ranks(group, n);
        if (ranks) {
            members = mixed(OF_GROUP, n);
            for (int i = 0; i < n; i++)
                members = mixed(members, (uint32_t)ranks[i]);
        }
        free(ranks);
        release(&group);
    }
    t->depth--;
    return members;
}

/* Of a group of a parent, with a tag: nobody else is asked. */
static uint64_t of_group(word key, word parent, int tag)
{
    uint64_t from = identity_of(handle(&abi, parent));
    uint64_t members = key != abi.null_comm && from ? members_of(key, 0) : 0;
    return members ? next_of(mixed(mixed(members, from), (uint32_t)tag)) : 0;
}

/* Of a group of processes, by a text that all give. */
static uint64_t of_text(word key, const char *text)
{
    uint64_t members = key != abi.null_comm ? members_of(key, 0) : 0;
    if (!members)
        return 0;
    members = mixed(members, OF_TEXT);
    while (text && *text)
        members = mixed(members, (unsigned char)*text++);
    return next_of(members);
}

/* Of two groups: each side has the other as the remote one. */
static uint64_t of_sides(word key)
{
    if (key == abi.null_comm)
        return 0;
    uint64_t own = members_of(key, 0), other = members_of(key, 1);
    if (!own || !other)
        return 0;
    return next_of(mixed(mixed(OF_SIDES, own < other ? own : other), own < other ? other : own));
}
