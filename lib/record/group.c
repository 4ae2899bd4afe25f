/* SPDX-License-Identifier: Apache-2.0 */
#include "record/group.h"

#include <stdlib.h>

static uint64_t hash_of(uint64_t id, pid_t tid)
{
	return hash_more(id, (uint32_t)tid);
}

/* Return the first counter of thread TID, or TABLE_NONE. */
static uint32_t first_of(const struct groups *g, pid_t tid)
{
	return TABLE_FIND(&g->threads, hash_u64((uint32_t)tid), i, g->counter[i].tid == tid);
}

/* Return a new counter, or TABLE_NONE if there are too many. */
static uint32_t new_counter(struct groups *g)
{
	uint32_t i = g->unused - 1;

	if (g->unused) {
		g->unused = g->counter[i].next + 1;
		return i;
	}
	if (g->counters == GROUP_COUNTERS_MAX)
		return TABLE_NONE;
	g->counter = array_grow(g->counter, g->counters, sizeof(*g->counter));
	return g->counters++;
}

/* Return the counter ID of thread TID; NULL if it is new and there are too many. */
static struct group_counter *counter_of(struct groups *g, uint64_t id, pid_t tid)
{
	uint64_t hash = hash_of(id, tid);
	uint32_t i = TABLE_FIND(&g->table, hash, k, g->counter[k].id == id &&
				g->counter[k].tid == tid);

	if (i != TABLE_NONE)
		return &g->counter[i];
	i = new_counter(g);
	if (i == TABLE_NONE)
		return NULL;
	uint32_t first = first_of(g, tid);
	g->counter[i] = (struct group_counter){ .id = id, .tid = tid, .next = TABLE_NONE };
	table_add(&g->table, hash, i);
	if (first == TABLE_NONE) {
		table_add(&g->threads, hash_u64((uint32_t)tid), i);
	} else {
		g->counter[i].next = g->counter[first].next;
		g->counter[first].next = i;
	}
	return &g->counter[i];
}

void groups_forget(struct groups *g, pid_t tid)
{
	uint32_t i = first_of(g, tid), next;

	if (i == TABLE_NONE)
		return;
	table_remove(&g->threads, hash_u64((uint32_t)tid), i);
	for (; i != TABLE_NONE; i = next) {
		struct group_counter *c = &g->counter[i];
		next = c->next;
		table_remove(&g->table, hash_of(c->id, tid), i);
		c->tid = -1;
		c->next = g->unused - 1;	/* TABLE_NONE at the end of the list */
		g->unused = i + 1;
	}
}

/* struct read_format with GROUP: u64 nr, times; each: value, id, lost (linux/perf_event.h) */
static uint32_t read_group(struct groups *g, const struct stream_events *events,
			   const struct sample *s, struct group_increase *increase)
{
	const uint64_t needed = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	const struct perf_event_attr *attr = &events->event[s->event].attr;
	uint64_t format = attr->read_format, each = 2 + !!(format & PERF_FORMAT_LOST);
	uint32_t increases = 0;

	if (!(attr->sample_type & PERF_SAMPLE_READ) || (format & needed) != needed)
		return 0;
	uint64_t at = 1 + !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
		      !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	for (; at + each <= s->read.count && increases < GROUP_EVENTS_MAX; at += each) {
		uint64_t value = word_at(s->read, at), id = word_at(s->read, at + 1);
		uint32_t event = events_find_id(events, id);
		if (event == TABLE_NONE)
			continue;
		struct group_counter *c = counter_of(g, id, attr->inherit ? s->tid : 0);
		if (!c) {
			g->refused++;
			return 0;
		}
		uint64_t period = value >= c->value ? value - c->value : value;
		c->value = value;
		if (period)
			increase[increases++] = (struct group_increase){ event, period };
	}
	return increases;
}

uint32_t groups_split(struct groups *g, const struct stream_events *events,
		      const struct sample *s, struct group_increase *increase)
{
	uint32_t increases = read_group(g, events, s, increase);

	if (increases == 0)
		increase[increases++] = (struct group_increase){ s->event, s->period };
	return increases;
}

void groups_release(struct groups *g)
{
	free(g->counter);
	table_release(&g->table);
	table_release(&g->threads);
	*g = (struct groups){ 0 };
}
