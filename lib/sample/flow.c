/* SPDX-License-Identifier: Apache-2.0 */
#include "sample/flow.h"
#include "sample/merge.h"
#include "stream/writer.h"

/* LOST, linux/perf_event.h: after the header u64 id, u64 lost. */
static void count(struct flow_counts *counts, const struct perf_event_header *record)
{
	const uint64_t *body = (const void *)(record + 1);

	if (record->type == PERF_RECORD_SAMPLE)
		counts->samples++;
	else if (record->type == PERF_RECORD_LOST)
		counts->lost += body[1];
	else if (record->type == PERF_RECORD_THROTTLE)
		counts->throttled++;
}

static void put(struct flow *f, const struct perf_event_header *record)
{
	count(&f->counts, record);
	output_write(f->out, record, record->size);
}

/* The records that precede are all older than those that follow. */
static void end_round(struct flow *f, uint64_t records)
{
	if (records)
		writer_empty(f->out, RECORD_FINISHED_ROUND);
	output_flush(f->out);
}

static void release_held(struct flow *f, uint64_t time)
{
	const struct perf_event_header *record;
	struct merge m;
	size_t rings;

	struct ring *ring = flight_release(&f->flight, time, &rings);
	merge_begin(&m, ring, rings, f->layout, UINT64_MAX);
	while ((record = merge_next(&m)))
		put(f, record);
	merge_end(&m);
	flight_end(&f->flight, 0);
	end_round(f, 1);
}

static void hold(struct flow *f, const struct perf_event_header *record, uint64_t time)
{
	if (flight_hold(&f->flight, record, f->buffer_size))
		return;
	release_held(f, time);
	flight_hold(&f->flight, record, f->buffer_size);
}

bool flow_round(struct flow *f, uint64_t horizon)
{
	struct ring *ring = f->counters->ring;
	size_t rings = f->counters->cpus;
	const struct perf_event_header *record;
	uint64_t records = 0;
	struct merge m;

	if (output_waiting(f->out) >= f->buffer_size && horizon != UINT64_MAX)
		return true;
	for (size_t i = 0; i < rings; i++)
		if (ring[i].fd >= 0)
			ring_refresh(&ring[i]);
	merge_begin(&m, ring, rings, f->layout, horizon);
	for (; (record = merge_next(&m)); records++) {
		if (!filter_passes(&f->filter, record, f->layout))
			continue;
		if (record->type == PERF_RECORD_FORK)
			filter_passes(&f->family, record, f->layout);
		if (f->flies)
			hold(f, record, m.time);
		else
			put(f, record);
	}
	merge_end(&m);
	for (size_t i = 0; i < rings; i++)
		if (ring[i].fd >= 0)
			ring_give_back(&ring[i]);
	end_round(f, f->flies ? 0 : records);
	return records > 0;
}

/* What the flight recorder had to give up: a LOST record, without a time. */
static void write_lost(struct flow *f, uint64_t lost)
{
	static const uint8_t zeros[64];
	struct writer w;

	writer_begin(&w, f->out, PERF_RECORD_LOST, 0);
	writer_u64(&w, f->counters->ids[0].id[0]);
	writer_u64(&w, lost);
	writer_bytes(&w, zeros, f->layout->trailer_size);
	writer_end(&w);
	f->counts.lost += lost;
}

void flow_dump(struct flow *f, uint64_t horizon)
{
	const struct perf_event_header *record;
	uint64_t records = 0, lost = 0;
	struct merge m;
	size_t rings;

	flow_round(f, horizon);
	struct ring *ring = flight_dump(&f->flight, f->counters, &rings);
	merge_begin(&m, ring, rings, f->layout, horizon);
	while ((record = merge_next(&m))) {
		bool is_held = m.lent == &ring[rings - 1];
		if (!is_held && (m.time < f->flight.dumped_to ||
				 !filter_passes(&f->filter, record, f->layout)))
			continue;
		if (!is_held && m.time < f->flight.released_to) {
			lost += record->type == PERF_RECORD_SAMPLE;
			continue;
		}
		put(f, record);
		records++;
	}
	merge_end(&m);
	flight_end(&f->flight, horizon);
	if (lost)
		write_lost(f, lost);
	end_round(f, records);
}

void flow_close(struct flow *f)
{
	filter_release(&f->filter);
	filter_release(&f->family);
	flight_close(&f->flight);
}
