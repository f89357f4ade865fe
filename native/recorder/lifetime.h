/* Where a recording begins and ends: MPI_Init and its kin, MPI_Finalize, MPI_Abort, exit.
 *
 * Part of record.c. The folder comes from the environment; without it nothing is recorded, and every wrapper only
 * passes on. A process that has the library leaves a link `seen.…` to its program there, so that where no rank is
 * reported it can be said how far the environment came.
 */

static unsigned hash_of(const char *text)
{
    unsigned hash = 2166136261u;
    while (*text)
        hash = (hash ^ (unsigned char)*text++) * 16777619u;
    return hash;
}

static void own_program(char *into, size_t size)
{
    ssize_t n = readlink("/proc/self/exe", into, size - 1);
    into[n < 0 ? 0 : n] = 0;
}

static __attribute__((constructor)) void seen(void)
{
    const char *folder = getenv(FOLDER_VARIABLE);
    char program[1024], path[PATH_MAX];
    if (!folder)
        return;
    own_program(program, sizeof program);
    if (snprintf(path, sizeof path, "%s/seen.%08x", folder, hash_of(program)) < (int)sizeof path &&
        symlink(program, path))
        return;
}

/* Which interface this MPI has. */
static int tell_abi(void)
{
    int libraries = find_library();
    dl_iterate_phdr(note_program, NULL);
    word world = find_datum("ompi_mpi_comm_world");
    if (world) {
        abi = OPEN_MPI_ABI;
        abi.world = world;
        abi.self = find_datum("ompi_mpi_comm_self");
        abi.null_comm = find_datum("ompi_mpi_comm_null");
        abi.null_type = find_datum("ompi_mpi_datatype_null");
        abi.no_op = find_datum("ompi_mpi_op_no_op");
    } else {
        void *init = find("Init");
        Dl_info info;
        int standard = init && dladdr(init, &info) && strstr(info.dli_fname, "libmpi_abi.so");
        abi = standard ? STANDARD_ABI : MPICH_ABI;
    }
    return libraries;
}

static __attribute__((noinline)) void count_one(struct thread *t, int peer)
{
    sent(t, F_Send, 1, 1, peer, abi.world, 0, NULL, 0);
}

/* Nanoseconds that counting a message takes here, of a scratch thread's sums. */
static double measure(void)
{
    enum { ROUNDS = 5, CALLS = 2000 };
    struct thread t = {.stamp = stamp, .comm = abi.world, .type = 1, .size = 1, .peers = head->ranks};
    int *map = malloc(head->ranks * sizeof(int));
#if EVENTS
    struct event *scratch = calloc(CALLS + ROOM, sizeof *scratch);
    t.base = ticks();
    if (!scratch) {
        free(map);
        map = NULL;
    }
#endif
    double best = 0;
    t.calls = calloc((size_t)FUNCTIONS + head->ranks, sizeof(struct sum));
    if (map && t.calls) {
        t.pairs = t.calls + FUNCTIONS;
        t.map = map;
        for (unsigned i = 0; i < head->ranks; i++)
            map[i] = i;
        for (int round = 0; round < ROUNDS; round++) {
            unsigned peer = 0;
#if EVENTS
            t.next = scratch;
            t.end = scratch + CALLS + ROOM;
#endif
            uint64_t start = now(CLOCK_MONOTONIC);
            for (int i = 0; i < CALLS; i++) {
                count_one(&t, peer);
                if (++peer == head->ranks)
                    peer = 0;
            }
            double each = (double)(now(CLOCK_MONOTONIC) - start) / CALLS;
            best = round == 0 || each < best ? each : best;
        }
    }
    free(map);
    free(t.calls);
#if EVENTS
    free(scratch);
    /* Long enough to tell the clock's pace. */
    uint64_t nanoseconds, clock;
    do
        read_clocks(&nanoseconds, &clock);
    while (nanoseconds - head->start_ns < 200000);
    head->ns_per_tick = (double)(nanoseconds - head->start_ns) / (clock - head->start_ticks);
    /* Somebody has set the clock just now. */
    if (!(head->ns_per_tick > 0.01 && head->ns_per_tick < 100))
        head->ns_per_tick = 1;
#endif
    return best;
}

