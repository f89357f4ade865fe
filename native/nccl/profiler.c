/* A plug-in for NCCL's profiler interface: which collectives a process calls, on which communicators, with how
 * many bytes. NCCL loads it (`NCCL_PROFILER_PLUGIN`) and looks for the newest version of the interface that both
 * know: 3 (NCCL 2.26), 4 (2.27), 5 (2.28) or 6 (2.29 and later). They differ in how calls are told, not in which.
 *
 * Calls that are alike share an entry of a file, one file a process in the folder `NETLOOM_NCCL`; an entry is
 * written whenever its count changes, so what was counted survives whatever ends the process. Nothing is sent and
 * nobody waits for anybody but a lock.
 *
 * Invariants: a program never fails because of this, what cannot be counted is counted as such.
 * `python/netloom/training/recorded.py` reads the file. Not mapped: a full disk would end the program by a signal.
 *
 * Source: NVIDIA/nccl, plugins/profiler/README.md, src/include/plugin/profiler and what of it NCCL calls in
 * src/plugin/profiler; declared anew here.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COLLECTIVES = 1 << 1, POINT_TO_POINT = 1 << 2 };
enum { COMMUNICATOR = 1, COLLECTIVE = 2, MESSAGE = 3 };
enum { MOST = 16384, SLOTS = 4 * MOST, COMMUNICATORS = 65536, MOST_FILES = 64 };

/* What an event is about, as far as it is asked for. Of messages NCCL 2.28 and later leave the channels unset
 * where they call version 4, and version 3 has none: nobody reads them. */
struct collective {
	uint64_t number;
	const char *function;
	const void *from;
	void *to;
	size_t count;
	int root;
	const char *datatype;
	uint8_t channels, warps;
	const char *algorithm, *protocol;
};

struct message {
	const char *function;
	void *buffer;
	const char *datatype;
	size_t count;
	int peer;
};

/* Version 3 names the communicator at every event, later ones where it begins. */
struct event_v3 {
	uint8_t type;
	void *parent;
	int rank;
	union {
		struct {
			const char *name;
			uint64_t communicator;
			union {
				struct collective collective;
				struct message message;
			};
		};
	};
};

/* The type has 8 bits in version 4 and 64 later; where it is does not differ. */
struct event {
	union {
		uint8_t type_v4;
		uint64_t type;
	};
	void *parent;
	int rank;
	union {
		struct collective collective;
		struct message message;
	};
};
_Static_assert(offsetof(struct event, collective) == 24 && offsetof(struct event_v3, collective) == 40,
	       "as published");

/* Functions of any kind: versions differ in what they are given. */
typedef void any(void);
struct plugin {
	const char *name;
	any *begin, *start, *stop, *state, *end;
};

struct head {
	char magic[8];
	uint32_t entry_bytes, most;
	uint64_t process, dropped;
	char host[96];
};

/* `count` is in elements, `other` is the root or the peer; of a communicator: ranks (0: not told) and machines. */
struct entry {
	uint32_t kind;
	int32_t rank;
	uint64_t communicator, calls, count;
	int32_t other, machines;
	uint32_t channels;
	char function[32], datatype[20], algorithm[16], protocol[16];
};
_Static_assert(sizeof(struct head) == 128 && sizeof(struct entry) == 128, "a file's layout");

