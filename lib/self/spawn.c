/* SPDX-License-Identifier: Apache-2.0 */
#include "self/spawn.h"
#include "base/clock.h"
#include "self/raw-call.h"
#include "library/room.h"
#include "self/spawn-child.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif

extern char **environ;

/* Signals block in bytes of the kernel's mask: glibc's functions leave two of its own out. */
enum { MASK_BYTES = 8 };

/* Return whether orphans of this program's children become its own children. */
static bool adopts_orphans(void)
{
	int adopts = 0;

	return getpid() == 1 ||
	       (prctl(PR_GET_CHILD_SUBREAPER, &adopts, 0, 0, 0) == 0 && adopts);
}

/* Reap MIDDLE; wait until it has ended if FLAGS do not have WNOHANG.  Return whether it is gone. */
static bool reap(pid_t middle, int flags)
{
	/* An error means that the program itself has waited for it, by __WALL. */
	return raw_call(SYS_wait4, middle, 0, __WCLONE | flags, 0) != 0;
}

/* Wait until the middle, which stays, has written its results. */
static void await_results(struct spawn *s, pid_t middle)
{
	const struct timespec time = { .tv_nsec = 100000000 };

	while (!__atomic_load_n(&s->done, __ATOMIC_ACQUIRE)) {
		raw_call(SYS_futex, (long)&s->done, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0,
			 (long)&time);
		if (!__atomic_load_n(&s->done, __ATOMIC_ACQUIRE) && reap(middle, WNOHANG)) {
			s->error = ECHILD;	/* somebody has killed it */
			return;
		}
	}
}

/*
 * Run the process in the middle until it has written its results.  Return its pid if it stays, or
 * 0.
 */
static pid_t run_middle(struct spawn *s)
{
	const unsigned long flags = CLONE_VM | (s->stays ? 0 : CLONE_VFORK);
	const unsigned long all = ~0UL;
	unsigned long before;

	raw_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&before, MASK_BYTES);
	pid_t middle = (pid_t)raw_clone(flags, s->middle_stack + SPAWN_STACK, spawn_middle, s);
	if (middle < 0) {
		s->error = -middle;
	} else if (s->stays) {
		await_results(s, middle);
	} else {
		reap(middle, 0);
		if (!s->done)
			s->error = ECHILD;
	}
	raw_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&before, 0, MASK_BYTES);
	if (middle > 0 && s->stays && !s->error)
		return middle;
	if (middle > 0 && s->stays && s->done)
		reap(middle, 0);
	return 0;
}

/* Give back what S has taken; for the room. */
static void release(void *object)
{
	struct spawned *s = object;

	if (*s->mark) {		/* otherwise the processes are the parent's, before fork() */
		spawned_kill(s);
		if (s->middle)
			reap(s->middle, 0);
	}
	if (s->memory)
		munmap(s->memory, sizeof(struct spawn));
	owned_close(&s->pidfd);
}

int spawn(struct spawned *s, const struct spawn_what *what, const volatile uint8_t *mark)
{
	*s = (struct spawned){ .pidfd = OWNED_NONE, .mark = mark };
	room_note(s, release);
	/* Shared: valgrind(1) makes the processes by fork(). */
	struct spawn *memory = mmap(NULL, sizeof(*memory), PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return errno;
	s->memory = memory;
	memory->what = *what;
	memory->environment = environ;
	memory->stays = adopts_orphans();
	s->middle = run_middle(memory);
	int error = memory->error;
	if (!error) {
		s->pid = memory->pid;
		owned_set(&s->pidfd, (int)syscall(SYS_pidfd_open, s->pid, 0));
	}
	if (!s->middle) {
		munmap(memory, sizeof(*memory));
		s->memory = NULL;
	}
	return error;
}

bool spawned_has_ended(struct spawned *s)
{
	struct pollfd p = { .fd = owned_fd(&s->pidfd), .events = POLLIN };

	if (!s->pid)
		return true;
	return p.fd >= 0 ? poll(&p, 1, 0) > 0 : kill(s->pid, 0) < 0 && errno == ESRCH;
}

void spawned_kill(struct spawned *s)
{
	int pidfd = owned_fd(&s->pidfd);

	if (!s->pid || owned_is_lost(&s->pidfd))
		return;
	if (pidfd >= 0)
		syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
	else
		kill(s->pid, SIGKILL);
}

uint64_t spawned_cpu_ns(const struct spawned *s)
{
	clockid_t clock;

	return s->pid && clock_getcpuclockid(s->pid, &clock) == 0 ? clock_ns(clock) : 0;
}

void spawned_release(struct spawned *s)
{
	if (!room_forget(s))
		return;
	release(s);
	*s = (struct spawned){ .pidfd = OWNED_NONE };
}
