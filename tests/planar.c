/* A fabric as planarized (XDR) ones are, for clients of ibsim: preloaded before libumad2sim.

   Subnet management that goes by LID is lost. So is what comes through the wrong interface: a port that was
   opened carries subnet management (SMI) or all else (GSI), never both. Each loss is a line in PLANAR_LOG.
   OpenSM, ibsim and the tools that tests themselves use are left alone.

   cc -shared -fPIC planar.c -o planar.so -ldl */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_PORTS = 4096, SUBNET = 0x01, DIRECTED = 0x81, SMI = 1, GSI = 2 };

static unsigned char carries[MOST_PORTS];

static void *real(const char *name)
{
	static void *library;
	if (!library)
		library = dlopen("libibumad.so.3", RTLD_LAZY);
	return library ? dlsym(library, name) : NULL;
}

static int left_alone(void)
{
	static const char *const names[] = { "opensm", "ibsim", "ibportstate", "smpquery" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(program_invocation_short_name, names[i]))
			return 1;
	return 0;
}

static int lost(const char *why, unsigned kind)
{
	const char *log = getenv("PLANAR_LOG");
	char line[200];
	int length = snprintf(line, sizeof line, "%s: class 0x%02x: %s\n", program_invocation_short_name, kind, why);
	int file = log ? open(log, O_WRONLY | O_APPEND | O_CREAT, 0600) : -1;
	if (file >= 0) {
		if (write(file, line, (size_t)length) < 0)
			perror("planar");
		close(file);
	}
	return 0;
}

int umad_send(int port, int agent, void *umad, int length, int timeout_ms, int retries)
{
	int (*send)(int, int, void *, int, int, int) = real("umad_send");
	size_t (*size)(void) = real("umad_size");
	unsigned kind = ((unsigned char *)umad)[size() + 1];
	if (!left_alone() && port >= 0 && port < MOST_PORTS) {
		if (kind == SUBNET)
			return lost("subnet management by LID", kind);
		carries[port] |= kind == DIRECTED ? SMI : GSI;
		if (carries[port] == (SMI | GSI))
			return lost("both interfaces through one port", kind);
	}
	return send(port, agent, umad, length, timeout_ms, retries);
}

int umad_close_port(int port)
{
	int (*close_port)(int) = real("umad_close_port");
	if (port >= 0 && port < MOST_PORTS)
		carries[port] = 0;
	return close_port(port);
}
