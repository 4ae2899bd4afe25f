/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads inherit events from the thread that creates them, if it has them at that moment.  So the
 * events are opened while no thread starts: if one did, all are closed and opened again.
 */
#include "base/arena.h"
#include "base/descriptor.h"
#include "base/text.h"
#include "counting/internal.h"
#include "linux/proc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRIES_MAX = 20 };

#define CLEAR_NS 1000000000ULL	/* time between looks for threads that have ended */

static char *thread_name(const struct target_thread *thread)
{
	char comm[PROC_NAME_SIZE], *name;

	if (!proc_name(thread->pid, thread->tid, comm))
		*comm = '\0';
	text_make_safe(comm);
	if (asprintf(&name, "%d %s", thread->tid, comm) < 0)
		abort();
	return name;
}

/* Set *UNIT to the unit of CPU, which is new if its core or node is.  False: reported. */
static bool unit_of_cpu(struct counted_run *r, int cpu, uint32_t *unit)
{
	struct cpu_place at = cpus_place(cpu);
	char *name;

	*unit = 0;
	if (!r->c->by)
		return true;
	if (!at.is_known && r->c->by != BY_CPU) {
		report_error(r->report, "cannot count by core or node: /sys does not say in which "
			     "core CPU %d is; --by cpu works", cpu);
		return false;
	}
	int size = r->c->by == BY_CPU ? asprintf(&name, "cpu %d", cpu)
		 : r->c->by == BY_CORE ? asprintf(&name, "core %d.%d", at.package, at.core)
		 : asprintf(&name, "node %d", at.node);

	if (size < 0)
		abort();

	for (; *unit < r->units; ++*unit)
		if (!strcmp(r->unit[*unit], name)) {
			free(name);
			return true;
		}
	*unit = run_add_unit(r, name);
	return true;
}

/* Open the events on all CPUs that are online. */
static bool attach_to_cpus(struct counted_run *r)
{
	const struct target *t = r->c->target;
	struct cpu_list online = cpus_online();
	bool good = true, ended;

	for (size_t i = 0; good && i < online.count; i++) {
		uint32_t unit;
		good = unit_of_cpu(r, online.cpu[i], &unit) &&
		       counts_open(&r->counts, t->cgroup ? t->cgroup : -1, online.cpu[i],
				   t->cgroup ? PERF_FLAG_PID_CGROUP : 0, unit, &ended);
	}
	if (online.count == 0)
		report_error(r->report, "cannot find out which CPUs are online");
	cpus_release(&online);
	return good && r->counts.opened;
}

/* Add the target's threads to the list.  False: reported. */
static bool scan(struct counted_run *r, bool is_first)
{
	const struct target *t = r->c->target;

	for (size_t i = 0; i < t->pids; i++) {
		if (threads_scan(&r->threads, t->pid[i]) || !is_first)
			continue;
		if (errno == ENOENT || errno == ESRCH)
			report_error(r->report, "no process has the pid %d", t->pid[i]);
		else
			report_failure(r->report, "cannot list the threads of %d", t->pid[i]);
		return false;
	}
	return true;
}

/* Open the events on the threads from index FIRST on.  False: reported. */
static bool open_threads(struct counted_run *r, size_t first)
{
	bool good = true, ended;

	for (size_t i = first; good && i < r->threads.count; i++) {
		const struct target_thread *thread = &r->threads.thread[i];
		uint32_t unit = r->c->by ? run_add_unit(r, thread_name(thread)) : 0;
		good = counts_open(&r->counts, thread->tid, -1, 0, unit, &ended);
		if (ended && r->c->by)
			*r->unit[unit] = '\0';
	}
	return good;
}

/* Close the counts of threads that have ended. */
static void clear_ended(struct counted_run *r)
{
	char comm[PROC_NAME_SIZE];

	for (size_t i = 0; i < r->threads.count; i++) {
		struct target_thread *thread = &r->threads.thread[i];
		if (thread->pid && !proc_name(thread->pid, thread->tid, comm)) {
			counts_close_unit(&r->counts, (uint32_t)i);
			thread->pid = 0;
		}
	}
}

bool run_attach_new(struct counted_run *r, uint64_t now)
{
	size_t known = r->threads.count;

	if (r->c->by != BY_THREAD)
		return true;
	if (now - r->cleared > CLEAR_NS) {
		clear_ended(r);
		r->cleared = now;
	}
	return scan(r, false) && open_threads(r, known) && counts_enable(&r->counts);
}

bool run_attach(struct counted_run *r)
{
	descriptor_raise_limit();
	if (target_is_by_cpu(r->c->target))
		return attach_to_cpus(r);
	for (int try = 0; try < TRIES_MAX; try++) {
		counts_close(&r->counts);
		threads_release(&r->threads);
		if (!scan(r, true) || !open_threads(r, 0))
			return false;
		size_t known = r->threads.count;
		if (r->c->by == BY_THREAD)
			break;		/* run_attach_new() opens the others */
		scan(r, false);
		if (r->threads.count == known)
			break;
		if (try + 1 == TRIES_MAX)
			report_note(r->report, "threads start all the time: up to %zu are not "
				    "counted, or twice", r->threads.count - known);
	}
	if (!r->counts.opened)
		report_error(r->report, "the target has ended");
	return r->counts.opened;
}
