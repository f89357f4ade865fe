/* Error handlers of the program, which may throw or jump and never come back to us. Part of record.c.
 *
 * Each is called behind one of ours, which puts `depth` to 0 for its time: what it calls is the program's own, and
 * where it does not return, recording goes on. MPI tells a handler nothing of whose it is, so there is one of ours
 * for each function of the program, HANDLERS in all; those beyond are handed on as they are.
 */

enum { HANDLERS = 32 };

typedef void handler_function(void *, int *, ...);

static handler_function *handlers[HANDLERS]; /* The program's. */

static void handle_error(int which, void *handle, int *code, va_list more)
{
    struct thread *t = &here;
    unsigned depth = t->depth;
    /* What libraries add (a text, in Open MPI) is passed on: words in registers. */
    void *first = va_arg(more, void *), *second = va_arg(more, void *);
    t->depth = 0;
    t->erred = 1;
    handlers[which](handle, code, first, second);
    t->depth = depth;
}

#define HANDLER(n)                                                                                               \
    static void handler_##n(void *handle, int *code, ...)                                                        \
    {                                                                                                            \
        va_list more;                                                                                            \
        va_start(more, code);                                                                                    \
        handle_error(n, handle, code, more);                                                                     \
        va_end(more);                                                                                            \
    }
#define EACH(form) form(0) form(1) form(2) form(3) form(4) form(5) form(6) form(7) form(8) form(9) form(10)      \
    form(11) form(12) form(13) form(14) form(15) form(16) form(17) form(18) form(19) form(20) form(21) form(22)  \
    form(23) form(24) form(25) form(26) form(27) form(28) form(29) form(30) form(31)
#define NAMED(n) handler_##n,

EACH(HANDLER)

static handler_function *const OURS[HANDLERS] = {EACH(NAMED)};

/* What MPI is to call for a handler of the program. */
static handler_function *behind_ours(handler_function *theirs)
{
    handler_function *found = theirs;
    pthread_mutex_lock(&lock);
    for (int i = 0; theirs && i < HANDLERS; i++)
        if (!handlers[i] || handlers[i] == theirs) {
            handlers[i] = theirs;
            found = OURS[i];
            break;
        }
    pthread_mutex_unlock(&lock);
    return found;
}

#define MAKES_HANDLER(name)                                                                                      \
    EXPORT int PMPI_##name(handler_function *theirs, void *made)                                                 \
    {                                                                                                            \
        int (*call)(handler_function *, void *) = (int (*)(handler_function *, void *))real_function(F_##name);  \
        if (!call)                                                                                               \
            return absent(F_##name);                                                                             \
        return call(behind_ours(theirs), made);                                                                  \
    }                                                                                                            \
    EXPORT int MPI_##name(handler_function *, void *) __attribute__((alias("PMPI_" #name)));

MAKES_HANDLER(Comm_create_errhandler)
MAKES_HANDLER(Win_create_errhandler)
MAKES_HANDLER(File_create_errhandler)
MAKES_HANDLER(Errhandler_create)
