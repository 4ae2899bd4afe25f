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

/* Set HEAD to the first record of RING.  False: RING has no record older than HORIZON. */
static bool read_head(struct ring_head *head, struct ring *ring,
		      const struct sample_layout *layout, uint64_t horizon)
{
	head->ring = ring;
	head->record = ring_peek(ring);
	if (!head->record)
		return false;
	head->time = time_of(head->record, layout);
	return head->time < horizon;
}

/* Restore the heap HEAP[0..COUNT), oldest on top, of which only element AT may be out of place. */
static void sink(struct ring_head *heap, size_t count, size_t at)
{
	struct ring_head head = heap[at];

	for (;;) {
		size_t child = 2 * at + 1;
		if (child >= count)
			break;
		if (child + 1 < count && heap[child + 1].time < heap[child].time)
			child++;
		if (head.time <= heap[child].time)
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = head;
}

void ring_merge_init(struct ring_merge *m, struct ring *ring, size_t rings,
		     const struct sample_layout *layout, uint64_t horizon)
{
	*m = (struct ring_merge){ .layout = layout, .horizon = horizon,
				  .head = mem_resize(NULL, rings * sizeof(*m->head)) };
	for (size_t i = 0; i < rings; i++)
		if (ring[i].fd >= 0 && read_head(&m->head[m->heads], &ring[i], layout, horizon))
			m->heads++;
	for (size_t i = m->heads / 2; i-- > 0; )
		sink(m->head, m->heads, i);
}

const struct perf_event_header *ring_merge_next(struct ring_merge *m)
{
	if (m->lent) {
		ring_take(m->lent, m->head[0].record);
		if (!read_head(&m->head[0], m->lent, m->layout, m->horizon))
			m->head[0] = m->head[--m->heads];
		sink(m->head, m->heads, 0);
	}
	m->lent = m->heads > 0 ? m->head[0].ring : NULL;
	m->time = m->heads > 0 ? m->head[0].time : 0;
	return m->heads > 0 ? m->head[0].record : NULL;
}

void ring_merge_release(struct ring_merge *m)
{
	free(m->head);
	*m = (struct ring_merge){ 0 };
}
