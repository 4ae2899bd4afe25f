/* SPDX-License-Identifier: Apache-2.0 */
#include "aggregate/as-time.h"
#include "aggregate/profile.h"

const char *as_time_refuses(const struct stream_events *events, uint32_t *event)
{
	const char *why = "the stream has no cycles";

	if (events_first_clock(events) != TABLE_NONE)
		return "the stream has a clock, which measures time";
	for (*event = 0; *event < events->count; ++*event) {
		const struct perf_event_attr *attr = &events->event[*event].attr;
		if (!event_is_cycles(attr))
			continue;
		if (attr->exclude_user || attr->exclude_kernel)
			why = "only cycles of the program or of the kernel were counted, but all "
			      "of the time";
		else if (!attr->inherit)
			why = "the time of CPUs has their idle time in it: record a command or "
			      "processes";
		else
			return NULL;
	}
	return why;
}

double as_time_factor(const struct profile *p, const struct stream_events *events,
		      uint32_t *event)
{
	if (!p->as_time || as_time_refuses(events, event) || *event >= p->events)
		return 0;
	const struct profile_event *e = &p->event[*event];
	return e->counted ? (double)e->enabled / (double)e->counted : 0;
}
