/* SPDX-License-Identifier: Apache-2.0 */
/* rounds - when the rings are read again, and when counting starts and ends. */
#include "base/clock.h"
#include "linux/proc.h"
#include "sample/internal.h"

#include <errno.h>
#include <signal.h>

enum {
	/* Longest time between rounds, so that records arrive soon; and after a round without
	   records, so that an idle target costs almost nothing.  In ms. */
	ROUND_MS = 100, IDLE_MS = 400,
	JITTER_MS = 10,		/* the same, if periods change */
	/* The same with labels: those of a new process are unknown until it is seen.  Programs of a
	   command are seen earlier: see exec-watch.h. */
	LABELS_MS = 20, LABELS_IDLE_MS = 100,
};

/* Return the earlier of DUE and TIME; 0 means never. */
static uint64_t earlier(uint64_t due, uint64_t time)
{
	return !due || (time && time < due) ? time : due;
}

/* Return the time when counting ends; 0: never. */
static uint64_t end_due(const struct sampler *s)
{
	const struct sampler_options *o = s->options;
	uint64_t delay = o->delay == SAMPLER_UNTIL_ENABLED ? 0 : o->delay;

	return o->duration ? s->start_time + delay + o->duration : 0;
}

uint64_t sampler_start_due(const struct sampler *s)
{
	uint64_t delay = s->options->delay;

	return s->delayed && delay != SAMPLER_UNTIL_ENABLED ? s->start_time + delay : 0;
}

/* Return the time, at TIME or later, when labels of processes can be looked up; 0: none wait. */
static uint64_t labels_due(const struct sampler *s, uint64_t time)
{
	uint64_t due = s->labels.targets.due, monotonic = monotonic_ns();

	return due > monotonic ? time + (due - monotonic) : due ? time : 0;
}

uint64_t sampler_round_due(const struct sampler *s, uint64_t time)
{
	unsigned usual = s->options->jitter ? JITTER_MS
		       : s->flow.labels ? s->idle ? LABELS_IDLE_MS : LABELS_MS
		       : s->idle ? IDLE_MS : ROUND_MS;

	return earlier(earlier(s->execs.due, labels_due(s, time)),
		       s->moved_at + usual * 1000000ULL);
}

int sampler_wait_ms(const struct sampler *s, uint64_t time)
{
	uint64_t rotation = s->options->rotation.time;
	uint64_t due = earlier(sampler_start_due(s), end_due(s));

	due = earlier(earlier(due, sampler_round_due(s, time)), s->execs.resume);
	due = earlier(due, rotation ? s->file_start + rotation : 0);
	return due > time ? (int)((due - time + 999999) / 1000000) : 0;
}

static bool is_alive(pid_t pid)
{
	return kill(pid, 0) == 0 || errno == EPERM;
}

/* Return whether there is still something to sample. */
static bool target_is_alive(struct sampler *s, uint64_t time)
{
	const struct target *t = s->options->target;

	if (s->child.pid && proc_child_has_ended(s->child.pid))
		return t->command && t->children && sampler_family_lives(s, time);
	if (target_is_by_cpu(t) || t->command || s->alive > 0)
		return true;
	for (size_t i = 0; i < t->pids; i++)
		if (s->pidfd[i] < 0 && is_alive(t->pid[i]))
			return true;
	for (size_t i = 0; i < t->tids; i++)
		if (is_alive(t->tid[i]))
			return true;
	return false;
}

bool sampler_is_over(struct sampler *s, uint64_t time)
{
	const struct sampler_options *o = s->options;

	return *o->stop || output_ended(s->out) || !target_is_alive(s, time) ||
	       (o->control && !owner_is_there(&o->control->owner)) ||
	       (end_due(s) && time >= end_due(s)) ||
	       (o->max_size && s->bytes + s->out->written >= o->max_size);
}
