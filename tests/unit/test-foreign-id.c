/* SPDX-License-Identifier: Apache-2.0 */
/* Samples with the ID and time of another event: whose they are, and which one comes again. */
#include "base/arena.h"
#include "counters/foreign-id.h"
#include "tests/unit/tap.h"

#include <stdlib.h>

enum { OWN = 100, INHERITED = 101, FAULTS = 102, FOREIGN = 999, THREAD = 11, OTHER = 12 };

static struct event events[3];
static struct event_list list = { .event = events, .count = 2 };
static struct counter counter[] = { { .id = OWN, .event = 0, .task = 1 },
				    { .id = INHERITED, .event = 0 },
				    { .id = FAULTS, .event = 1, .task = 1 } };
static struct counters counters = { .events = &list, .counter = counter, .count = 3, .cpus = 1 };
static struct sample_layout layout = { .id = 0, .tid = 8, .time = 16, .ip = ABSENT };
static struct ring ring;
static struct foreign_ids ids;
static uint64_t id_now;		/* of the last sample, as it was returned */

/* Return the rule for a sample of thread TID with ID and TIME. */
static enum owner_rule rule(uint64_t id, uint32_t tid, uint64_t time)
{
	struct {
		struct perf_event_header header;
		uint64_t id;
		uint32_t pid, tid;
		uint64_t time;
	} record = { { PERF_RECORD_SAMPLE, 0, sizeof(record) }, id, 1, tid, time };
	const struct perf_event_header *result =
		foreign_ids_replace(&ids, &ring, 0, &record.header, 0, UINT64_MAX, &time);

	memcpy(&id_now, result + 1, sizeof(id_now));
	return ids.rule;
}

static void begin(size_t count)
{
	foreign_ids_release(&ids);
	list.count = count;
	foreign_ids_init(&ids, &counters, &layout);
}

/* Return the misc bits of a record of TYPE with the bits MISC, as it was returned. */
static uint16_t misc_of(uint32_t type, uint16_t misc)
{
	struct {
		struct perf_event_header header;
		uint64_t word[10];
	} record = { { type, misc, sizeof(record) }, { 0 } };
	uint64_t time = 5;

	return foreign_ids_replace(&ids, &ring, 0, &record.header, 0, UINT64_MAX, &time)->misc;
}

static void test_marks(void)
{
	enum { MARK = PERF_RECORD_MISC_MMAP_BUILD_ID, USER = PERF_RECORD_MISC_USER };

	begin(2);
	events[2].attr.build_id = 1;	/* not in the list */
	tap(misc_of(PERF_RECORD_MMAP2, USER | MARK) == USER &&
	    misc_of(PERF_RECORD_MMAP2, USER) == USER && misc_of(PERF_RECORD_COMM, MARK) == MARK,
	    "a mapping has no build ID if none of our events asks for build IDs");
	events[1].attr.build_id = 1;
	tap(misc_of(PERF_RECORD_MMAP2, USER | MARK) == (USER | MARK),
	    "it has one if one of them does");
	events[1].attr.build_id = events[2].attr.build_id = 0;
}

static void set(uint32_t event, uint32_t type, uint64_t config)
{
	events[event].attr.type = type;
	events[event].attr.config = config;
}

int main(void)
{
	for (uint32_t i = 0; i < counters.count; i++)
		table_add(&counters.by_id, hash_u64(counter[i].id), i);
	set(0, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES);
	set(1, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	set(2, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES);

	begin(2);
	tap(rule(OWN, THREAD, 5) == OWNER_BY_ID && rule(INHERITED, THREAD, 6) == OWNER_BY_ID,
	    "the IDs of an older kernel are right");
	tap(rule(OWN, THREAD, 7) == OWNER_BY_ID && rule(OWN, THREAD, 7) == OWNER_REPEATED,
	    "a second sample with the same ID, thread and time is of an inherited copy");
	tap(rule(INHERITED, THREAD, 8) == OWNER_FIRST &&
	    rule(INHERITED, THREAD, 8) == OWNER_REPEATED,
	    "from then on no ID says whose a sample is, only the order does");
	tap(rule(OWN, OTHER, 8) == OWNER_FIRST && rule(OWN, THREAD, 8) == OWNER_FIRST &&
	    rule(FAULTS, THREAD, 8) == OWNER_FIRST, "another thread or ID is another occurrence");

	begin(1);
	tap(rule(FOREIGN, THREAD, 5) == OWNER_FIRST && id_now == OWN &&
	    rule(FOREIGN, THREAD, 5) == OWNER_REPEATED,
	    "so it is with IDs of another session, of which each gets an ID of ours");
	tap(rule(FOREIGN, THREAD, 9) == OWNER_FIRST && rule(OWN, THREAD, 10) == OWNER_FIRST,
	    "which shows that the kernel shares them");

	begin(3);
	tap(rule(OWN, THREAD, 5) == OWNER_BY_ID && rule(OWN, THREAD, 5) == OWNER_FIRST &&
	    rule(OWN, THREAD, 5) == OWNER_REPEATED && rule(OWN, THREAD, 5) == OWNER_REPEATED,
	    "two events of the same occurrences have two samples each, and two more of copies");

	set(0, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
	begin(1);
	tap(rule(OWN, THREAD, 5) == OWNER_BY_ID && rule(OWN, THREAD, 5) == OWNER_BY_ID,
	    "clocks are not shared");
	test_marks();
	foreign_ids_release(&ids);
	free(ring.scratch);
	table_release(&counters.by_id);
	return tap_done();
}
