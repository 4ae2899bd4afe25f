/* SPDX-License-Identifier: Apache-2.0 */
#include "counters/ring-merge.h"

/*
 * Least bytes of the fields of records, without the header and the sample_id, by type: those that
 * we read.
 */
static const uint8_t least[] = {
	[PERF_RECORD_MMAP] = 40, [PERF_RECORD_MMAP2] = 72, [PERF_RECORD_COMM] = 16,
	[PERF_RECORD_FORK] = 24, [PERF_RECORD_EXIT] = 24, [PERF_RECORD_LOST] = 16,
	[PERF_RECORD_LOST_SAMPLES] = 8, [PERF_RECORD_THROTTLE] = 24,
	[PERF_RECORD_UNTHROTTLE] = 24, [PERF_RECORD_NAMESPACES] = 16,
};

/*
 * Return the bytes of the fields that samples of all events have, without the header.  The fields
 * up to the period are the same; some events have no period.
 */
static size_t common_size(const struct sample_layout *layout)
{
	return layout->period != ABSENT ? layout->period : layout->size;
}

/*
 * Return the size of RECORD without stale bytes at its end; 0: RECORD is too short for its fields.
 */
static size_t exact_size(const struct perf_event_header *record, const struct sample_layout *layout)
{
	size_t fields = record->type < sizeof(least) ? least[record->type] : 0;
	struct record view;

	if (record->type == PERF_RECORD_SAMPLE)
		return record->size < sizeof(*record) + common_size(layout) ? 0
								      : record->size;
	if (record_has_stale_bytes(record->type)) {
		record_frame(&view, (const uint8_t *)record, false);
		size_t own = record_size_of_fields(&view), size = own + layout->trailer_size;
		return own && size <= record->size ? size : 0;
	}
	return record->size < sizeof(*record) + fields + layout->trailer_size ? 0 : record->size;
}

/* Return the offset of the time in RECORD. */
static size_t place_of_time(const struct perf_event_header *record,
			    const struct sample_layout *layout)
{
	return record->type == PERF_RECORD_SAMPLE
		? sizeof(*record) + layout->time
		: (size_t)record->size - layout->trailer_size + layout->trailer_time;
}

static uint64_t time_of(const struct perf_event_header *record, const struct sample_layout *layout)
{
	uint64_t time;

	memcpy(&time, (const uint8_t *)record + place_of_time(record, layout), sizeof(time));
	return time;
}

/*
 * The first record of RING is a sample whose TIME may be wrong.  Return TIME, moved so that it is
 * not before the record before it and not after the records after it.  The next samples may have
 * wrong times, too, so look at a few records.
 */
static uint64_t between_neighbours(const struct ring *ring, const struct sample_layout *layout,
				   uint64_t time)
{
	enum { RECORDS = 4 };
	struct perf_event_header next;
	uint64_t at = ring->next, other;

	for (int i = 0; i < RECORDS && ring_look_ahead(ring, at, &next, sizeof(next)); i++) {
		size_t place = place_of_time(&next, layout);
		if (place < sizeof(next) || place + sizeof(other) > next.size ||
		    !ring_look_ahead(ring, at + place, &other, sizeof(other)))
			break;
		if (!record_has_stale_bytes(next.type) && other < time)
			time = other;
		at += next.size;
	}
	return time > ring->time ? time : ring->time;
}

/* Return the next record of RING, or NULL. */
static const struct perf_event_header *next_of(struct ring *ring,
					       const struct sample_layout *layout)
{
	const struct perf_event_header *record;
	size_t size;

	while ((record = ring_peek(ring)) && !(size = exact_size(record, layout))) {
		ring->damaged++;
		ring_take(ring);
	}
	return record && size < record->size ? ring_cut(ring, record, (uint16_t)size) : record;
}

/* Set *HEAD for the first record of ring INDEX.  False: it has no record older than the horizon. */
static bool read_head(const struct ring_merge *m, size_t index, struct heap_item *head)
{
	struct ring *ring = &m->ring[index];
	const struct perf_event_header *record = next_of(ring, m->layout);

	if (!record)
		return false;
	uint64_t time = time_of(record, m->layout);
	if (m->doubts_samples && record->type == PERF_RECORD_SAMPLE)
		time = between_neighbours(ring, m->layout, time);
	if (time > m->latest || ring->overdue)
		time = ring->time;
	*head = (struct heap_item){ time, index };
	return time < m->horizon;
}

void ring_merge_init(struct ring_merge *m, struct ring *ring, size_t rings,
		     const struct sample_layout *layout, uint64_t horizon, uint64_t latest,
		     bool doubts_samples)
{
	struct heap_item head;

	*m = (struct ring_merge){ .layout = layout, .horizon = horizon, .latest = latest,
				  .doubts_samples = doubts_samples, .ring = ring };
	for (size_t i = 0; i < rings; i++)
		if (ring[i].fd >= 0 && read_head(m, i, &head))
			heap_add(&m->heads, head);
}

const struct perf_event_header *ring_merge_next(struct ring_merge *m)
{
	struct heap_item head;

	if (m->lent) {
		ring_take(m->lent);
		m->lent->time = m->time;
		if (read_head(m, m->heads.item[0].value, &head))
			heap_replace(&m->heads, head);
		else
			heap_remove(&m->heads);
	}
	bool any = m->heads.count > 0;
	m->lent = any ? &m->ring[m->heads.item[0].value] : NULL;
	m->time = any ? m->heads.item[0].key : 0;
	m->record = any ? next_of(m->lent, m->layout) : NULL;
	return m->record;
}

void ring_merge_release(struct ring_merge *m)
{
	heap_release(&m->heads);
	*m = (struct ring_merge){ 0 };
}
