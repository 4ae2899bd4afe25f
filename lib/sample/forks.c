/* SPDX-License-Identifier: Apache-2.0 */
/* forks - messages about processes that the target has started, but that are not sampled. */
#include "base/clock.h"
#include "linux/proc.h"
#include "sample/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Return whether the user may expect that the children of the target's processes are sampled. */
static bool may_miss_children(const struct sampler *s)
{
	const struct target *t = s->options->target;

	return t->pids && !t->children && !t->by_search && !target_is_by_cpu(t);
}

static bool is_target(const struct target *t, pid_t pid)
{
	for (size_t i = 0; i < t->pids; i++)
		if (t->pid[i] == pid)
			return true;
	return false;
}

/* Add to USED the CPU time of the descendants of PID, including those that it has waited for. */
static void add_children(const struct target *t, pid_t pid, struct cpu_used *used, int depth)
{
	enum { DEPTH = 32 };
	struct proc_ids threads, children;
	struct proc_used of_pid;

	if (depth > DEPTH || !proc_cpu_used(pid, &of_pid))
		return;
	used->by_children += of_pid.by_children + (depth ? of_pid.own : 0);
	used->own += depth ? 0 : of_pid.own;
	proc_threads(pid, &threads);
	for (size_t i = 0; i < threads.count; i++) {
		proc_children(pid, threads.id[i], &children);
		for (size_t k = 0; k < children.count; k++)
			if (!is_target(t, children.id[k]))
				add_children(t, children.id[k], used, depth + 1);
		free(children.id);
	}
	free(threads.id);
}

/* Return the CPU time that the target's processes and their descendants have used so far. */
static struct cpu_used measure(const struct target *t)
{
	struct cpu_used used = { 0, 0 };

	for (size_t i = 0; i < t->pids; i++)
		add_children(t, t->pid[i], &used, 0);
	return used;
}

void sampler_measure_children(struct sampler *s, uint64_t time)
{
	const uint64_t least = 500000000, share = 100;	/* ns between two; 1 % of the time */

	if (!may_miss_children(s) || time < s->measure_due)
		return;
	uint64_t start = monotonic_ns();
	struct cpu_used used = measure(s->options->target);
	if (!s->measure_due)
		s->used_before = used;
	/* when a process has ended, its times are gone */
	if (used.own + used.by_children >= s->used.own + s->used.by_children)
		s->used = used;
	uint64_t pause = share * (monotonic_ns() - start);
	s->measure_due = time + (pause > least ? pause : least);
}

bool sampler_report_children(struct sampler *s)
{
	const uint64_t tick = 10000000;		/* ns; times in /proc are in such ticks */
	const struct target *t = s->options->target;
	bool any = s->flow.counts.samples > 0;

	sampler_measure_children(s, UINT64_MAX - 1);
	uint64_t own = s->used.own - s->used_before.own;
	uint64_t others = s->used.by_children > s->used_before.by_children
		? s->used.by_children - s->used_before.by_children : 0;
	if (others < (any ? 5 * tick : tick) || others <= own)
		return false;
	report_note(s->report, "%sthe children of process %d%s used %.2f s of CPU time, %s %.2f s: "
		    "--children samples them, too", any ? "" : "no samples: ",
		    (int)t->pid[0], t->pids > 1 ? " and others" : "", (double)others / 1e9,
		    t->pids > 1 ? "these processes" : "the process itself", (double)own / 1e9);
	return true;
}

bool sampler_report_unseen(struct sampler *s)
{
	const struct sampler_options *o = s->options;
	struct proc_used used;
	uint64_t seen = 0;

	if (!s->child.pid || !o->target->command || target_is_by_cpu(o->target) ||
	    o->target->cpus.count || o->delay || s->delayed || o->control ||
	    !proc_child_has_ended(s->child.pid) || !proc_cpu_used(s->child.pid, &used))
		return false;
	for (uint32_t i = 0; i < s->sampled; i++) {
		if (o->events->event[i].inherit < 0)
			return false;	/* children are not wanted */
		if (s->total[i].enabled > seen)
			seen = s->total[i].enabled;
	}
	return child_report_unseen(*o->target->command, used.own + used.by_children, seen,
				   "sampling", s->report);
}

bool sampler_family_lives(struct sampler *s, uint64_t time)
{
	if (!s->command_end)
		s->command_end = time;
	descendants_prune(&s->flow.descendants);
	/* the record of the last fork may still be in a ring */
	return s->flow.descendants.count > 0 || s->flow.reached <= s->command_end;
}

/* Return whether the parent of PID is one of D. */
static bool has_parent(const struct descendants *d, pid_t pid)
{
	char text[32];
	pid_t parent;

	if (!proc_status(pid, "PPid", text, sizeof(text)) || !proc_parse_id(text, &parent))
		return false;
	for (uint32_t i = 0; i < d->count; i++)
		if (d->pid[i] == parent)
			return true;
	return false;
}

void sampler_report_daemons(struct sampler *s)
{
	enum { SHOWN = 4 };
	const struct sampler_options *o = s->options;
	struct descendants *d = &s->flow.descendants;
	char names[SHOWN * 96] = "", ids[SHOWN * 16] = "", name[PROC_NAME_SIZE], more[48] = "";
	size_t at = 0, ids_at = 0;
	uint32_t shown = 0;

	if (!o->target->command || o->target->children || !proc_child_has_ended(s->child.pid))
		return;
	if (o->is_remote && (s->ending.interrupted || s->ending.kill_due))
		return;		/* they are ended now */
	descendants_prune(d);
	for (uint32_t i = 0; i < d->count && shown < SHOWN; i++) {
		if (has_parent(d, d->pid[i]) || !proc_name(d->pid[i], d->pid[i], name))
			continue;
		const char *between = shown++ ? ", " : "";
		at += (size_t)snprintf(names + at, sizeof(names) - at, "%s%s (%d)", between, name,
				       (int)d->pid[i]);
		ids_at += (size_t)snprintf(ids + ids_at, sizeof(ids) - ids_at, "%s%d",
					   shown > 1 ? "," : "", (int)d->pid[i]);
	}
	if (d->count > shown)
		snprintf(more, sizeof(more), " and %u more", d->count - shown);
	if (shown)
		report_note(s->report, "'%s' has ended, but processes that it started go on: "
			    "%s%s; pmu-prof %s-p %s --children profiles them, and --children with "
			    "the command does so from their start", *o->target->command, names,
			    more, o->is_remote ? "--host HOST " : "", ids);
}
