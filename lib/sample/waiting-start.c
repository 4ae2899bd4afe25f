/* SPDX-License-Identifier: Apache-2.0 */
/* waiting-start - which threads are looked at when recording starts: those of the target. */
#include "base/arena.h"
#include "linux/cgroup.h"
#include "linux/proc.h"
#include "sample/internal.h"

#include <stdlib.h>
#include <unistd.h>

/* Return whether some ring is half full: nobody reads the rings meanwhile. */
static bool has_full_ring(struct sampler *s)
{
	bool is_full = false;

	for (size_t i = 0; i < s->counters.cpus && !is_full; i++) {
		struct ring *ring = &s->counters.ring[i];
		is_full = ring->fd >= 0 && ring_refresh(ring) > ring->size / 2;
	}
	return is_full;
}

/* Look at thread TID of process PID, unless there are too many, or it would take too long. */
static void look(struct sampler *s, pid_t pid, pid_t tid)
{
	enum { OFTEN = 16 };
	struct start_waits *w = &s->flow.waiting;

	if (w->left_out || w->count >= WAITING_MAX || (w->count % OFTEN == 0 && has_full_ring(s)))
		w->left_out++;
	else
		waiting_look(w, pid, tid);
}

/* Look at the threads of process PID, but at a worker of the kernel only if it is stuck. */
static void look_at_process(struct sampler *s, pid_t pid)
{
	struct proc_ids threads = { 0 };
	struct thread_state state;

	if (pid == getpid() || !thread_read_state(pid, pid, &state))
		return;
	bool is_idle = state.is_kernel && state.state != 'D';
	if (!is_idle)
		proc_threads(pid, &threads);
	for (size_t i = 0; i < threads.count; i++)
		look(s, pid, threads.id[i]);
	free(threads.id);
}

/* Look at process PID and its descendants. */
static void look_at_family(struct sampler *s, pid_t pid)
{
	enum { MOST = WAITING_MAX };
	struct proc_ids threads, children;
	pid_t *process = array_grow(NULL, 0, sizeof(pid));
	size_t count = 1;

	*process = pid;
	for (size_t i = 0; i < count && count < MOST; i++) {	/* the loop adds processes */
		look_at_process(s, process[i]);
		proc_threads(process[i], &threads);
		for (size_t k = 0; k < threads.count; k++) {
			proc_children(process[i], threads.id[k], &children);
			for (size_t n = 0; n < children.count; n++) {
				process = array_grow(process, count, sizeof(pid));
				process[count++] = children.id[n];
			}
			free(children.id);
		}
		free(threads.id);
	}
	free(process);
}

static void look_at_target(struct sampler *s)
{
	const struct target *t = s->options->target;
	struct proc_ids all = { 0 };

	if (t->cgroup)
		cgroup_processes(t->cgroup, &all);
	else if (t->system)
		proc_processes(&all);
	for (size_t i = 0; i < all.count; i++)
		look_at_process(s, all.id[i]);
	free(all.id);
	for (size_t i = 0; i < s->threads.count; i++)
		look(s, s->threads.thread[i].pid, s->threads.thread[i].tid);
	if (s->child.pid && t->command)
		look_at_family(s, s->child.pid);
}

void sampler_look_at_waits(struct sampler *s, uint64_t time)
{
	const struct sampler_options *o = s->options;
	struct start_waits *w = &s->flow.waiting;

	/* with only some CPUs, no record shows when a thread runs on another CPU */
	if (!o->settings.waits || o->flight_recorder || !s->counters.all_cpus)
		return;
	waiting_release(w);
	w->index = s->sampled - 1;
	w->event = &s->events.event[w->index];
	w->since = time;
	look_at_target(s);
	if (w->left_out)
		report_note(s->report, "where threads wait when recording starts is looked up for "
			    "only %zu threads: %zu more have no wait before they run", w->count,
			    w->left_out);
}
