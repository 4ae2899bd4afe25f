/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spawn - starts the process that samples, so that this program does not notice it.
 *
 *	program --clone()--> middle --vfork--> sampler
 *
 * A direct child would be found by wait(), and would send SIGCHLD when it ends, since exec() makes
 * any child a usual child.  So the program starts a process in the middle, which executes nothing.
 * Its end sends no signal, and only wait() with __WCLONE or __WALL finds it.  It starts the sampler
 * and ends at once: the sampler is then a child of init, or of the next process that adopts
 * orphans.
 *
 * If this program itself adopts orphans, because it is process 1 of a container or called
 * prctl(PR_SET_CHILD_SUBREAPER), the middle stays: it waits for the sampler and for whatever the
 * sampler leaves, and ends then.  It shares the program's memory, but no descriptor.
 *
 * Both share the program's memory: no page table is copied, and no page faults afterwards.  Until
 * the sampler runs, they use nothing but system calls and memory of their own.
 */
#pragma once
#include "library/owned.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { SPAWN_FDS = 4 };

struct spawn_what {
	const char *path;
	char *const *argv;
	int fd[SPAWN_FDS];	/* all different: what the sampler has as descriptors 0, 1, ... */
};

/* A process that was started.  Zero-initialised: none. */
struct spawned {
	pid_t pid;		/* of the sampler; 0: none was started */
	struct owned pidfd;	/* of it; none where the kernel has no such descriptors */
	pid_t middle;		/* the process that waits for it, or 0 */
	void *memory;		/* that the middle uses, or NULL */
	const volatile uint8_t *mark;	/* of the handle, see struct handle */
};

/*
 * In a work function: start WHAT, and note *S in the room.  MARK is that of the handle.  Return 0
 * when the sampler runs, or the errno why not.
 */
int spawn(struct spawned *s, const struct spawn_what *what, const volatile uint8_t *mark);

/*
 * Send the sampler SIGKILL, if it still runs.  If the program has closed the descriptor, do
 * nothing: another process may have the sampler's number by now.
 */
void spawned_kill(struct spawned *s);

/* Return whether the sampler has ended. */
bool spawned_has_ended(struct spawned *s);

/* Return the CPU time that the sampler has used, in ns, or 0 if it has ended. */
uint64_t spawned_cpu_ns(const struct spawned *s);

/* In a work function: end the sampler, if it still runs, and forget *S. */
void spawned_release(struct spawned *s);
