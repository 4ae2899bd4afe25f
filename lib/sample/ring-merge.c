/* SPDX-License-Identifier: Apache-2.0 */
#include "sample/ring-merge.h"
#include "base/arena.h"

#include <stdlib.h>

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

void merge_begin(struct merge *m, struct ring *ring, size_t rings,
		 const struct sample_layout *layout, uint64_t horizon)
{
	*m = (struct merge){ .layout = layout, .horizon = horizon,
			     .offer = mem_resize(NULL, rings * sizeof(*m->offer)) };
	for (size_t i = 0; i < rings; i++)
		if (ring[i].fd >= 0 && make_offer(&m->offer[m->offers], &ring[i], layout, horizon))
			m->offers++;
	for (size_t i = m->offers / 2; i-- > 0; )
		sink(m->offer, m->offers, i);
}

const struct perf_event_header *merge_next(struct merge *m)
{
	if (m->lent) {
		ring_take(m->lent, m->offer[0].record);
		if (!make_offer(&m->offer[0], m->lent, m->layout, m->horizon))
			m->offer[0] = m->offer[--m->offers];
		sink(m->offer, m->offers, 0);
	}
	m->lent = m->offers > 0 ? m->offer[0].ring : NULL;
	m->time = m->offers > 0 ? m->offer[0].time : 0;
	return m->offers > 0 ? m->offer[0].record : NULL;
}

void merge_end(struct merge *m)
{
	free(m->offer);
	*m = (struct merge){ 0 };
}
