/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The root directories of processes in mount namespaces or root directories of their own.
 *
 * A process in a container may have ended when its records are read, and /proc/PID/root with it.
 * So the root directory of each process that can be asked is noted when its first record is read:
 * the directory is opened once for all processes that share it, and a child has its parent's until
 * it says otherwise.  So a process that lived for a moment has the root of its parent, or one that
 * any process of the same namespace showed before.
 *
 * These are guesses.  A file from such a root must have the recorded build ID, or else the recorded
 * device and inode.
 *
 * A root is identified by its mount namespace and its directory.  A process is looked at when its
 * first record comes and after each exec; that takes two system calls, and a third if the root is
 * new.  An open directory keeps its file system from being removed, so a root that nobody needed
 * for a minute is closed.
 */
#include "base/arena.h"
#include "base/clock.h"
#include "base/descriptor.h"
#include "locate/internal.h"

#include <stdlib.h>
#include <unistd.h>

enum {
	ROOTS_MAX = 64,
	PROCESSES_KEPT = 1 << 14,	/* by the low bits of their ids */
	ANCESTORS_MAX = 8,		/* that are asked for their root */
};
#define IDLE_NS (60ULL * 1000 * 1000 * 1000)
#define SWEEP_NS (1000ULL * 1000 * 1000)

struct kept_root {
	struct proc_root is;
	int fd;			/* -1: this element is not in use */
	uint32_t serial;	/* of the root: never used again */
	uint64_t used;		/* time of the last use, ns */
};

/* What is known of a process. */
struct rooted {
	pid_t pid, parent;	/* PARENT 0: unknown */
	uint32_t serial;	/* of its root; ROOT_UNKNOWN, ROOT_OURS */
};

enum { ROOT_UNKNOWN, ROOT_OURS, ROOT_FIRST };

struct locate_roots {
	struct proc_root ours;
	struct kept_root root[ROOTS_MAX];
	uint32_t serials;	/* the next serial number */
	uint64_t swept;		/* when idle roots were closed last, ns */
	struct rooted process[PROCESSES_KEPT];
};

struct locate_roots *locate_roots_new(void)
{
	struct locate_roots *r = mem_zeroed(1, sizeof(*r));

	proc_identify_root(getpid(), &r->ours);
	for (int i = 0; i < ROOTS_MAX; i++)
		r->root[i].fd = -1;
	r->serials = ROOT_FIRST;
	return r;
}

void locate_roots_free(struct locate_roots *r)
{
	for (int i = 0; r && i < ROOTS_MAX; i++)
		descriptor_close(r->root[i].fd);
	free(r);
}

static void close_root(struct kept_root *root)
{
	descriptor_close(root->fd);
	*root = (struct kept_root){ .fd = -1 };
}

/* Close the roots that were not used for a minute. */
static void sweep(struct locate_roots *r, uint64_t now)
{
	if (now - r->swept < SWEEP_NS)
		return;
	r->swept = now;
	for (int i = 0; i < ROOTS_MAX; i++)
		if (r->root[i].fd >= 0 && now - r->root[i].used > IDLE_NS)
			close_root(&r->root[i]);
}

/* Return the element for another root: one that is not in use, or the one used least recently. */
static struct kept_root *free_root(struct locate_roots *r)
{
	struct kept_root *oldest = &r->root[0];

	for (int i = 0; i < ROOTS_MAX && oldest->fd >= 0; i++)
		if (r->root[i].fd < 0 || r->root[i].used < oldest->used)
			oldest = &r->root[i];
	close_root(oldest);
	return oldest;
}

