/* SPDX-License-Identifier: Apache-2.0 */
#include "sample/flow.h"
#include "base/arena.h"
#include "base/clock.h"
#include "counters/ring-merge.h"
#include "stream/writer.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
	LOST_INTERVAL = 1000000000,	/* ns between readings of the counts of lost records */
	LABELS_NS = 5000000,		/* longest time of a round for looking up new processes */
	CLOCK_ERROR = 1000000000,	/* ns that the clocks of CPUs may differ by */
};

/* Return the event index of a sample. */
static uint32_t event_of(const struct flow *f, const struct perf_event_header *record)
{
	if (f->layout->id == ABSENT)
		return 0;
	uint64_t id = record_u64(record, f->layout->id);
	const struct counter *counter = counters_find(f->counters, id);
	return counter ? counter->event : 0;
}

/* Return the period of the sample RECORD of EVENT. */
static uint64_t period_of(const struct flow *f, uint32_t event,
			  const struct perf_event_header *record)
{
	const struct stream_event *e = &f->events->event[event];
	size_t at = e->layout.period;

	return at != ABSENT && record->size >= sizeof(*record) + at + sizeof(uint64_t)
		       ? record_u64(record, e->layout.period) : e->attr.sample_period;
}

/* Write the labels record (KEPT, or "unknown" if NULL) that precedes the sample RECORD. */
static void write_labels(struct flow *f, const struct kept_labels *kept,
			 const struct perf_event_header *record)
{
	label_recorder_write(f->labels, kept, record, f->layout, relay_begin(&f->relay));
	relay_end(&f->relay);
}

void flow_write_sample(struct flow *f, const struct perf_event_header *record)
{
	uint32_t i = event_of(f, record);
	const struct stream_event *event = &f->events->event[i];

	f->counts.samples++;
	f->event[i].samples++;
	f->event[i].sum += period_of(f, i, record);
	if (event->attr.sample_type & PERF_SAMPLE_STACK_USER)
		relay_sample(&f->relay, record, i);
	else
		relay_write(&f->relay, record);
}

/* Write RECORD, an MMAP2 record, with its program's Go build ID.  False: the program has none. */
static bool write_go_program(struct flow *f, const struct perf_event_header *record)
{
	bool is_written = go_programs_write(&f->go_programs, relay_begin(&f->relay), record,
					    f->layout);

	relay_end(&f->relay);
	return is_written;
}

/* Return whether RECORD belongs to the target, or explains it, and is not a duplicate. */
static bool passes(struct flow *f, const struct perf_event_header *record)
{
	bool selects = process_set_selects(&f->processes, record, f->layout);

	if (f->outside.on) {
		uint32_t event = record->type == PERF_RECORD_SAMPLE ? event_of(f, record) : 0;
		selects = outside_takes(&f->outside, f->events, event, record, f->layout, selects);
	}
	if (!selects)
		return false;
	return owners_pass(&f->owners, f->counters, record, f->layout, f->foreign.rule);
}

/* Count RECORD, and write it.  LOST, linux/perf_event.h: after the header u64 id, u64 lost. */
static void write_record(struct flow *f, const struct perf_event_header *record)
{
	if (record->type == PERF_RECORD_SAMPLE) {
		flow_write_sample(f, record);
		return;
	}
	if (record->type == PERF_RECORD_THROTTLE)
		f->counts.throttled++;
	else if (record->type == PERF_RECORD_FORK)
		f->counts.tasks++;
	else if (record->type == PERF_RECORD_LOST && counters_have_lost(f->counters))
		f->any_lost = true;
	else if (record->type == PERF_RECORD_LOST)
		f->counts.lost += record_u64(record, 8);
	else if (record->type == PERF_RECORD_MMAP2 && write_go_program(f, record))
		return;
	if (record->type != PERF_RECORD_LOST || !f->any_lost)
		relay_write(&f->relay, record);
}

/*
 * Write that COUNT records of EVENT were lost: of a sampled event LOST_SAMPLES (u64 lost), of the
 * dummy event LOST (u64 id, lost).  The sample_id has TIME and identifies the event.
 */
static void write_loss(struct flow *f, uint32_t event, uint64_t count, uint64_t time)
{
	bool is_dummy = event + 1 == f->counters->events->count;
	uint64_t id = f->counters->ids[event].id[0];
	const struct sample_layout *l = f->layout;
	uint8_t trailer[64] = { 0 };
	struct writer w;

	if (l->trailer_time != ABSENT)
		memcpy(trailer + l->trailer_time, &time, sizeof(time));
	if (l->trailer_id)
		memcpy(trailer + l->trailer_size - l->trailer_id, &id, sizeof(id));
	writer_begin(&w, relay_begin(&f->relay),
		     is_dummy ? PERF_RECORD_LOST : PERF_RECORD_LOST_SAMPLES, 0);
	if (is_dummy)
		writer_u64(&w, id);
	writer_u64(&w, count);
	writer_bytes(&w, trailer, l->trailer_size);
	writer_end(&w);
	relay_end(&f->relay);
	*(is_dummy ? &f->counts.lost_others : &f->counts.lost) += count;
}

