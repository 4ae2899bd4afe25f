/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What runs in the processes that share the program's memory.
 *
 * They have the thread pointer, and so the errno, of the thread that started them.  So they make
 * raw calls only.  All signals are blocked until the sampler has no handler any more.
 */
#include "self/spawn-child.h"
#include "self/raw-call.h"
#include "linux/proc.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

/* The sanitizers know only the stacks of threads. */
#define OUTSIDE_OF_THREADS \
	__attribute__((no_sanitize("address", "undefined", "thread"), noinline))

enum { SIGNALS = 64, MASK_BYTES = SIGNALS / 8 };

static const char own_descriptors[] = PROC_OWN_DESCRIPTORS;
static const char middle_name[] = "pmukit-middle";

/* Return the number that TEXT is, or -1. */
OUTSIDE_OF_THREADS
static int number_of(const char *text)
{
	int number = 0;

	for (const char *c = text; *c; c++) {
		if (*c < '0' || *c > '9' || number > INT_MAX / 10 - 1)
			return -1;
		number = 10 * number + (*c - '0');
	}
	return text[0] ? number : -1;
}

/* Close the descriptors from FIRST to LAST that BYTES, of getdents64(), lists.  Return how many. */
OUTSIDE_OF_THREADS
static int close_of_list(const char *bytes, long size, int directory, int first, int last)
{
	enum { LENGTH_AT = 16, NAME_AT = 19 };	/* in struct linux_dirent64 */
	int closed = 0;

	for (long at = 0; at < size; at += *(const unsigned short *)(bytes + at + LENGTH_AT)) {
		int fd = number_of(bytes + at + NAME_AT);

		if (fd < first || fd > last || fd == directory)
			continue;
		raw_call(SYS_close, fd, 0, 0, 0);
		closed++;
	}
	return closed;
}

/* Close all descriptors from FIRST to LAST, on kernels without close_range(): before Linux 5.9. */
OUTSIDE_OF_THREADS
static void close_each(int first, int last)
{
	_Alignas(8) char bytes[1024];
	long size;
	int closed;

	do {	/* a list may miss some while others are closed */
		int directory = (int)raw_call(SYS_openat, AT_FDCWD, (long)own_descriptors,
					      O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);

		closed = 0;
		while (directory >= 0 &&
		       (size = raw_call(SYS_getdents64, directory, (long)bytes, sizeof(bytes),
					0)) > 0)
			closed += close_of_list(bytes, size, directory, first, last);
		raw_call(SYS_close, directory, 0, 0, 0);
	} while (closed > 0);
}

OUTSIDE_OF_THREADS
static void close_from(int first, int last)
{
	if (first <= last && raw_call(SYS_close_range, first, last, 0, 0) < 0)
		close_each(first, last);
}

/*
 * Close all descriptors but FD[0], FD[1], ..., and give these the numbers 0, 1, ...  Return 0 or
 * -errno.
 */
OUTSIDE_OF_THREADS
static long place_descriptors(const int *fd)
{
	int above = -1;
	long moved[SPAWN_FDS], error = 0;

	for (int kept = 0; kept <= SPAWN_FDS; kept++) {	/* the next larger one each time */
		int next = INT_MAX;

		for (int i = 0; i < SPAWN_FDS; i++)
			if (fd[i] > above && fd[i] < next)
				next = fd[i];
		close_from(above + 1, next == INT_MAX ? INT_MAX : next - 1);
		above = next;
	}
	for (int i = 0; i < SPAWN_FDS; i++) {
		moved[i] = raw_call(SYS_fcntl, fd[i], F_DUPFD, SPAWN_FDS, 0);
		if (moved[i] < 0)
			return moved[i];
		raw_call(SYS_close, fd[i], 0, 0, 0);
	}
	for (int i = 0; i < SPAWN_FDS && error >= 0; i++) {
		error = raw_call(SYS_dup3, moved[i], i, 0, 0);
		raw_call(SYS_close, moved[i], 0, 0, 0);
	}
	return error < 0 ? error : 0;
}

/*
 * Give each signal its default action.  A program that is executed inherits which signals are
 * ignored; and no handler of the program may run here.
 */
OUTSIDE_OF_THREADS
static void reset_signals(void)
{
	/* a struct sigaction of the kernel: SIG_DFL, without flags */
	const unsigned long by_default[8] = { 0 };

	for (long number = 1; number <= SIGNALS; number++)
		raw_call(SYS_rt_sigaction, number, (long)by_default, 0, MASK_BYTES);
}

/* Become the sampler. */
OUTSIDE_OF_THREADS
static int be_sampler(void *spawn)
{
	struct spawn *s = spawn;
	const unsigned long none = 0;
	long error;

	/* keys, and a terminal that ends, send signals to a whole session: not to the sampler */
	raw_call(SYS_setsid, 0, 0, 0, 0);
	reset_signals();
	error = place_descriptors(s->what.fd);
	if (error == 0) {
		raw_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&none, 0, MASK_BYTES);
		error = raw_call(SYS_execve, (long)s->what.path, (long)s->what.argv,
				 (long)s->environment, 0);
	}
	s->error = (int)-error;
	raw_call(SYS_exit_group, 127, 0, 0, 0);
	return 0;
}

/* Wait until the sampler, and all that it has left, have ended. */
OUTSIDE_OF_THREADS
static void wait_for_all(void)
{
	while (raw_call(SYS_wait4, -1, 0, __WALL, 0) > 0)
		;
}

/* Stay: without a descriptor of the program, and as the process that adopts what is left. */
OUTSIDE_OF_THREADS
static void settle(void)
{
	close_from(0, INT_MAX);
	raw_call(SYS_prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0);
	raw_call(SYS_prctl, PR_SET_NAME, (long)middle_name, 0, 0);
}

OUTSIDE_OF_THREADS
int spawn_middle(void *spawn)
{
	struct spawn *s = spawn;

	s->pid = (pid_t)raw_clone(CLONE_VM | CLONE_VFORK | SIGCHLD, s->sampler_stack + SPAWN_STACK,
				  be_sampler, s);
	if (s->pid < 0)
		s->error = -s->pid;
	bool stays = s->stays && !s->error, waits = s->stays || s->error;
	if (stays)
		settle();
	__atomic_store_n(&s->done, 1, __ATOMIC_RELEASE);
	raw_call(SYS_futex, (long)&s->done, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, 0);
	if (waits)
		wait_for_all();
	raw_call(SYS_exit_group, 0, 0, 0, 0);
	return 0;
}
