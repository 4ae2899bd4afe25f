/* SPDX-License-Identifier: Apache-2.0 */
#include "sample/outside.h"
#include "target/tracing.h"

#include <stdlib.h>
#include <string.h>

void outside_begin(struct outside *o, const struct event_list *events,
		   const struct threads *threads)
{
	struct buffer data = { 0 };
	bool is_known = tracing_data(&data, events);
	struct cursor all = { .at = data.at, .end = data.at + data.size };

	o->on = true;
	for (uint32_t i = 0; i < events->count; i++)
		if (events->event[i].attr.type == PERF_TYPE_TRACEPOINT &&
		    !strcmp(events->event[i].base, EVENT_WAKING))
			o->event = i;
	uint64_t id = events->event[o->event].attr.config;
	if (is_known && tracepoints_add(&o->formats, all)) {
		o->woken = tracepoints_find(&o->formats, id, "pid");
		o->by = tracepoints_find(&o->formats, id, "common_pid");
	}
	free(data.at);
	for (size_t i = 0; i < threads->count; i++)
		process_set_add(&o->threads, threads->thread[i].tid);
}

/* Return the thread that RECORD, of the target, is about; 0: none. */
static pid_t thread_of(const struct perf_event_header *record, const struct sample_layout *layout)
{
	const uint8_t *at = (const uint8_t *)record;
	pid_t tid;

	switch (record->type) {
	case PERF_RECORD_SAMPLE:
		at += sizeof(*record) + layout->tid + 4;	/* u32 pid, tid */
		break;
	case PERF_RECORD_FORK:
		at += sizeof(*record) + 8;			/* u32 pid, ppid, tid, ptid */
		break;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		at += record->size - layout->trailer_size + 4;	/* u32 pid, tid */
		break;
	default:
		return 0;
	}
	memcpy(&tid, at, sizeof(tid));
	return tid > 0 ? tid : 0;
}

/*
 * Return whether RECORD, a sample of a wake, is of a thread of the target.  In a PID namespace, the
 * tracepoint has other ids than ours, so nobody knows.
 */
static bool wakes_target(const struct outside *o, const struct stream_event *event,
			 const struct perf_event_header *record)
{
	struct sample sample;
	struct record rec;
	uint64_t needed;
	int64_t tid, by;

	record_frame(&rec, (const uint8_t *)record, false);
	return !o->woken || !o->by ||
	       !sample_decode(event, o->event, &rec, &sample, &needed) ||
	       !tracepoint_number(&o->formats, o->woken, sample.raw, &tid) ||
	       !tracepoint_number(&o->formats, o->by, sample.raw, &by) ||
	       (sample.tid > 0 && by != sample.tid) ||	/* else it has ended */
	       process_set_has(&o->threads, (pid_t)tid);
}

bool outside_takes(struct outside *o, const struct stream_events *events, uint32_t event,
		   const struct perf_event_header *record, const struct sample_layout *layout,
		   bool is_own)
{
	pid_t tid = is_own ? thread_of(record, layout) : 0;

	if (tid)
		process_set_add(&o->threads, tid);
	if (is_own)
		return true;
	switch (record->type) {
	case PERF_RECORD_SAMPLE:
		return event == o->event && wakes_target(o, &events->event[event], record);
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		return false;
	default:
		return true;
	}
}

void outside_release(struct outside *o)
{
	tracepoints_release(&o->formats);
	process_set_release(&o->threads);
	*o = (struct outside){ .on = false };
}