/* Return the serial number of the root that process PID has now, or ROOT_UNKNOWN. */
static uint32_t ask(struct locate_roots *r, pid_t pid)
{
	uint64_t now = monotonic_ns();
	struct proc_root is;

	sweep(r, now);
	if (!proc_identify_root(pid, &is))
		return ROOT_UNKNOWN;
	if (proc_same_root(&is, &r->ours))
		return ROOT_OURS;
	for (int i = 0; i < ROOTS_MAX; i++)
		if (r->root[i].fd >= 0 && proc_same_root(&is, &r->root[i].is)) {
			r->root[i].used = now;
			return r->root[i].serial;
		}
	int fd = proc_open_root(pid);
	if (fd < 0)
		return ROOT_UNKNOWN;
	struct kept_root *root = free_root(r);
	*root = (struct kept_root){ .is = is, .fd = fd, .serial = r->serials++, .used = now };
	return root->serial;
}

static struct rooted *slot_of(struct locate_roots *r, pid_t pid)
{
	return &r->process[(uint32_t)pid % PROCESSES_KEPT];
}

/* Return what is known of process PID, or NULL. */
static struct rooted *find(struct locate_roots *r, pid_t pid)
{
	struct rooted *p = slot_of(r, pid);

	return pid > 0 && p->pid == pid ? p : NULL;
}

/* Ask process PID for its root.  A process that has ended keeps what is known of it. */
static struct rooted *learn(struct locate_roots *r, pid_t pid)
{
	struct rooted *p = find(r, pid);
	uint32_t serial = ask(r, pid);

	if (!p) {
		p = slot_of(r, pid);
		*p = (struct rooted){ .pid = pid };
	}
	if (serial == ROOT_UNKNOWN)
		return p;
	p->serial = serial;
	struct rooted *parent = find(r, p->parent);
	if (parent && parent->serial == ROOT_UNKNOWN)	/* it has ended: most probably the same */
		parent->serial = serial;
	return p;
}

static void follow_fork(struct locate_roots *r, pid_t pid, pid_t parent_pid)
{
	struct rooted *parent = find(r, parent_pid);

	if (pid <= 0 || parent_pid <= 0 || pid == parent_pid)
		return;
	if (!parent)
		parent = learn(r, parent_pid);
	struct rooted *known = find(r, pid);
	if (known && known->parent == parent_pid)
		return;		/* this record, or a later one, was followed before */
	*slot_of(r, pid) = (struct rooted){ .pid = pid, .parent = parent_pid,
					    .serial = parent->serial };
}

void locate_roots_follow(struct locate_roots *r, const struct record *rec)
{
	struct mmap_record mmap;
	struct comm_record comm;
	struct task_record task;

	switch (rec->type) {
	case PERF_RECORD_FORK:
		if (record_task(rec, &task))
			follow_fork(r, task.pid, task.parent_pid);
		break;
	case PERF_RECORD_COMM:
		if (record_comm(rec, &comm) && comm.exec && comm.pid > 0)
			learn(r, comm.pid);
		break;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		if (record_mmap(rec, &mmap) && mmap.executable && mmap.pid > 0 &&
		    !find(r, mmap.pid))
			learn(r, mmap.pid);
		break;
	}
}

static const struct kept_root *root_called(struct locate_roots *r, uint32_t serial)
{
	for (int i = 0; serial >= ROOT_FIRST && i < ROOTS_MAX; i++)
		if (r->root[i].fd >= 0 && r->root[i].serial == serial) {
			r->root[i].used = monotonic_ns();
			return &r->root[i];
		}
	return NULL;
}

/* The nearest ancestor that lives may have changed its root after it forked: it is asked again. */
bool locate_roots_find(struct locate_roots *r, pid_t pid, struct proc_path *root)
{
	const struct kept_root *found = NULL;
	struct rooted *p = r ? find(r, pid) : NULL;

	for (int i = 0; p && !found && i < ANCESTORS_MAX; i++) {
		found = root_called(r, p->serial);
		struct rooted *parent = found ? NULL : find(r, p->parent);
		p = parent ? learn(r, parent->pid) : NULL;
	}
	if (found)
		*root = proc_descriptor(found->fd);
	return found;
}
