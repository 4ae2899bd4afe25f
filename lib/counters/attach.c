/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that start while we attach either inherit all events, from a parent on which all events
 * were open, or are found by scanning again.  A FORK record names the parent, but the kernel
 * writes the record after it has copied the parent's events: if we opened events at that moment,
 * the new thread may have inherited any part of them.  A parent creates one thread at a time: if
 * it has a FORK record from after our opening, every later thread has all events.  For all other
 * threads we cannot know: we open their events, and owners.h keeps samples from counting twice.
 */
#include "counters/attach.h"
#include "base/arena.h"
#include "base/descriptor.h"
#include "linux/proc.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
	SETTLE_MS = 2,		/* a thread is in /proc before its FORK record is in the ring */
	SCANS_MAX = 100,	/* scans of /proc/PID/task, until no thread is new */
};

struct attaching {
	struct counters *counters;
	const struct target *target;
	struct threads *threads;
	struct owners *owners;
	struct report *report;
	bool any;		/* events are open on some thread */
	size_t forbidden;	/* listed processes that we may not sample */
};

static bool open_thread(struct attaching *a, struct target_thread *thread)
{
	bool ended;

	if (!counters_open(a->counters, thread->tid, 0, &ended))
		return false;
	a->any |= !ended;
	thread->opened = counters_now(a->counters);
	return true;
}

/* Return whether the kernel lets us count process PID, or whole CPUs if PID is -1. */
static bool may_count(const struct counters *counters, pid_t pid)
{
	int fd = event_open(&counters->events->event[0].attr, pid, counters->cpu[0], -1,
			    PERF_FLAG_FD_CLOEXEC);

	descriptor_close(fd);
	return fd >= 0 || (pid >= 0 && errno != EACCES && errno != EPERM);
}

/*
 * Check the limit of descriptors, so that opening does not fail half-way.  If the limit is too
 * low, set *BY_CPU if whole CPUs can be counted instead; otherwise report the limit and return
 * false.
 */
static bool fits_descriptors(struct attaching *a, bool *by_cpu)
{
	uint64_t needed, allowed;
	size_t threads = a->threads->count;
	const char *plural = threads == 1 ? "" : "s";

	counters_budget(a->counters, threads, &needed, &allowed);
	report_summary(a->report, "%zu threads on %zu CPUs take %" PRIu64 " descriptors, %" PRIu64
		       " are left; rings lock %zu KiB of memory", threads, a->counters->cpus,
		       needed, allowed, a->counters->cpus * a->counters->ring_size >> 10);
	if (needed <= allowed)
		return true;
	*by_cpu = a->target->tids == 0 && may_count(a->counters, -1);
	if (*by_cpu)
		report_note(a->report, "%zu thread%s would take %" PRIu64 " descriptors, and only "
			    "%" PRIu64 " may be opened: all that the CPUs run is sampled, and "
			    "records of other processes are dropped", threads, plural, needed,
			    allowed);
	else
		report_error(a->report, "%zu thread%s take%s %" PRIu64 " descriptors, but only "
			     "%" PRIu64 " may be opened: raise ulimit -n, sample fewer events, or "
			     "single CPUs with -C", threads, plural, *plural ? "" : "s", needed,
			     allowed);
	return *by_cpu;
}

/* Return whether the COUNT records FORKS prove that THREAD inherited all events. */
static bool inherits_all(const struct attaching *a, const struct target_thread *thread,
			 const struct fork_record *forks, size_t count)
{
	const struct fork_record *own = NULL;

	for (size_t i = 0; i < count; i++)
		if (forks[i].tid == thread->tid && (!own || forks[i].time > own->time))
			own = &forks[i];
	const struct target_thread *parent = own ? threads_find(a->threads, own->parent) : NULL;
	if (!parent || parent->inherits)
		return parent;
	for (size_t i = 0; i < count && parent->opened; i++)
		if (forks[i].parent == own->parent && forks[i].time > parent->opened &&
		    forks[i].time < own->time)
			return true;
	return false;
}

/*
 * Open events on the threads from index KNOWN on, except those that inherited all of them.
 * Sets *OPENED if there was such a thread.
 */
