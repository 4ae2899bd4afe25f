/* SPDX-License-Identifier: Apache-2.0 */
/* Records other than samples: counts, switches, threads that start and end. */
#include "aggregate/collect-blame.h"
#include "aggregate/collect-internal.h"
#include "aggregate/labeler-internal.h"
#include "unwind/unwind.h"

/* The part of the count that could be sampled: a clock also counts while threads are switched. */
static uint64_t comparable(const struct perf_event_attr *attr, const struct read_record *read)
{
	return event_is_clock(attr) && read->running && read->running < read->value
		? read->running : read->value;
}

/* READ at the end of a stream: the event's final count, and the times it was enabled and ran. */
static void take_read(struct collect *c, const struct record *rec)
{
	const struct stream_events *events = c->events;
	struct read_record read;

	if (events->count == 0 ||
	    !record_read(rec, events->event[0].attr.read_format, &read))
		return;
	uint32_t event = events_find_id(events, read.id);
	if (event == TABLE_NONE)
		return;
	const char *only = c->how.selection.event;
	if (read.tid == -1)
		collect_count_total(c, event, read.value);
	if (read.tid == -1 && !c->how.interval && !c->how.split)
		profile_total(&collect_subject(c, NULL)->profile, event, read.value);
	bool shown = c->how.not_sampled && (!only || !strcmp(only, events->event[event].name));
	if (shown)
		profile_counted(&collect_subject(c, NULL)->profile, event, read.value);
	else if (collect_compares_counts(c) && !c->how.as_time && read.tid == -1)
		profile_counted(&collect_subject(c, NULL)->profile, event,
				comparable(&events->event[event].attr, &read));
	/*
	 * Software events are never multiplexed.  A READ of a thread that ended (perf record -s)
	 * is useless here: its time enabled covers all CPUs, even those where the event was not
	 * open, and is too long or too short by the time in other events.
	 */
	if (events->event[event].attr.type == PERF_TYPE_SOFTWARE || read.tid != -1)
		return;
	for (uint32_t i = 0; i < c->subjects; i++) {
		profile_ran(&c->subject[i].profile, event, read.enabled, read.running);
		if (c->how.as_time && !shown)
			profile_counted(&c->subject[i].profile, event, read.value);
	}
}

/*
 * SWITCH: a thread was switched in or out.  The sample of a switch out precedes its SWITCH
 * record; only the record says whether the thread was preempted.
 */
static void take_switch(struct collect *c, const struct record *rec)
{
	uint32_t cpu = events_trailer_cpu(c->events, rec->body);
	uint64_t time = stream_time(c->in, rec);
	bool out = rec->misc & PERF_RECORD_MISC_SWITCH_OUT;
	pid_t tid;

	if (!events_trailer_tid(c->events, rec->body, &tid))
		return;
	if (c->how.latency || c->how.parallelism)
		(out ? running_out : running_in)(&c->running, tid, cpu, time);
	if (c->how.wall && out)
		on_cpu_out(&c->on_cpu, tid, time);
	else if (c->how.wall)
		on_cpu_runs(&c->on_cpu, tid, time, true);
	if (c->blame)
		collect_blame_switch(c, rec, tid, time);
	else if (out)
		off_cpu_out(&c->off_cpu, tid, time,
			    rec->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
	else
		collect_waited(c, tid, time);
}

/*
 * FORK or EXIT: remember exits, because the last switch out of a thread starts no wait, and its
 * record may be missing.
 */
static void take_thread(struct collect *c, const struct record *rec)
{
	const struct stream_events *events = c->events;
	bool wait = false, exits = rec->type == PERF_RECORD_EXIT;
	struct task_record task;

	for (uint32_t i = 0; events->switches && i < events->count; i++)
		wait |= events_sample_waits(events, i);
	if (!record_task(rec, &task))
		return;
	if (c->blame)
		collect_blame_thread(c, &task, exits, stream_time(c->in, rec));
	else if (wait)
		off_cpu_thread(&c->off_cpu, task.tid, exits);
	if (exits)
		running_out(&c->running, task.tid, RUNNING_NO_CPU, stream_time(c->in, rec));
}

/*
 * The thread of REC made this record itself, so the thread runs: a command has no record of a
 * switch when it starts.
 */
static void note_runs(struct collect *c, const struct record *rec, uint64_t time)
{
	bool exec = rec->misc & PERF_RECORD_MISC_COMM_EXEC;
	pid_t tid;

	if (exec && c->blame && events_trailer_tid(c->events, rec->body, &tid))
		collect_blame_exec(c, tid);
	if (c->how.wall && time && events_trailer_tid(c->events, rec->body, &tid))
		on_cpu_runs(&c->on_cpu, tid, time, false);
}

void collect_take_other(struct collect *c, const struct record *rec)
{
	uint64_t time = stream_time(c->in, rec);

	collect_forget_threads(c);
	collect_time(c, time);		/* the record may start the next interval */
	collect_count_other(c, rec, time);
	switch (rec->type) {
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		collect_take_lost(c, rec);
		break;
	case PERF_RECORD_THROTTLE:
		c->throttled++;
		break;
	case PERF_RECORD_READ:
		take_read(c, rec);
		break;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		take_switch(c, rec);
		break;
	case PERF_RECORD_COMM:
		note_runs(c, rec, time);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		take_thread(c, rec);
		break;
	}
	labeler_follow(&c->labeler, rec);
	label_join_follow(&c->join, rec);
	stream_note_tasks(c->in, &c->labeler.tasks);
	stream_note_groups(c->in, &c->groups);
	for (uint32_t i = 0; i < c->labeler.tasks.forgotten_count; i++) {
		off_cpu_forget(&c->off_cpu, c->labeler.tasks.forgotten[i].tid);
		if (c->blame)
			collect_blame_forget(c, c->labeler.tasks.forgotten[i].tid);
		on_cpu_forget(&c->on_cpu, c->labeler.tasks.forgotten[i].tid);
		groups_forget(&c->groups, c->labeler.tasks.forgotten[i].tid);
		running_out(&c->running, c->labeler.tasks.forgotten[i].tid, RUNNING_NO_CPU, 0);
	}
	collect_rename(c, rec);
	if (!c->is_resolved)
		resolver_follow(c->resolver, c->in, rec);
	if (!c->is_resolved && c->how.resolve.symbols)
		leaf_callers_follow(&c->leaf_callers, c->in, rec);
	if (c->unwind)
		unwind_follow(c->unwind, rec);	/* the resolver reports damage */
}
