/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that begin while we attach are either created by a thread we have,
 * and inherit its events, or by one we do not have yet, and are found by
 * looking again.  A FORK record tells which; it stands in the ring shortly
 * after the thread stands in /proc.
 */
#include "sample/attach.h"

#include <errno.h>
#include <inttypes.h>
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
	struct report *report;
	bool any;		/* something was opened */
	size_t forbidden;	/* processes of a user that may not be sampled */
};

static bool open_thread(struct attaching *a, pid_t tid)
{
	bool ended;

	if (!counters_open(a->counters, tid, 0, &ended))
		return false;
	a->any |= !ended;
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

/* How many threads the processes have now. */
static size_t count_threads(const struct target *target)
{
	struct threads threads = { 0 };

	for (size_t i = 0; i < target->pids; i++)
		threads_scan(&threads, target->pid[i]);
	size_t count = threads.count + target->tids;
	threads_release(&threads);
	return count;
}

/*
 * Know in time whether descriptors will suffice, rather than fail half-way.
 * Where they do not, *BY_CPU says whether counting on CPUs is a way out.
 */
static bool fits(struct attaching *a, bool *by_cpu)
{
	uint64_t needed, allowed;
	size_t threads = count_threads(a->target);

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

/* Open the threads that are new since KNOWN, but for those that inherit; *LEFT: any were opened. */
static bool open_new(struct attaching *a, size_t known, bool is_first, bool *left)
{
	struct timespec settle = { .tv_nsec = SETTLE_MS * 1000000 };

	*left = false;
	if (!is_first)
		nanosleep(&settle, NULL);
	for (size_t i = known; i < a->threads->count; i++) {
		pid_t tid = a->threads->thread[i].tid;
		if (!is_first && counters_saw_fork(a->counters, tid))
			continue;
		*left = true;
		if (!open_thread(a, tid))
			return false;
	}
	return true;
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

static bool attach_process(struct attaching *a, pid_t pid)
{
	bool left = true;

	if (a->target->by_user && !may_count(a->counters, pid)) {
		a->forbidden++;
		return true;
	}
	for (int scan = 0; scan < SCANS_MAX && left; scan++) {
		size_t known = a->threads->count;
		if (!threads_scan(a->threads, pid))
			return process_is_gone(a, pid, scan > 0);
		if (a->threads->count == known)
			break;
		if (!open_new(a, known, scan == 0, &left))
			return false;
	}
	return true;
}

static bool attach_thread(struct attaching *a, pid_t tid)
{
	if (!threads_add(a->threads, tid)) {
		report_error(a->report, "no thread has the id %d", tid);
		return false;
	}
	return open_thread(a, tid);
}

bool attach(struct counters *counters, const struct target *target, struct threads *threads,
	    bool *by_cpu, struct report *report)
{
	struct attaching a = { counters, target, threads, report, .any = false };
	bool ended;

	if (target_is_by_cpu(target))
		return target->cgroup
			? counters_open(counters, target->cgroup, PERF_FLAG_PID_CGROUP, &ended)
			: counters_open(counters, -1, 0, &ended);
	*by_cpu = false;
	if (!fits(&a, by_cpu))
		return false;
	if (*by_cpu)
		return counters_open(counters, -1, 0, &ended);
	for (size_t i = 0; i < target->pids; i++)
		if (!attach_process(&a, target->pid[i]))
			return false;
	for (size_t i = 0; i < target->tids; i++)
		if (!attach_thread(&a, target->tid[i]))
			return false;
	if (a.forbidden && a.any)
		report_note(report, "%zu processes of the user are not sampled: that is not "
			    "permitted without CAP_PERFMON", a.forbidden);
	else if (a.forbidden)
		report_error(report, "none of the user's processes may be sampled: run as root, or "
			     "with cap_perfmon");
	else if (!a.any)
		report_error(report, "the target has ended");
	return a.any;
}