/* Makes the rank's file, its head and the names of the functions; 0 or an errno. */
static int make_file(int rank, int ranks)
{
    const char *folder = getenv(FOLDER_VARIABLE);
    char host[256] = "";
    struct stat made;
    struct head start = {.order = 0x01020304, .version = RECORD_VERSION, .kind = EVENTS ? KIND_EVENTS : KIND_SUMS};
    size_t names = ((size_t)FUNCTIONS * NAME_BYTES + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    gethostname(host, sizeof host - 1);
    int n = snprintf(file_path, sizeof file_path, "%s/rank.%d.%ld.%s", folder, rank, (long)getpid(), host);
    if (n >= (int)sizeof file_path)
        return ENAMETOOLONG;
    file = high(open(file_path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (file < 0 || fstat(file, &made))
        return errno;
    file_device = made.st_dev;
    file_inode = made.st_ino;
    int failed = reserve(HEAD_BYTES + names);
    if (failed)
        return failed;
    char *mapped = mmap(NULL, HEAD_BYTES + names, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED)
        return errno;
    memcpy(start.magic, RECORD_MAGIC, sizeof start.magic);
    start.head_bytes = HEAD_BYTES;
    start.state = STATE_OPEN;
    start.abi = abi.kind;
    start.rank = rank;
    start.ranks = ranks;
    start.functions = FUNCTIONS;
    start.bytes = HEAD_BYTES + names;
    start.pid = getpid();
    start.start_ns = now(CLOCK_REALTIME);
#if EVENTS
    const char *limit = getenv(LIMIT_VARIABLE);
    if (limit && *limit)
        events_limit = strtoull(limit, NULL, 10);
    choose_clock();
    read_clocks(&start.start_ns, &start.start_ticks);
#endif
    memcpy(start.host, host, sizeof host);
    cpu_set_t set;
    if (!sched_getaffinity(0, sizeof set, &set))
        memcpy(start.processors, &set, sizeof start.processors);
    own_program(start.program, sizeof start.program);
    for (int i = 0; i < FUNCTIONS; i++)
        snprintf(mapped + HEAD_BYTES + (size_t)i * NAME_BYTES, NAME_BYTES, "%c%s", FUNCTION_CLASSES[i],
                 FUNCTION_NAMES[i]);
    memcpy(mapped, &start, sizeof start);
    head = (struct head *)mapped;
    return 0;
}

static void name_library(void)
{
    int (*of)(char *, int *) = OWN(Get_library_version, (char *, int *));
    static char text[16384]; /* Longer than any library's MPI_MAX_LIBRARY_VERSION_STRING. */
    int n = 0;
    if (of && !of(text, &n))
        memcpy(head->library, text, strnlen(text, sizeof head->library - 1));
}

/* MPI has started: the recording begins, if it was asked for. */
static void begin(void)
{
    if (opened++ || !getenv(FOLDER_VARIABLE))
        return;
    int rank = -1, ranks = 0, level = 0, failed;
    word parent = 0;
    int libraries = tell_abi();
    int (*rank_of)(word, int *) = OWN(Comm_rank, (word, int *));
    int (*size_of_world)(word, int *) = OWN(Comm_size, (word, int *));
    int (*parent_of)(word *) = OWN(Comm_get_parent, (word *));
    int (*level_of)(int *) = OWN(Query_thread, (int *));
    if (!rank_of || !size_of_world || rank_of(abi.world, &rank) || size_of_world(abi.world, &ranks)) {
        complain("the binary interface of this MPI is not known: nothing is recorded");
        return;
    }
    failed = make_file(rank, ranks);
    if (failed) {
        complain("rank %d: no file in %s: %s", rank, getenv(FOLDER_VARIABLE), strerror(failed));
        return;
    }
    if (libraries > 1)
        head->flags |= FLAG_TWO_LIBRARIES;
    if (parent_of && !parent_of(&parent) && handle(&abi, parent) != abi.null_comm)
        head->flags |= FLAG_SPAWNED;
    if (level_of && !level_of(&level))
        head->threads_level = level;
    locking = level >= abi.thread_multiple || level < 0;
    pthread_key_create(&leaving, left);
    name_library();
#if EVENTS
    remember(abi.world, IDENTITY_WORLD);
    remember(abi.self, IDENTITY_SELF);
#endif
    recording = 1;
    stamp++;
    head->ns_per_call = measure();
    if (!renew(&here))
        complain("rank %d: %s: no space left: it is not recorded", rank, getenv(FOLDER_VARIABLE));
}

static int is_ours_to_end(void)
{
    return head && recording && head->pid == (uint64_t)getpid();
}

/* How far the rank came, and when; recording goes on. */
static void came(int state)
{
    if (!is_ours_to_end())
        return;
    head->end_ns = now(CLOCK_REALTIME);
#if EVENTS
    read_clocks(&head->end_ns, &head->end_ticks);
#endif
    head->state = state;
}

/* An exit within MPI_Finalize is no exit without it. */
static void finish(int state)
{
    if (!is_ours_to_end())
        return;
    if (head->state == STATE_OPEN || state == STATE_ABORTED)
        came(state);
    recording = 0;
    stamp++;
}

static __attribute__((destructor)) void exited(void)
{
    finish(STATE_EXITED);
}

EXPORT int PMPI_Init(int *argc, char ***argv)
{
    int (*call)(int *, char ***) = (int (*)(int *, char ***))real_function(F_Init);
    if (!call)
        return absent(F_Init);
    here.depth++;
    int failed = call(argc, argv);
    if (--here.depth == 0 && !failed)
        begin();
    return failed;
}

EXPORT int PMPI_Init_thread(int *argc, char ***argv, int needed, int *given)
{
    int (*call)(int *, char ***, int, int *) = (int (*)(int *, char ***, int, int *))real_function(F_Init_thread);
    if (!call)
        return absent(F_Init_thread);
    here.depth++;
    int failed = call(argc, argv, needed, given);
    if (--here.depth == 0 && !failed)
        begin();
    return failed;
}

EXPORT int PMPI_Finalize(void)
{
    int (*call)(void) = (int (*)(void))real_function(F_Finalize);
    if (!call)
        return absent(F_Finalize);
    /* The program's callbacks may send yet: those of attributes of MPI_COMM_SELF are called first of all. */
    came(STATE_FINALIZED);
    here.depth++;
    int failed = call();
    here.depth--;
    finish(STATE_FINALIZED);
    return failed;
}

EXPORT int PMPI_Abort(word comm, int code)
{
    int (*call)(word, int) = (int (*)(word, int))real_function(F_Abort);
    if (head && recording)
        head->exit_code = code;
    finish(STATE_ABORTED);
    return call ? call(comm, code) : absent(F_Abort);
}

EXPORT int MPI_Init(int *, char ***) __attribute__((alias("PMPI_Init")));
EXPORT int MPI_Init_thread(int *, char ***, int, int *) __attribute__((alias("PMPI_Init_thread")));
EXPORT int MPI_Finalize(void) __attribute__((alias("PMPI_Finalize")));
EXPORT int MPI_Abort(word, int) __attribute__((alias("PMPI_Abort")));
