/* SPDX-License-Identifier: Apache-2.0 */
#include "counters/flight.h"
#include "base/arena.h"

#include <stdlib.h>

bool flight_hold(struct flight *flight, const struct perf_event_header *record, uint64_t limit)
{
	if (flight->held.head + record->size > limit && flight->held.head > 0)
		return false;
	ring_append(&flight->held, record);
	return true;
}

/* Allocate COPIES rings, followed by the held records. */
static struct ring *prepare(struct flight *flight, size_t copies, size_t *rings)
{
	flight->copy = mem_zeroed(copies + 1, sizeof(*flight->copy));
	flight->copies = copies;
	flight->copy[copies] = flight->held;
	*rings = copies + 1;
	return flight->copy;
}

struct ring *flight_release(struct flight *flight, uint64_t time, size_t *rings)
{
	flight->released_to = time;
	return prepare(flight, 0, rings);
}

struct ring *flight_dump(struct flight *flight, const struct counters *counters, size_t *rings)
{
	struct ring *copy = prepare(flight, counters->cpus, rings);

	for (size_t i = 0; i < counters->cpus; i++) {
		const struct ring *ring = &counters->overwritten[i];
		copy[i].fd = -1;
		if (ring->fd >= 0)
			ring_copy_backward(ring, &copy[i]);
	}
	return copy;
}

void flight_end(struct flight *flight, uint64_t horizon)
{
	for (size_t i = 0; i < flight->copies; i++)
		ring_drop(&flight->copy[i]);
	flight->held = flight->copy[flight->copies];
	free(flight->copy);
	flight->copy = NULL;
	flight->copies = 0;
	if (horizon > flight->dumped_to)
		flight->dumped_to = horizon;
}

void flight_close(struct flight *flight)
{
	ring_drop(&flight->held);
}
