/* Finding MPI's own functions, behind ours. Part of record.c.
 *
 * RTLD_NEXT finds them where a program is linked with MPI; where Python has loaded it, all loaded objects are looked
 * through. What is found is never ours, since ours have the same names.
 */

static int is_ours(const void *address)
{
    Dl_info them, us;
    static const char mark;
    return dladdr(address, &them) && dladdr(&mark, &us) && them.dli_fbase == us.dli_fbase;
}

struct objects {
    char *names[1024];
    int count;
};

static int note_object(struct dl_phdr_info *info, size_t size, void *data)
{
    struct objects *objects = data;
    (void)size;
    if (info->dlpi_name && info->dlpi_name[0] == '/' && objects->count < 1024)
        objects->names[objects->count++] = strdup(info->dlpi_name);
    return 0;
}

/* Looks through all loaded objects for one that defines PMPI_Init: Python loads MPI where RTLD_NEXT sees nothing. */
static int find_library(void)
{
    struct objects *objects = calloc(1, sizeof *objects);
    void *bases[8];
    int found = 0;
    if (!objects)
        return 0;
    dl_iterate_phdr(note_object, objects);
    for (int i = 0; i < objects->count; i++) {
        char *name = objects->names[i];
        void *object = dlopen(name, RTLD_NOLOAD | RTLD_LAZY), *init;
        Dl_info info;
        if (object && (init = dlsym(object, "PMPI_Init")) && !is_ours(init) && dladdr(init, &info)) {
            int j = 0;
            while (j < found && bases[j] != info.dli_fbase)
                j++;
            if (j == found && found < 8) {
                bases[found++] = info.dli_fbase;
                if (!library)
                    library = dlopen(info.dli_fname, RTLD_NOLOAD | RTLD_LAZY);
            }
        }
        if (object)
            dlclose(object);
        free(name);
    }
    free(objects);
    return found;
}

static void *find(const char *name)
{
    char symbol[64];
    snprintf(symbol, sizeof symbol, "PMPI_%s", name);
    void *found = dlsym(RTLD_NEXT, symbol);
    if (!found || is_ours(found)) {
        if (!library)
            find_library();
        found = library ? dlsym(library, symbol) : NULL;
    }
    return found && !is_ours(found) ? found : NULL;
}

/* A datum of the library: an executable may hold the copy that counts. */
static word find_datum(const char *name)
{
    void *found = dlsym(RTLD_DEFAULT, name);
    if (!found && library)
        found = dlsym(library, name);
    return (word)found;
}

static __attribute__((noinline)) void *load(int function)
{
    return real[function] = find(FUNCTION_NAMES[function]);
}

static inline void *real_function(int function)
{
    void *found = real[function];
    return LIKELY(found != NULL) ? found : load(function);
}

static uintptr_t program_at, program_bytes; /* Where the executable has its code. */

static int note_program(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size, (void)data;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X) {
            program_at = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            program_bytes = info->dlpi_phdr[i].p_memsz;
            break;
        }
    return 1; /* The executable comes first. */
}

static inline int of_program(const void *caller)
{
    return (uintptr_t)caller - program_at < program_bytes;
}

/* Whether the call that a wrapper has in hand is the program's own: none is under way in this thread; or one is, and
 * this one comes from the executable: out of a callback (an attribute's copy), or after one has thrown or jumped and
 * never came back to lower `depth`. */
#define IS_OWN(t) (LIKELY((t)->depth == 0) || of_program(__builtin_return_address(0)))

static void *find_once(const char *name, void **kept)
{
    return *kept ? *kept : (*kept = find(name));
}

/* One of MPI's functions that we call ourselves; NULL where it lacks. */
#define OWN(name, types)                                                                                         \
    ((int (*) types)({                                                                                           \
        static void *kept;                                                                                       \
        find_once(#name, &kept);                                                                                 \
    }))

static __attribute__((noinline)) int absent(int function)
{
    complain("this MPI has no MPI_%s", FUNCTION_NAMES[function]);
    return abi.error_other ? abi.error_other : 15;
}