static bool open_new(struct attaching *a, size_t known, bool is_first, bool *opened)
{
	struct timespec settle = { .tv_nsec = SETTLE_MS * 1000000 };
	struct fork_record *forks = NULL;
	bool good = true;
	size_t count = 0;

	*opened = false;
	if (!is_first) {
		nanosleep(&settle, NULL);
		forks = counters_forks(a->counters, &count);
	}
	for (size_t i = known; good && i < a->threads->count; i++) {
		struct target_thread *thread = &a->threads->thread[i];
		thread->inherits = !is_first && inherits_all(a, thread, forks, count);
		if (thread->inherits)
			continue;
		*opened = true;
		if (!is_first)
			owners_set(a->owners, thread->tid, a->counters->tasks,
				   counters_now(a->counters));
		good = open_thread(a, thread);
	}
	free(forks);
	return good;
}

/*
 * Return whether PID, whose threads cannot be listed, may simply have ended: it existed before, or
 * the user did not name it.  Otherwise report the error.
 */
static bool may_have_ended(struct attaching *a, pid_t pid, bool was_there)
{
	if (errno != ENOENT && errno != ESRCH)
		report_failure(a->report, "cannot list the threads of %d", pid);
	else if (was_there || a->target->by_search)
		return true;
	else {
		report_because(a->report, REPORT_NOT_FOUND);
		report_error(a->report, "no process has the pid %d", pid);
	}
	return false;
}

/* Add the threads of all descendants of the known threads. */
static void scan_children(struct attaching *a)
{
	struct proc_ids children;

	for (size_t i = 0; i < a->threads->count; i++) {	/* the loop adds threads */
		const struct target_thread *thread = &a->threads->thread[i];
		proc_children(thread->pid, thread->tid, &children);
		for (size_t k = 0; k < children.count; k++)
			if (children.id[k] != getpid())
				threads_scan(a->threads, children.id[k]);
		free(children.id);
	}
}

/* Add the target's threads to the list.  False: reported. */
static bool scan(struct attaching *a, bool is_first)
{
	const struct target *t = a->target;

	for (size_t i = 0; i < t->pids; i++) {
		if (t->by_search && !may_count(a->counters, t->pid[i])) {
			a->forbidden += is_first;
			continue;
		}
		if (!threads_scan(a->threads, t->pid[i]) &&
		    !may_have_ended(a, t->pid[i], !is_first))
			return false;
	}
	for (size_t i = 0; i < t->tids && is_first; i++)
		if (!threads_add(a->threads, t->tid[i])) {
			report_error(a->report, "no thread has the id %d", t->tid[i]);
			return false;
		}
	if (t->children)
		scan_children(a);
	return true;
}

/* Report that the whole target ended before events were open on it. */
static void report_ended(const struct attaching *a)
{
	char why[256];

	if (a->target->pids + a->target->tids != 1) {
		report_error(a->report, "the target has ended");
		return;
	}
	pid_t id = a->target->pids ? *a->target->pid : *a->target->tid;
	event_explain_task(&a->counters->events->event[0], id, ESRCH, why, sizeof(why));
	report_error(a->report, "cannot sample %d: %s", id, why);
}

static bool attach_tasks(struct attaching *a)
{
	bool opened = true;
	size_t known = 0;

	for (int i = 0; i < SCANS_MAX && opened; i++) {
		if (i > 0 && !scan(a, false))
			return false;
		if (a->threads->count == known)
			break;
		size_t first = known;
		known = a->threads->count;
		if (!open_new(a, first, i == 0, &opened))
			return false;
		if (i == 0)
			a->counters->doubtful = a->counters->tasks;
	}
	if (a->forbidden && a->any)
		report_note(a->report, "%zu of the processes are not sampled: that is not "
			    "permitted without CAP_PERFMON", a->forbidden);
	else if (a->forbidden) {
		report_because(a->report, REPORT_NO_RIGHTS);
		report_error(a->report, "none of the processes may be sampled: run as root, "
			     "or with cap_perfmon");
	} else if (!a->any)
		report_ended(a);
	return a->any;
}

bool attach(struct counters *counters, const struct target *target, struct threads *threads,
	    struct owners *owners, bool *by_cpu, struct report *report)
{
	struct attaching a = { counters, target, threads, owners, report, .any = false };
	bool ended;

	*by_cpu = false;
	if (target_is_by_cpu(target))
		return target->cgroup
			? counters_open(counters, target->cgroup, PERF_FLAG_PID_CGROUP, &ended)
			: counters_open(counters, -1, 0, &ended);
	*by_cpu = target->wakers;
	if (!scan(&a, true) || (!*by_cpu && !fits_descriptors(&a, by_cpu)))
		return false;
	return *by_cpu ? counters_open(counters, -1, 0, &ended) : attach_tasks(&a);
}
