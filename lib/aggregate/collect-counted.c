/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples that stand for more than was counted.  At a frequency, the kernel adapts the period of an
 * event.  After a burst it writes a period that has not elapsed yet, and may never do so.
 */
#include "aggregate/collect-internal.h"
#include "pprof/comments.h"

#include <inttypes.h>

static struct collect_counted *counted_of(struct collect *c, uint32_t event)
{
	for (; c->counteds <= event; c->counteds++) {
		c->counted = array_grow(c->counted, c->counteds, sizeof(*c->counted));
		c->counted[c->counteds] = (struct collect_counted){ 0 };
	}
	return &c->counted[event];
}

void collect_count_excluded(struct collect *c, uint32_t event, uint64_t period)
{
	counted_of(c, event)->excluded += (double)period;
}

void collect_count_total(struct collect *c, uint32_t event, uint64_t count)
{
	counted_of(c, event)->total += (double)count;
}

/* Return what all samples of EVENT stand for, including those that are not selected. */
static double stands_for(const struct collect *c, uint32_t event)
{
	double sum = c->counted[event].excluded;

	for (uint32_t i = 0; i < c->subjects; i++)
		if (event < c->subject[i].profile.events)
			sum += (double)c->subject[i].profile.event[event].sum;
	return sum;
}

void collect_find_excess(struct collect *c)
{
	const double much = 1.1;
	const struct stream_events *events = c->events;

	for (uint32_t i = 0; i < c->counteds && i < events->count && !c->how.interval; i++) {
		const struct perf_event_attr *attr = &events->event[i].attr;
		double sum = stands_for(c, i), total = c->counted[i].total;
		if (!attr->freq || event_is_clock(attr) ||
		    attr->sample_type & PERF_SAMPLE_READ || total <= 0 || sum <= much * total)
			continue;
		for (uint32_t k = 0; k < c->subjects; k++)
			profile_event_at(&c->subject[k].profile, i)->excess = sum / total;
		c->counted[i].excess = sum / total;
	}
}

void collect_comment_excess(const struct collect *c, struct profile *p)
{
	for (uint32_t i = 0; i < c->counteds && i < c->events->count; i++)
		if (c->counted[i].excess > 0)
			profile_comment(p, COMMENT_SCALED "%s was counted %.0f times, but its "
					"samples stand for %.4g times as many%s; pmu-sample "
					"without -F has a fixed period", c->events->event[i].name,
					c->counted[i].total, c->counted[i].excess,
					p->no_scale ? "" : ", so its values are divided by that");
}