/* What is handed out is a number, never an address: whatever comes back, nothing is read from it. */
struct context {
	int begun, rank, ranks, machines;
	uint64_t communicator;
	pid_t told; /* the process whose file has it */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t forks = PTHREAD_ONCE_INIT;
static struct context contexts[COMMUNICATORS];
static uint32_t begun;
static int file = -1, trouble;
static struct stat same;
static pid_t owner;
static struct head head;
static struct entry entries[MOST];
static uint32_t used, slots[SLOTS];
static char handle;

static void put(char *to, size_t room, const char *text)
{
	memset(to, 0, room);
	if (text)
		memcpy(to, text, strnlen(text, room - 1));
}

/* On standard error, whoever reads it: nobody may, and that is a signal which would end the program. */
__attribute__((format(printf, 1, 2))) static void say(const char *text, ...)
{
	const struct timespec now = {0, 0};
	sigset_t broken, before;
	va_list more;
	sigemptyset(&broken);
	sigaddset(&broken, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &broken, &before);
	va_start(more, text);
	const int put = vdprintf(STDERR_FILENO, text, more);
	va_end(more);
	if (put < 0 && errno == EPIPE && !sigismember(&before, SIGPIPE))
		sigtimedwait(&broken, NULL, &now);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Whether files may have so many bytes: more is a signal too. */
static int may_have(size_t bytes)
{
	struct rlimit most;
	return getrlimit(RLIMIT_FSIZE, &most) || most.rlim_cur == RLIM_INFINITY || bytes <= most.rlim_cur;
}

static void hold(void)
{
	pthread_mutex_lock(&lock);
}

static void let_go(void)
{
	pthread_mutex_unlock(&lock);
}

/* A fork in the middle of a count leaves a lock that is free and a table that is whole. */
static void prepare(void)
{
	pthread_atfork(hold, let_go, let_go);
}

static void put_down(const void *what, size_t bytes, off_t at)
{
	struct stat now;
	/* The program may have closed this file, and opened another by its number. */
	if (file < 0 || trouble == EBADF)
		return;
	if (fstat(file, &now) || now.st_ino != same.st_ino || now.st_dev != same.st_dev) {
		say("netloom: the program closed its file: NCCL's calls are not recorded any more\n");
		trouble = EBADF;
		return;
	}
	errno = EFBIG;
	const ssize_t put = may_have(at + bytes) ? pwrite(file, what, bytes, at) : -1;
	if (put != (ssize_t)bytes && !trouble) {
		trouble = put < 0 ? errno : ENOSPC;
		say("netloom: %s: some of NCCL's calls may not be recorded\n", strerror(trouble));
	}
}

static void put_entry(uint32_t at)
{
	put_down(&entries[at], sizeof *entries, sizeof head + at * sizeof *entries);
}

/* Opens this process' file; a fork has one of its own. Containers may have the same names and numbers. */
static void open_file(void)
{
	const char *folder = getenv("NETLOOM_NCCL");
	char path[4096], host[sizeof head.host] = "";

	if (owner == getpid())
		return;
	if (file >= 0 && trouble != EBADF)
		close(file);
	owner = getpid();
	file = -1;
	used = trouble = 0;
	memset(slots, 0, sizeof slots);
	gethostname(host, sizeof host - 1);
	if (!folder || !*folder) {
		say("netloom: NETLOOM_NCCL names no folder: NCCL's calls are not recorded\n");
		return;
	}
	int error = EEXIST, length = 0;
	for (int turn = 1; file < 0 && error == EEXIST && turn <= MOST_FILES; turn++) {
		char more[16] = "";
		if (turn > 1)
			snprintf(more, sizeof more, "-%d", turn);
		length = snprintf(path, sizeof path, "%s/%s-%d%s.nccl", folder, host, (int)owner, more);
		errno = ENAMETOOLONG;
		if (length < (int)sizeof path)
			file = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		error = file < 0 ? errno : 0;
	}
	if (!error)
		error = may_have(sizeof head + sizeof entries)
				? posix_fallocate(file, 0, sizeof head + sizeof entries)
				: EFBIG;
	if (!error && fstat(file, &same))
		error = errno;
	if (error) {
		say("netloom: %s: %s: NCCL's calls are not recorded\n", path, strerror(error));
		if (file >= 0) {
			unlink(path);
			close(file);
		}
		file = -1;
		return;
	}
	head = (struct head){.entry_bytes = sizeof *entries, .most = MOST, .process = (uint64_t)owner};
	memcpy(head.magic, "NLNCCL01", 8);
	put(head.host, sizeof head.host, host);
	put_down(&head, sizeof head, 0);
}

static uint64_t hash(const struct entry *entry)
{
	uint64_t found = 14695981039346656037u;
	const unsigned char *bytes = (const unsigned char *)entry;
	for (size_t at = 0; at < sizeof *entry; at++)
		found = (found ^ bytes[at]) * 1099511628211u;
	return found ^ found >> 29;
}

/* One more call like this one; `calls` of what is asked for is 0. With the lock, and an open file. */
static void count(const struct entry *asked)
{
	uint32_t at = hash(asked) % SLOTS;
	for (; slots[at]; at = (at + 1) % SLOTS) {
		struct entry seen = entries[slots[at] - 1];
		seen.calls = 0;
		if (memcmp(&seen, asked, sizeof seen) == 0)
			break;
	}
	if (!slots[at] && used == MOST) {
		head.dropped++;
		put_down(&head, sizeof head, 0);
		return;
	}
	if (!slots[at]) {
		entries[used++] = *asked;
		slots[at] = used;
	}
	entries[slots[at] - 1].calls++;
	put_entry(slots[at] - 1);
}

/* The communicator is in this process' file before what is called on it. */
static void tell(struct context *of)
{
	struct entry entry = {.kind = COMMUNICATOR, .rank = of->rank, .communicator = of->communicator,
			      .other = of->ranks, .machines = of->machines};
	open_file();
	if (file >= 0 && of->told != owner)
		count(&entry);
	of->told = owner;
}

/* Whose number this is; NULL of one that is not in use. */
static struct context *of_number(void *context)
{
	const uintptr_t number = (uintptr_t)context;
	return number && number <= COMMUNICATORS && contexts[number - 1].begun ? &contexts[number - 1] : NULL;
}

static void begin(void **context, int *mask, struct context made)
{
	struct context *at = NULL;

	pthread_once(&forks, prepare);
	/* NCCL keeps one mask for all communicators, the one that it was given last. */
	if (mask)
		*mask = COLLECTIVES | POINT_TO_POINT;
	hold();
	for (int tried = 0; context && !at && tried < COMMUNICATORS; tried++) {
		at = &contexts[begun++ % COMMUNICATORS];
		at = at->begun ? NULL : at;
	}
	if (context)
		*context = at ? (void *)(uintptr_t)(at - contexts + 1) : NULL;
	if (at) {
		made.begun = 1;
		*at = made;
		if (made.ranks)
			tell(at);
	}
	let_go();
}

static int begin_v3(void **context, int *mask)
{
	begin(context, mask, (struct context){.rank = -1});
	return 0;
}

static int begin_v4(void **context, int *mask, const char *name, uint64_t communicator, int machines, int ranks,
		    int rank, void *log)
{
	(void)name, (void)log;
	begin(context, mask,
	      (struct context){.rank = rank, .ranks = ranks, .machines = machines, .communicator = communicator});
	return 0;
}

static int begin_v5(void **context, uint64_t communicator, int *mask, const char *name, int machines, int ranks,
		    int rank, void *log)
{
	return begin_v4(context, mask, name, communicator, machines, ranks, rank, log);
}

/* One call on a communicator that has been told. */
static void called(const struct context *of, uint64_t type, const struct collective *collective,
		   const struct message *message)
{
	struct entry entry = {.rank = of->rank, .communicator = of->communicator};
	if (type == COLLECTIVES) {
		entry.kind = COLLECTIVE;
		entry.count = collective->count;
		entry.other = collective->root;
		entry.channels = collective->channels;
		put(entry.function, sizeof entry.function, collective->function);
		put(entry.datatype, sizeof entry.datatype, collective->datatype);
		put(entry.algorithm, sizeof entry.algorithm, collective->algorithm);
		put(entry.protocol, sizeof entry.protocol, collective->protocol);
	} else {
		entry.kind = MESSAGE;
		entry.count = message->count;
		entry.other = message->peer;
		put(entry.function, sizeof entry.function, message->function);
		put(entry.datatype, sizeof entry.datatype, message->datatype);
	}
	if (file >= 0)
		count(&entry);
}

/* NCCL starts groups too where it starts what is in them; what it gets back it hands to `stop`. */
static int counted(void **event, uint64_t type)
{
	if (event)
		*event = &handle;
	return type == COLLECTIVES || type == POINT_TO_POINT;
}

static int start(void *context, void **event, uint64_t type, const struct event *about)
{
	if (!counted(event, type))
		return 0;
	hold();
	struct context *of = of_number(context);
	if (of && of->ranks) {
		tell(of);
		called(of, type, &about->collective, &about->message);
	}
	let_go();
	return 0;
}

static int start_v3(void *context, void **event, const struct event_v3 *about)
{
	if (!counted(event, about ? about->type : 0))
		return 0;
	hold();
	struct context *of = of_number(context);
	if (of) {
		if (of->communicator != about->communicator || of->rank != about->rank)
			of->told = 0;
		of->communicator = about->communicator;
		of->rank = about->rank;
		tell(of);
		called(of, about->type, &about->collective, &about->message);
	}
	let_go();
	return 0;
}

static int start_v4(void *context, void **event, const struct event *about)
{
	return start(context, event, about ? about->type_v4 : 0, about);
}

static int start_v5(void *context, void **event, const struct event *about)
{
	return start(context, event, about ? about->type : 0, about);
}

static int stop(void *event)
{
	(void)event;
	return 0;
}

static int state(void *event, int which, void *more)
{
	(void)event, (void)which, (void)more;
	return 0;
}

/* What a full disk had no room for is written now, if it has. */
static int end(void *context)
{
	hold();
	struct context *of = of_number(context);
	if (of)
		of->begun = 0;
	if (of && trouble && trouble != EBADF && owner == getpid()) {
		put_down(&head, sizeof head, 0);
		put_down(entries, used * sizeof *entries, sizeof head);
	}
	let_go();
	return 0;
}

#define VERSION(begin, start) {"netloom", (any *)(begin), (any *)(start), (any *)stop, (any *)state, (any *)end}
#define SHOWN __attribute__((visibility("default")))
SHOWN struct plugin ncclProfiler_v3 = VERSION(begin_v3, start_v3);
SHOWN struct plugin ncclProfiler_v4 = VERSION(begin_v4, start_v4);
SHOWN struct plugin ncclProfiler_v5 = VERSION(begin_v5, start_v5);
SHOWN struct plugin ncclProfiler_v6 = VERSION(begin_v5, start_v5);