struct doubt_samples flow_samples(const struct flow *f, uint32_t event)
{
	const struct perf_event_attr *attr = &f->counters->events->event[event].attr;
	const struct flow_event *e = &f->event[event];

	return (struct doubt_samples){ e->sum, event_mean_period(attr, e->samples, e->sum),
				       f->owners.dropped ? f->owners.dropped[event] : 0,
				       !event_samples_all(attr) };
}

/* Write a record for each event with new losses: every LOST_INTERVAL, and at the end. */
static void write_lost_counts(struct flow *f, bool is_end)
{
	if (!counters_have_lost(f->counters) ||
	    (!is_end && (!f->any_lost || f->time - f->lost_written_at < LOST_INTERVAL)))
		return;
	uint32_t events = (uint32_t)f->counters->events->count;
	struct counters_total *total = mem_zeroed(events, sizeof(*total));
	counters_totals(f->counters, f->owners.twice, f->owners.tasks, total);
	for (uint32_t i = 0; i < events; i++) {
		struct doubt_samples samples = flow_samples(f, i);
		uint64_t lost = doubt_newly_lost(&total[i], &samples, f->event[i].lost);
		if (lost == 0)
			continue;
		write_loss(f, i, lost, f->time);
		f->event[i].lost += lost;
	}
	free(total);
	f->lost_written_at = f->time;
	f->any_lost = false;
}

/*
 * Mark that all later records are newer than those written so far, and flush.  IS_LAST: wait for
 * records that the helper has.
 */
static void end_round(struct flow *f, uint64_t records, bool is_last)
{
	relay_round(&f->relay, is_last);
	if (records)
		writer_empty(f->out, RECORD_FINISHED_ROUND);
	output_flush(f->out);
}

/* Write all records that the flight recorder holds; older samples are lost. */
static void release_held(struct flow *f, uint64_t time)
{
	const struct perf_event_header *record;
	struct ring_merge m;
	size_t rings;

	struct ring *ring = flight_release(&f->flight, time, &rings);
	ring_merge_init(&m, ring, rings, f->layout, UINT64_MAX, UINT64_MAX, false);
	while ((record = ring_merge_next(&m)))
		write_record(f, record);
	ring_merge_release(&m);
	flight_end(&f->flight, 0);
	end_round(f, 1, false);
}

static void hold(struct flow *f, const struct perf_event_header *record, uint64_t time)
{
	if (flight_hold(&f->flight, record, f->buffer_size))
		return;
	release_held(f, time);
	flight_hold(&f->flight, record, f->buffer_size);
}

/* Return the labels of RECORD, which is from ring I; NULL: unknown, or RECORD is not a SAMPLE. */
static const struct kept_labels *take_labels(struct flow *f, size_t i,
					     const struct perf_event_header *record)
{
	uint32_t event = record->type == PERF_RECORD_SAMPLE ? event_of(f, record) : 0;

	return label_recorder_take(f->labels, i, event, record, f->layout);
}

/* Return a time that no record in the rings can have passed. */
static uint64_t latest_time(const struct flow *f)
{
	return clock_ns(f->clock) + CLOCK_ERROR;
}

/*
 * Return RECORD, the last one of M, with an ID and a time of ours, not before EARLIEST.  M merges
 * RING, one ring per CPU.
 */
static const struct perf_event_header *with_own_id(struct flow *f, struct ring_merge *m,
						   const struct ring *ring,
						   const struct perf_event_header *record,
						   uint64_t earliest)
{
	if (m->lent->time > earliest)
		earliest = m->lent->time;
	return foreign_ids_replace(&f->foreign, m->lent, (size_t)(m->lent - ring), record,
				   earliest, m->latest - CLOCK_ERROR, &m->time);
}

/* After a round, report what is wrong with ring I.  Its records then wait no longer. */
static void check_ring(struct flow *f, size_t i)
{
	struct ring *ring = &f->counters->ring[i];
	int cpu = f->counters->cpu[i];

	if (ring->discarded)
		report_error(f->relay.report, "the ring of CPU %d has bytes that are not records: "
			     "%" PRIu64 " bytes are discarded", cpu, ring->discarded);
	if (ring->damaged)
		report_error(f->relay.report, "%" PRIu64 " records in the ring of CPU %d are "
			     "shorter than their fields; they are left out", ring->damaged, cpu);
	ring->discarded = ring->damaged = 0;
	ring->overdue = ring_is_stuck(ring, monotonic_ns());
	if (ring->overdue)
		report_error(f->relay.report, "the ring of CPU %d has been full for a second: its "
			     "records are taken without regard to their times", cpu);
}

/* Learn from the records in the rings which threads waited at the start.  They stay there. */
static void follow_waiting(struct flow *f)
{
	for (size_t i = 0; i < f->counters->cpus; i++) {
		struct ring copy = f->counters->ring[i];	/* its tail moves, the ring's not */
		const struct perf_event_header *record;
		for (; copy.fd >= 0 && (record = ring_peek(&copy)); ring_take(&copy))
			waiting_follow(&f->waiting, record, f->layout);
	}
}

