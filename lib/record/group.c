/* SPDX-License-Identifier: Apache-2.0 */
#include "record/group.h"

#include <stdlib.h>

static struct group_counter *counter_of(struct groups *g, uint64_t id, pid_t tid)
{
	uint64_t hash = hash_more(id, (uint32_t)tid);
	uint32_t at = TABLE_FIND(&g->table, hash, i,
				 g->counter[i].id == id && g->counter[i].tid == tid);

	if (at != TABLE_NONE)
		return &g->counter[at];
	g->counter = array_grow(g->counter, g->counters, sizeof(*g->counter));
	g->counter[g->counters] = (struct group_counter){ .id = id, .tid = tid };
	table_add(&g->table, hash, g->counters);
	return &g->counter[g->counters++];
}

/* struct read_format with GROUP: u64 nr, times; each: value, id, lost (linux/perf_event.h) */
static uint32_t read_group(struct groups *g, const struct stream_events *events,
			   const struct sample *s, struct group_part *part)
{
	const uint64_t needed = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	const struct perf_event_attr *attr = &events->event[s->event].attr;
	uint64_t format = attr->read_format, each = 2 + !!(format & PERF_FORMAT_LOST);
	uint32_t parts = 0;

	if (!(attr->sample_type & PERF_SAMPLE_READ) || (format & needed) != needed)
		return 0;
	uint64_t at = 1 + !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
		      !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	for (; at + each <= s->read.count && parts < GROUP_PARTS_MAX; at += each) {
		uint64_t value = word_at(s->read, at), id = word_at(s->read, at + 1);
		uint32_t event = events_find_id(events, id);
		if (event == TABLE_NONE)
			continue;
		struct group_counter *c = counter_of(g, id, attr->inherit ? s->tid : 0);
		uint64_t period = value >= c->value ? value - c->value : value;
		c->value = value;
		if (period)
			part[parts++] = (struct group_part){ event, period };
	}
	return parts;
}

uint32_t groups_split(struct groups *g, const struct stream_events *events,
		      const struct sample *s, struct group_part *part)
{
	uint32_t parts = read_group(g, events, s, part);

	if (parts == 0)
		part[parts++] = (struct group_part){ s->event, s->period };
	return parts;
}

void groups_release(struct groups *g)
{
	free(g->counter);
	table_release(&g->table);
	*g = (struct groups){ 0 };
}
