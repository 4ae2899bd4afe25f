/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that have each event twice: which of their samples count. */
#include "counters/owners.h"
#include "tests/unit/tap.h"

enum { PARENT = 10, CHILD = 11, GRANDCHILD = 12 };	/* threads */

static struct counters counters;
static struct owners owners;

static bool passes_task(uint32_t type, uint32_t tid, uint32_t parent, uint64_t time)
{
	struct {
		struct perf_event_header header;
		uint32_t task[4];
		uint64_t time;
	} record = { { type, 0, sizeof(record) }, { 1, 1, tid, parent }, time };
	const struct sample_layout layout = { .id = 0, .tid = 8 };

	return owners_pass(&owners, &counters, &record.header, &layout, OWNER_BY_ID);
}

static bool passes(uint64_t id, uint32_t tid, enum owner_rule rule)
{
	struct {
		struct perf_event_header header;
		uint64_t id;
		uint32_t pid, tid;
	} record = { { PERF_RECORD_SAMPLE, 0, sizeof(record) }, id, 1, tid };
	const struct sample_layout layout = { .id = 0, .tid = 8 };

	return owners_pass(&owners, &counters, &record.header, &layout, rule);
}

static bool passes_sample(uint64_t id, uint32_t tid)
{
	return passes(id, tid, OWNER_BY_ID);
}

int main(void)
{
	struct event_list list = { .count = 2 };
	struct counter counter[] = { { .id = 100, .task = 0, .event = 1 },
				     { .id = 101, .task = 1, .event = 1 } };

	counters.events = &list;
	counters.counter = counter;
	counters.count = 2;
	for (uint32_t i = 0; i < 2; i++)
		table_add(&counters.by_id, hash_u64(counter[i].id), i);

	tap(passes_sample(100, CHILD), "nobody is in doubt");
	owners_set(&owners, CHILD, 1, 1000);
	tap(passes_task(PERF_RECORD_FORK, CHILD, PARENT, 900) && !passes_sample(100, CHILD) &&
	    passes_sample(101, CHILD), "a thread in doubt: its own events count, its parent's not");
	tap(owners.dropped[0] == 0 && owners.dropped[1] == 1 && owners.tasks > 1 &&
	    !owners.twice[1] && !owners.twice[2] && owners.twice[3],
	    "it is known to have this event twice, but not the other one");
	tap(passes_sample(100, PARENT), "its parent's do in the parent");
	tap(passes(100, CHILD, OWNER_FIRST) && !passes(101, CHILD, OWNER_REPEATED) &&
	    passes(100, PARENT, OWNER_REPEATED),
	    "where IDs are those of other events, the first of a pair counts");
	passes_task(PERF_RECORD_FORK, GRANDCHILD, CHILD, 1100);
	tap(!passes_sample(100, GRANDCHILD) && passes_sample(101, GRANDCHILD),
	    "what it creates has both, too");
	passes_task(PERF_RECORD_EXIT, CHILD, PARENT, 1200);
	tap(passes_sample(100, CHILD), "after its end the id may be another thread's");
	passes_task(PERF_RECORD_FORK, GRANDCHILD, PARENT, 1300);
	tap(passes_sample(100, GRANDCHILD), "so after a later start, where the end was lost");
	owners_release(&owners);
	table_release(&counters.by_id);
	return tap_done();
}
