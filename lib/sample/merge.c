/* SPDX-License-Identifier: Apache-2.0 */
#include "sample/merge.h"
#include "base/arena.h"

#include <stdlib.h>

/* The record that a ring offers next. */
struct offer {
	uint64_t time;
	const struct perf_event_header *record;
	struct ring *ring;
};

static uint64_t time_of(const struct perf_event_header *record, const struct sample_layout *layout)
{
	const uint8_t *at = (const uint8_t *)record;
	uint64_t time;

	if (record->type == PERF_RECORD_SAMPLE)
		at += sizeof(*record) + layout->time;
	else
		at += record->size - layout->trailer_size + layout->trailer_time;
	memcpy(&time, at, sizeof(time));
	return time;
}

/* Fill in what RING offers; false if that is nothing older than HORIZON. */
static bool make_offer(struct offer *offer, struct ring *ring, const struct sample_layout *layout,
		       uint64_t horizon)
{
	offer->ring = ring;
	offer->record = ring_peek(ring);
	if (!offer->record)
		return false;
	offer->time = time_of(offer->record, layout);
	return offer->time < horizon;
}

/* HEAP[0..count) is a heap, the oldest on top, but for its element AT: sink it. */
static void sink(struct offer *heap, size_t count, size_t at)
{
	struct offer offer = heap[at];

	for (;;) {
		size_t child = 2 * at + 1;
		if (child >= count)
			break;
		if (child + 1 < count && heap[child + 1].time < heap[child].time)
			child++;
		if (offer.time <= heap[child].time)
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = offer;
}

/* LOST, linux/perf_event.h: after the header u64 id, u64 lost. */
static void count(struct merge_counts *counts, const struct perf_event_header *record,
		  uint64_t time)
{
	const uint64_t *body = (const void *)(record + 1);

	switch (record->type) {
	case PERF_RECORD_SAMPLE:
		if (counts->samples++ == 0)
			counts->first = time;
		counts->last = time;
		break;
	case PERF_RECORD_LOST:
		counts->lost += body[1];
		break;
	case PERF_RECORD_THROTTLE:
		counts->throttled++;
		break;
	}
}

uint64_t merge_rings(struct ring *ring, size_t rings, const struct sample_layout *layout,
		     uint64_t horizon, struct output *out, struct merge_counts *counts)
{
	struct offer *heap = mem_resize(NULL, rings * sizeof(*heap));
	size_t offers = 0;
	uint64_t records = 0;

	for (size_t i = 0; i < rings; i++)
		if (ring[i].fd >= 0 && ring_refresh(&ring[i]) > 0 &&
		    make_offer(&heap[offers], &ring[i], layout, horizon))
			offers++;
	for (size_t i = offers / 2; i-- > 0; )
		sink(heap, offers, i);
	for (; offers > 0; records++) {
		struct offer oldest = heap[0];
		count(counts, oldest.record, oldest.time);
		output_write(out, oldest.record, oldest.record->size);
		ring_take(oldest.ring, oldest.record);
		if (!make_offer(&heap[0], oldest.ring, layout, horizon))
			heap[0] = heap[--offers];
		sink(heap, offers, 0);
	}
	for (size_t i = 0; i < rings; i++)
		if (ring[i].fd >= 0)
			ring_give_back(&ring[i]);
	free(heap);
	return records;
}