/* Return whether RECORD is a sample of a wait that may be short. */
static bool is_wait(const struct flow *f, const struct perf_event_header *record)
{
	return f->shorts.least && record->type == PERF_RECORD_SAMPLE &&
	       &f->events->event[event_of(f, record)] == f->shorts.event;
}

/* Find the short waits among the records in the rings, which stay there. */
static void find_short_waits(struct flow *f)
{
	short_waits_begin(&f->shorts);
	for (size_t i = 0; i < f->counters->cpus; i++) {
		struct ring copy = f->counters->ring[i];	/* its tail moves, the ring's not */
		const struct perf_event_header *record;
		for (; copy.fd >= 0 && (record = ring_peek(&copy)); ring_take(&copy))
			short_waits_look(&f->shorts, record, f->layout, is_wait(f, record));
		f->counters->ring[i].scratch = copy.scratch;
	}
	short_waits_find(&f->shorts);
}

bool flow_round(struct flow *f, uint64_t horizon)
{
	struct ring *ring = f->counters->ring;
	size_t rings = f->counters->cpus;
	const struct perf_event_header *record;
	uint64_t records = 0;
	struct ring_merge m;

	if (output_waiting(f->out) >= f->buffer_size && horizon != UINT64_MAX)
		return true;
	for (size_t i = 0; i < rings; i++)
		if (ring[i].fd >= 0)
			ring_refresh(&ring[i]);
	if (f->waiting.event)
		follow_waiting(f);
	if (f->shorts.least)
		find_short_waits(f);
	ring_merge_init(&m, ring, rings, f->layout, horizon, latest_time(f),
			f->foreign.candidates > 0);
	for (; (record = ring_merge_next(&m)); records++) {
		size_t i = (size_t)(m.lent - ring);
		if (f->waiting.event && m.time >= f->waiting.since)
			records += waiting_write(&f->waiting, f);
		if (f->labels && label_recorder_keep(f->labels, i, record))
			continue;
		record = with_own_id(f, &m, ring, record, f->reached);
		const struct kept_labels *kept = f->labels ? take_labels(f, i, record) : NULL;
		if (!passes(f, record))
			continue;
		if (f->labels && record->type == PERF_RECORD_SAMPLE)
			write_labels(f, kept, record);
		if (is_wait(f, record))
			record = short_waits_replace(&f->shorts, record, f->layout);
		if (record->type == PERF_RECORD_FORK)
			process_set_selects(&f->family, record, f->layout);
		descendants_follow(&f->descendants, record);
		f->time = m.time > f->time ? m.time : f->time;
		if (f->flight_recorder)
			hold(f, record, f->time);
		else
			write_record(f, record);
	}
	ring_merge_release(&m);
	if (f->waiting.event)
		records += waiting_write(&f->waiting, f);
	f->reached = horizon == UINT64_MAX ? f->reached : horizon;
	if (f->labels)
		label_targets_work(&f->labels->targets, monotonic_ns() + LABELS_NS);
	if (!f->flight_recorder)
		write_lost_counts(f, horizon == UINT64_MAX);
	for (size_t i = 0; i < rings; i++)
		if (ring[i].fd >= 0) {
			check_ring(f, i);
			ring_give_back(&ring[i]);
		}
	end_round(f, f->flight_recorder ? 0 : records, horizon == UINT64_MAX);
	return records > 0 || relay_waits(&f->relay);
}

void flow_dump(struct flow *f, uint64_t horizon)
{
	const struct perf_event_header *record;
	uint64_t records = 0, lost = 0;
	struct ring_merge m;
	size_t rings;

	flow_round(f, horizon);
	f->relay.may_wait = true;
	struct ring *ring = flight_dump(&f->flight, f->counters, &rings);
	ring_merge_init(&m, ring, rings, f->layout, horizon, latest_time(f),
			f->foreign.candidates > 0);
	while ((record = ring_merge_next(&m))) {
		record = with_own_id(f, &m, ring, record, 0);
		bool is_held = m.lent == &ring[rings - 1];
		if (!is_held && (m.time < f->flight.dumped_to || !passes(f, record)))
			continue;
		if (!is_held && m.time < f->flight.released_to) {
			lost += record->type == PERF_RECORD_SAMPLE;
			continue;
		}
		write_record(f, record);
		records++;
	}
	ring_merge_release(&m);
	flight_end(&f->flight, horizon);
	write_lost_counts(f, horizon == UINT64_MAX);
	if (lost)
		write_loss(f, 0, lost, 0);
	end_round(f, records, true);
	f->relay.may_wait = false;
}

void flow_close(struct flow *f)
{
	process_set_release(&f->processes);
	process_set_release(&f->family);
	outside_release(&f->outside);
	owners_release(&f->owners);
	foreign_ids_release(&f->foreign);
	waiting_release(&f->waiting);
	short_waits_release(&f->shorts);
	descendants_release(&f->descendants);
	flight_close(&f->flight);
	relay_release(&f->relay);
}
