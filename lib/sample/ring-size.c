/* SPDX-License-Identifier: Apache-2.0 */
#include "sample/ring-size.h"
#include "record/events.h"

#include <stdio.h>
#include <unistd.h>

#define FASTEST 4000000000	/* a CPU's cycles a second, about */

enum {
	SMALLEST = 512 << 10,		/* bytes: what the kernel usually lets anyone lock */
	LARGEST = 16 << 20,		/* bytes, for root, who may lock any */
	USUAL_MLOCK_KB = 516,		/* kernel.perf_event_mlock_kb unless changed */
	RATE_UNKNOWN = 4000,		/* samples a second, of events whose rate cannot be told */
	RATE_MAX = 100000,		/* kernel.perf_event_max_sample_rate unless changed */
	FRAMES = 64,			/* of a deep callchain */
	BRANCHES = 32,			/* of a branch stack; 24 bytes each */
	FIXED = 96,			/* bytes of all other fields */
};

static size_t lockable(void)
{
	unsigned long kb = USUAL_MLOCK_KB;
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = page;

	if (geteuid() == 0)
		return LARGEST;
	FILE *f = fopen("/proc/sys/kernel/perf_event_mlock_kb", "re");
	if (f && fscanf(f, "%lu", &kb) != 1)
		kb = USUAL_MLOCK_KB;
	if (f)
		fclose(f);
	while (2 * size + page <= kb << 10)	/* one page is the ring's header */
		size *= 2;
	return size;
}

/* Samples a second, at most and roughly. */
static uint64_t rate_of(const struct perf_event_attr *attr)
{
	uint64_t rate = RATE_UNKNOWN;

	if (attr->freq)
		rate = attr->sample_freq;
	else if (attr->sample_period && event_is_clock(attr))
		rate = 1000000000 / attr->sample_period;
	else if (attr->sample_period && attr->type != PERF_TYPE_SOFTWARE &&
		 attr->type != PERF_TYPE_TRACEPOINT)
		rate = FASTEST / attr->sample_period;
	return rate < RATE_MAX ? rate : RATE_MAX;
}

size_t ring_size_default(const struct event_list *events, const struct wants *w)
{
	size_t limit = lockable(), size = SMALLEST;
	uint64_t bytes = FIXED, rate = 0;

	if (w->callchain != CHAIN_NONE)
		bytes += 8 * FRAMES;
	if (w->callchain == CHAIN_DWARF)
		bytes += w->stack_bytes + 8 * 40;	/* and the registers */
	if (w->callchain == CHAIN_LBR || w->branch_type)
		bytes += 24 * BRANCHES;
	for (size_t i = 0; i < events->count; i++)
		rate += rate_of(&events->event[i].attr);
	while (size < rate * bytes / 4)
		size *= 2;
	return size < limit ? size : limit;
}
