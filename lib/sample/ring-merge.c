/* SPDX-License-Identifier: Apache-2.0 */
#include "sample/ring-merge.h"

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

/* Set *HEAD for the first record of ring INDEX.  False: it has no record older than the horizon. */
static bool read_head(const struct ring_merge *m, size_t index, struct heap_item *head)
{
	const struct perf_event_header *record = ring_peek(&m->ring[index]);

	if (!record)
		return false;
	*head = (struct heap_item){ time_of(record, m->layout), index };
	return head->key < m->horizon;
}

void ring_merge_init(struct ring_merge *m, struct ring *ring, size_t rings,
		     const struct sample_layout *layout, uint64_t horizon)
{
	struct heap_item head;

	*m = (struct ring_merge){ .layout = layout, .horizon = horizon, .ring = ring };
	for (size_t i = 0; i < rings; i++)
		if (ring[i].fd >= 0 && read_head(m, i, &head))
			heap_add(&m->heads, head);
}

const struct perf_event_header *ring_merge_next(struct ring_merge *m)
{
	struct heap_item head;

	if (m->lent) {
		ring_take(m->lent, m->record);
		if (read_head(m, m->heads.item[0].value, &head))
			heap_replace(&m->heads, head);
		else
			heap_remove(&m->heads);
	}
	bool any = m->heads.count > 0;
	m->lent = any ? &m->ring[m->heads.item[0].value] : NULL;
	m->time = any ? m->heads.item[0].key : 0;
	m->record = any ? ring_peek(m->lent) : NULL;
	return m->record;
}

void ring_merge_release(struct ring_merge *m)
{
	heap_release(&m->heads);
	*m = (struct ring_merge){ 0 };
}
