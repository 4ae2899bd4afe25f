/* SPDX-License-Identifier: Apache-2.0 */
#include "counters/ring-size.h"
#include "linux/kernel-info.h"
#include "record/events.h"

#include <stdio.h>
#include <unistd.h>

#define FASTEST 4000000000	/* cycles per second of a fast CPU */

enum {
	SMALLEST = 512 << 10,		/* bytes: what any user may usually lock */
	LARGEST = 16 << 20,		/* bytes, for root, who may lock any amount */
	WAITS_LARGEST = 64 << 20,	/* the same with --waits, if all rings have not more than */
	WAITS_TOTAL = 256 << 20,
	RATE_UNKNOWN = 4000,		/* samples per second of events with an unknown rate */
	RATE_MAX = 100000,		/* default of kernel.perf_event_max_sample_rate */
	FRAMES = 64,			/* in a deep callchain */
	BRANCHES = 32,			/* in a branch stack, 24 bytes each */
	FIXED = 96,			/* bytes of all other fields */
};

size_t ring_size_most(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = page;

	if (geteuid() == 0)
		return LARGEST;
	size_t kb = (size_t)kernel_sysctl("perf_event_mlock_kb");
	while (2 * size + page <= kb << 10)	/* plus a page for the ring's header */
		size *= 2;
	return size;
}

/* Return a rough upper limit of samples per second. */
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

/*
 * Return the limit of the default size.  A lost sample of a wait makes the waits of other threads
 * wrong, too, and at the start the process that unwinds is still reading its tables: so there rings
 * are larger, if there are few CPUs.
 */
static size_t limit_of(const struct sample_settings *s)
{
	size_t limit = ring_size_most();
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (s->wakes && geteuid() == 0)
		while (limit < WAITS_LARGEST && 2 * limit * (size_t)(cpus > 0 ? cpus : 1) <=
						WAITS_TOTAL)
			limit *= 2;
	return limit;
}

size_t ring_size_default(const struct event_list *events, const struct sample_settings *s)
{
	size_t limit = limit_of(s), size = SMALLEST;
	uint64_t bytes = FIXED, rate = 0;

	if (s->callchain != CHAIN_NONE)
		bytes += 8 * FRAMES;
	if (s->callchain == CHAIN_DWARF)
		bytes += s->stack_bytes + 8 * 40;	/* and the registers */
	if (s->callchain == CHAIN_LBR || s->branch_type)
		bytes += 24 * BRANCHES;
	for (size_t i = 0; i < events->count; i++)
		rate += rate_of(&events->event[i].attr);
	while (size < rate * bytes / 4)
		size *= 2;
	return size < limit ? size : limit;
}
