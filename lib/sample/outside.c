/* SPDX-License-Identifier: Apache-2.0 */
#include "sample/outside.h"
#include "sample/request.h"
#include "sample/waiting.h"
#include "target/tracing.h"
#include "waits/futex.h"
#include "waits/switch-fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

void outside_begin(struct outside *o, const struct event_list *events,
		   const struct threads *threads)
{
	struct buffer data = { 0 };
	struct utsname host;

	if (uname(&host) == 0)
		snprintf(o->arch, sizeof(o->arch), "%s", host.machine);
	o->on = true;
	for (uint32_t i = 0; i < events->count; i++)
		if (request_is_wakes(&events->event[i]))
			o->event = i;
	if (tracing_data(&data, events))	/* else most kernels' formats are taken */
		tracepoints_add(&o->formats, (struct cursor){ .at = data.at,
							       .end = data.at + data.size });
	free(data.at);
	for (size_t i = 0; i < threads->count; i++)
		process_set_add(&o->threads, threads->thread[i].tid);
}

/* Return the thread that RECORD, of the target, is about; 0: none. */
static pid_t thread_of(const struct perf_event_header *record, const struct sample_layout *layout)
{
	uint64_t time;
	pid_t tid;

	if (record->type == PERF_RECORD_FORK)	/* u32 pid, ppid, tid, ptid */
		memcpy(&tid, (const uint8_t *)record + sizeof(*record) + 8, sizeof(tid));
	else if (!waiting_read_switch(record, layout, &tid, &time))
		return 0;
	return tid > 0 ? tid : 0;
}

/*
 * Return whether RECORD, a sample of a wake, is of a thread of the target, or perhaps of one that
 * waits at the same word.  In a PID namespace, the tracepoint has other ids than ours, so nobody
 * knows.
 */
static bool may_matter(const struct outside *o, const struct stream_event *event,
			 const struct perf_event_header *record)
{
	struct sample sample;
	struct record rec;
	uint64_t needed, id = event->attr.config;

	record_frame(&rec, (const uint8_t *)record, false);
	if (!sample_decode(event, o->event, &rec, &sample, &needed))
		return true;
	int64_t by = switch_field(&o->formats, id, sample.raw, FIELD_BY);
	int64_t woken = switch_field(&o->formats, id, sample.raw, FIELD_PID);
	bool has_own_ids = by == sample.tid || sample.tid <= 0;	/* or it has ended */
	return !has_own_ids || !woken || process_set_has(&o->threads, (pid_t)woken) ||
	       futex_is_likely(&event->attr, o->arch, &sample);
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
		return event == o->event && may_matter(o, &events->event[event], record);
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
