/* A plug-in for NCCL's profiler interface: which collectives a process calls, on which communicators, with how
 * many bytes. NCCL loads it (`NCCL_PROFILER_PLUGIN`) and looks for `ncclProfiler_v4`; later versions still do.
 *
 * Calls that are alike share an entry of a mapped file, one file a process in the folder `NETLOOM_NCCL`, so what
 * was counted survives whatever ends the process. Nothing is sent and nobody waits for anybody but a lock.
 *
 * Invariants: a program never fails because of this, what cannot be counted is counted as such. An entry's `kind`
 * is written last. `python/netloom/training/recorded.py` reads the file.
 *
 * Source: NVIDIA/nccl, ext-profiler/README.md and the interface's version 4; declared anew here.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { COLLECTIVES = 1 << 1, POINT_TO_POINT = 1 << 2 };
enum { COMMUNICATOR = 1, COLLECTIVE = 2, MESSAGE = 3 };
enum { MOST = 16384, SLOTS = 4 * MOST };

/* What an event is about, as far as it is asked for. */
struct event {
	uint8_t type;
	void *parent;
	int rank;
	union {
		struct {
			uint64_t number;
			const char *function;
			const void *from;
			void *to;
			size_t count;
			int root;
			const char *datatype;
			uint8_t channels, warps;
			const char *algorithm, *protocol;
		} collective;
		struct {
			const char *function;
			void *buffer;
			const char *datatype;
			size_t count;
			int peer;
			uint8_t channels;
		} message;
	};
};

struct plugin {
	const char *name;
	int (*begin)(void **, int *, const char *, uint64_t, int, int, int, void *);
	int (*start)(void *, void **, struct event *);
	int (*stop)(void *);
	int (*state)(void *, int, void *);
	int (*end)(void *);
};

struct head {
	char magic[8];
	uint32_t entry_bytes, most;
	uint64_t process, dropped;
	char host[96];
};

/* `count` is in elements, `other` is the root or the peer; of a communicator: ranks and machines. */
struct entry {
	uint32_t kind;
	int32_t rank;
	uint64_t communicator, calls, count;
	int32_t other, machines;
	uint32_t channels;
	char function[32], datatype[20], algorithm[16], protocol[16];
};
_Static_assert(sizeof(struct head) == 128 && sizeof(struct entry) == 128, "a file's layout");

struct context {
	uint64_t communicator;
	int rank;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct head *file;
static pid_t owner;
static uint32_t used, slots[SLOTS];
static char handle;

static void put(char *to, size_t room, const char *text)
{
	memset(to, 0, room);
	if (text)
		memcpy(to, text, strnlen(text, room - 1));
}

/* Opens this process' file; a fork has one of its own. */
static void open_file(void)
{
	const size_t bytes = sizeof(struct head) + MOST * sizeof(struct entry);
	const char *folder = getenv("NETLOOM_NCCL");
	char path[4096], host[sizeof file->host] = "";

	if (owner == getpid())
		return;
	owner = getpid();
	file = NULL;
	used = 0;
	memset(slots, 0, sizeof slots);
	gethostname(host, sizeof host - 1);
	if (!folder || !*folder) {
		fprintf(stderr, "netloom: NETLOOM_NCCL names no folder: NCCL's calls are not recorded\n");
		return;
	}
	int length = snprintf(path, sizeof path, "%s/%s-%d.nccl", folder, host, (int)owner);
	int fd = length < (int)sizeof path ? open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600) : -1;
	int error = fd < 0 ? errno : posix_fallocate(fd, 0, bytes);
	void *at = error ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED) {
		fprintf(stderr, "netloom: %s: %s: NCCL's calls are not recorded\n", path, strerror(error ? error : errno));
		if (fd >= 0)
			unlink(path);
	} else {
		file = at;
		file->entry_bytes = sizeof(struct entry);
		file->most = MOST;
		file->process = owner;
		put(file->host, sizeof file->host, host);
		memcpy(file->magic, "NLNCCL01", 8);
	}
	if (fd >= 0)
		close(fd);
}

static uint64_t hash(const struct entry *entry)
{
	uint64_t found = 14695981039346656037u;
	const unsigned char *bytes = (const unsigned char *)entry;
	for (size_t at = 0; at < sizeof *entry; at++)
		found = (found ^ bytes[at]) * 1099511628211u;
	return found ^ found >> 29;
}

/* One more call like this one; `calls` of what is asked for is 0. */
static void count(const struct entry *asked)
{
	pthread_mutex_lock(&lock);
	open_file();
	if (file) {
		struct entry *entries = (struct entry *)(file + 1);
		uint32_t at = hash(asked) % SLOTS;
		struct entry *same = NULL;
		for (; slots[at] && !same; at = (at + 1) % SLOTS) {
			struct entry seen = entries[slots[at] - 1];
			seen.calls = 0;
			if (memcmp(&seen, asked, sizeof seen) == 0)
				same = &entries[slots[at] - 1];
		}
		if (same) {
			same->calls++;
		} else if (used == MOST) {
			file->dropped++;
		} else {
			struct entry *new = &entries[used++], blank = *asked;
			blank.kind = 0;
			blank.calls = 1;
			*new = blank;
			slots[at] = used;
			__atomic_store_n(&new->kind, asked->kind, __ATOMIC_RELEASE);
		}
	}
	pthread_mutex_unlock(&lock);
}

static int begin(void **context, int *mask, const char *name, uint64_t communicator, int machines, int ranks, int rank,
		 void *log)
{
	(void)name, (void)log;
	struct context *made = calloc(1, sizeof *made);
	struct entry entry = {.kind = COMMUNICATOR, .rank = rank, .communicator = communicator, .other = ranks,
			      .machines = machines};
	*context = made;
	*mask = made ? COLLECTIVES | POINT_TO_POINT : 0;
	if (made) {
		made->communicator = communicator;
		made->rank = rank;
		count(&entry);
	}
	return 0;
}

static int start(void *context, void **event, struct event *about)
{
	const struct context *of = context;
	struct entry entry = {.rank = of ? of->rank : -1, .communicator = of ? of->communicator : 0};

	/* NCCL starts groups too where it starts what is in them; what it gets back it hands to `stop`. */
	*event = &handle;
	if (!of)
		return 0;
	if (about->type == COLLECTIVES) {
		entry.kind = COLLECTIVE;
		entry.count = about->collective.count;
		entry.other = about->collective.root;
		entry.channels = about->collective.channels;
		put(entry.function, sizeof entry.function, about->collective.function);
		put(entry.datatype, sizeof entry.datatype, about->collective.datatype);
		put(entry.algorithm, sizeof entry.algorithm, about->collective.algorithm);
		put(entry.protocol, sizeof entry.protocol, about->collective.protocol);
		count(&entry);
	} else if (about->type == POINT_TO_POINT) {
		entry.kind = MESSAGE;
		entry.count = about->message.count;
		entry.other = about->message.peer;
		entry.channels = about->message.channels;
		put(entry.function, sizeof entry.function, about->message.function);
		put(entry.datatype, sizeof entry.datatype, about->message.datatype);
		count(&entry);
	}
	return 0;
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

static int end(void *context)
{
	free(context);
	return 0;
}

__attribute__((visibility("default"))) struct plugin ncclProfiler_v4 = {"netloom", begin, start, stop, state, end};
