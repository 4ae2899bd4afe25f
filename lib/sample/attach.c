/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that begin while we attach are either created by a thread that has all
 * events, and inherit them, or are found by looking again.  A FORK record names
 * the parent, but is written when the kernel has copied the parent's events
 * already: if these were opened at that moment, the new thread may have any part
 * of them.  A parent creates one thread at a time: the next one after a FORK
 * record that is later than the opening has them all.  Of all others that is in
 * doubt: their events are opened, and owners.h keeps them from counting twice.
 */
#include "sample/attach.h"
#include "base/arena.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
	SETTLE_MS = 2,		/* from a thread in /proc to its FORK record */
	SCANS_MAX = 100,	/* of /proc/PID/task, until no thread is new */
};

struct attaching {
	struct counters *counters;
	const struct target *target;
	struct threads *threads;
	struct owners *owners;
	struct report *report;
	bool any;		/* something was opened */
	size_t forbidden;	/* processes of a user that may not be sampled */
};

static bool open_thread(struct attaching *a, struct thread *thread)
{
	bool ended;

	if (!counters_open(a->counters, thread->tid, 0, &ended))
		return false;
	a->any |= !ended;
	thread->opened = counters_now(a->counters);
	return true;
}

/* Whether the kernel lets us count what PID does, or for -1 all that runs on a CPU. */
static bool may_count(const struct counters *counters, pid_t pid)
{
	int fd = event_open(&counters->events->event[0].attr, pid, counters->cpu[0], -1,
			    PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0 || (pid >= 0 && errno != EACCES && errno != EPERM);
}

/*
 * Know in time whether descriptors will suffice, rather than fail half-way.
 * Where they do not, *BY_CPU says whether counting on CPUs is a way out.
 */
static bool fits(struct attaching *a, bool *by_cpu)
{
	uint64_t needed, allowed;
	size_t threads = a->threads->count;

	counters_budget(a->counters, threads, &needed, &allowed);
	report_summary(a->report, "%zu threads on %zu CPUs take %" PRIu64 " descriptors, %" PRIu64
		       " are left; rings lock %zu KiB of memory", threads, a->counters->cpus,
		       needed, allowed, a->counters->cpus * a->counters->ring_size >> 10);
	if (needed <= allowed)
		return true;
	*by_cpu = a->target->tids == 0 && may_count(a->counters, -1);
	if (*by_cpu)
		report_note(a->report, "%zu threads would take %" PRIu64 " descriptors, and only %"
			    PRIu64 " may be opened: all that the CPUs run is sampled, and what is "
			    "not the target's is dropped", threads, needed, allowed);
	else
		report_error(a->report, "%zu threads take %" PRIu64 " descriptors, but only %"
			     PRIu64 " may be opened: raise ulimit -n, sample fewer events, or "
			     "single CPUs with -C", threads, needed, allowed);
	return *by_cpu;
}

/* Whether THREAD has got all events from the one that created it, as the COUNT FORKS say. */
static bool inherits_all(const struct attaching *a, const struct thread *thread,
			 const struct fork_record *forks, size_t count)
{
	const struct fork_record *own = NULL;

	for (size_t i = 0; i < count; i++)
		if (forks[i].tid == thread->tid && (!own || forks[i].time > own->time))
			own = &forks[i];
	const struct thread *parent = own ? threads_find(a->threads, own->parent) : NULL;
	if (!parent || parent->inherits)
		return parent;
	for (size_t i = 0; i < count && parent->opened; i++)
		if (forks[i].parent == own->parent && forks[i].time > parent->opened &&
		    forks[i].time < own->time)
			return true;
	return false;
}

/* Open the threads that are new since KNOWN, but for those that inherit; *LEFT: any were opened. */
static bool open_new(struct attaching *a, size_t known, bool is_first, bool *left)
{
	struct timespec settle = { .tv_nsec = SETTLE_MS * 1000000 };
	struct fork_record *forks = NULL;
	bool good = true;
	size_t count = 0;

	*left = false;
	if (!is_first) {
		nanosleep(&settle, NULL);
		forks = counters_forks(a->counters, &count);
	}
	for (size_t i = known; good && i < a->threads->count; i++) {
		struct thread *thread = &a->threads->thread[i];
		thread->inherits = !is_first && inherits_all(a, thread, forks, count);
		if (thread->inherits)
			continue;
		*left = true;
		if (!is_first)
			owners_set(a->owners, thread->tid, a->counters->tasks,
				   counters_now(a->counters));
		good = open_thread(a, thread);
	}
	free(forks);
	return good;
}

/* Whether it may be gone: it had been there, or nobody named it. */
static bool process_is_gone(struct attaching *a, pid_t pid, bool was_there)
{
	if (errno != ENOENT && errno != ESRCH)
		report_failure(a->report, "cannot list the threads of %d", pid);
	else if (was_there || a->target->by_user)
		return true;
	else
		report_error(a->report, "no process has the pid %d", pid);
	return false;
}

/* Look for the processes that those known have created, and theirs. */
static void scan_children(struct attaching *a)
{
	char path[64];
	int child;

	for (size_t i = 0; i < a->threads->count; i++) {	/* it grows meanwhile */
		const struct thread *thread = &a->threads->thread[i];
		snprintf(path, sizeof(path), "/proc/%d/task/%d/children", thread->pid,
			 thread->tid);
		FILE *f = fopen(path, "re");
		while (f && fscanf(f, "%d", &child) == 1)
			if (child != getpid())
				threads_scan(a->threads, child);
		if (f)
			fclose(f);
	}
}

/* Look for the threads of the target. */
static bool scan(struct attaching *a, bool is_first)
{
	const struct target *t = a->target;

	for (size_t i = 0; i < t->pids; i++) {
		if (t->by_user && !may_count(a->counters, t->pid[i])) {
			a->forbidden += is_first;
			continue;
		}
		if (!threads_scan(a->threads, t->pid[i]) &&
		    !process_is_gone(a, t->pid[i], !is_first))
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

/* Nothing was opened, since everything has ended. */
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
	bool left = true;
	size_t known = 0;

	for (int i = 0; i < SCANS_MAX && left; i++) {
		if (i > 0 && !scan(a, false))
			return false;
		if (a->threads->count == known)
			break;
		size_t first = known;
		known = a->threads->count;
		if (!open_new(a, first, i == 0, &left))
			return false;
	}
	if (a->forbidden && a->any)
		report_note(a->report, "%zu of the processes are not sampled: that is not "
			    "permitted without CAP_PERFMON", a->forbidden);
	else if (a->forbidden)
		report_error(a->report, "none of the processes may be sampled: run as root, "
			     "or with cap_perfmon");
	else if (!a->any)
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
	if (!scan(&a, true) || !fits(&a, by_cpu))
		return false;
	return *by_cpu ? counters_open(counters, -1, 0, &ended) : attach_tasks(&a);
}
