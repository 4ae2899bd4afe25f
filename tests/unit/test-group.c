/* SPDX-License-Identifier: Apache-2.0 */
/* Samples that read a group of events, of more threads than can be remembered. */
#include "record/group.h"
#include "tests/unit/tap.h"

#include <stdlib.h>

enum { FIRST_ID = 11, SECOND_ID = 22 };

/* Define two events, which each thread counts for itself. */
static void define(struct stream_events *events)
{
	const struct perf_event_attr attr = {
		.size = sizeof(attr), .inherit = 1,
		.sample_type = PERF_SAMPLE_ID | PERF_SAMPLE_TID | PERF_SAMPLE_READ,
		.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID,
	};
	const struct cursor no_ids = { 0 };
	const char *error = "";

	for (uint32_t i = 0; i < 2; i++)
		if (!events_add(events, &attr, sizeof(attr), no_ids, &error))
			printf("# %s\n", error);
	events_set_id(events, FIRST_ID, 0);
	events_set_id(events, SECOND_ID, 1);
}

/* Split a sample of thread TID, where the second event has VALUE. */
static uint32_t split(struct groups *g, const struct stream_events *events, pid_t tid,
		      uint64_t value, struct group_increase *increase)
{
	const uint64_t word[] = { 2, value + 100, FIRST_ID, value, SECOND_ID };
	const struct sample sample = {
		.tid = tid, .period = 5, .read = { (const uint8_t *)word, 5 },
	};

	return groups_split(g, events, &sample, increase);
}

int main(void)
{
	struct group_increase increase[GROUP_EVENTS_MAX];
	struct stream_events events = { 0 };
	struct groups g = { 0 };
	bool both = true;

	define(&events);
	for (pid_t tid = 1; tid <= GROUP_COUNTERS_MAX / 2; tid++)
		both &= split(&g, &events, tid, 7, increase) == 2 && increase[1].period == 7;
	tap(both && !g.refused, "as many threads as the limit, with two counters each");
	tap(split(&g, &events, 1, 9, increase) == 2 &&
	    increase[0].period == 2 && increase[0].event == 0 &&
	    increase[1].period == 2 && increase[1].event == 1, "what has increased");
	for (pid_t tid = -9; tid < 0; tid++)
		both &= split(&g, &events, tid, 7, increase) == 1 && increase[0].period == 5;
	tap(both && g.refused == 9 && g.counters == GROUP_COUNTERS_MAX,
	    "samples of further threads count for their own event");
	groups_forget(&g, 3);
	tap(split(&g, &events, -1, 7, increase) == 2 && increase[1].period == 7 && g.refused == 9,
	    "until threads are forgotten");
	groups_release(&g);
	events_release(&events);
	return tap_done();
}
