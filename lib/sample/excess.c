/* SPDX-License-Identifier: Apache-2.0 */
/* excess - reports an event whose samples stand for more than was counted. */
#include "record/events.h"
#include "sample/internal.h"

#include <inttypes.h>

void sampler_report_excess(const struct sampler *s, uint32_t i)
{
	enum { FEW = 20 };	/* a counter's first periods are short, and may be imprecise */
	const struct event *event = &s->options->events->event[i];
	const struct flow_event *e = &s->flow.event[i];
	uint64_t counted = s->total[i].count;

	if (!event->attr.freq || event_is_clock(&event->attr) || counted == 0 ||
	    e->sum <= counted + counted / 10 ||
	    (event_needs_counter(&event->attr) && e->samples < FEW))
		return;
	report_note(s->report, "'%s': %" PRIu64 " counted, but samples stand for %" PRIu64 ": the "
		    "kernel's periods are wrong after a burst; leave out -F, and the period is "
		    "fixed", event->name, counted, e->sum);
}
