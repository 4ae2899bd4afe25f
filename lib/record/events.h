/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_event - what a stream says of its events: attr, ids, name, and where
 * the fields of their records lie.
 *
 * A stream defines its events before it uses them.  Several events share one
 * stream of records; each record tells its event by an id, whose place is the
 * same in all of them.
 */
#pragma once
#include "base/arena.h"
#include "base/table.h"
#include "record/record.h"

/* Offsets into a SAMPLE record's body of the fields of fixed place; ABSENT where not asked for. */
struct sample_layout {
	uint16_t ip, tid, time, addr, id, stream_id, cpu, period;
	uint16_t size;		/* bytes of all of these; the other fields follow */
	bool more;		/* there are fields that sample_decode() must walk */
	uint16_t trailer_size;	/* bytes of sample_id at the end of every other record */
	uint16_t trailer_time;	/* offset of the time in it, or ABSENT */
	uint16_t trailer_id;	/* bytes from the id to the record's end; 0: it has none */
};

enum { ABSENT = UINT16_MAX };

/* PERF_SAMPLE_BRANCH_COUNTERS, newer than our linux/perf_event.h */
#define SAMPLE_BRANCH_COUNTERS (1ULL << 19)

struct stream_event {
	struct perf_event_attr attr;	/* zero where the stream's own was shorter */
	const char *name;		/* as given, else from the attr; never NULL */
	struct sample_layout layout;
};

/* Zero-initialised: empty. */
struct stream_events {
	struct stream_event *event;	/* in order of definition; moves as it grows */
	uint32_t count;
	uint16_t id_place;		/* of the id in a SAMPLE's body, or ABSENT */
	uint64_t *id;			/* every id */
	uint32_t *event_of_id;		/* the event it means: index into EVENT */
	uint32_t ids;
	bool ask_build_ids;		/* some event does, by its attr; */
	bool switches;			/* and tells when threads run */
	struct table table;		/* over ID */
	struct arena arena;		/* the names */
};

enum { EVENTS_MAX = 4096 };	/* of a stream; all tracepoints of a kernel are fewer */

/*
 * Define an event, from SIZE bytes of attr as a stream holds them (of any
 * version of the struct) and the ids in what is left of IDS.  False where the
 * attr is damaged, or places the id elsewhere than the events before it: ERROR
 * then says so.
 */
bool events_add(struct stream_events *events, const void *attr, size_t size, struct cursor ids,
		const char **error);

/* The id ID is of the event of index INDEX, whatever was said before. */
void events_set_id(struct stream_events *events, uint64_t id, uint32_t index);

/* Give the event of index INDEX the name of at most SIZE bytes at NAME. */
void events_name(struct stream_events *events, uint32_t index, const char *name, size_t size);

/* The index of this id in EVENTS->id, or TABLE_NONE. */
uint32_t events_find(const struct stream_events *events, uint64_t id);

/* The index of the event with this id, or TABLE_NONE. */
uint32_t events_find_id(const struct stream_events *events, uint64_t id);

/* The index of the event of a SAMPLE with this body, or TABLE_NONE. */
uint32_t events_of_sample(const struct stream_events *events, struct cursor body);

/* The index of the event whose id ends such a record, or TABLE_NONE. */
uint32_t events_of_trailer(const struct stream_events *events, struct cursor body);

/*
 * The event by which the kernel's other records with this body end in a
 * sample_id; NULL where they have none.
 */
const struct stream_event *events_trailer(const struct stream_events *events, struct cursor body);

/* The thread that such a record is of; false where it does not say. */
bool events_trailer_tid(const struct stream_events *events, struct cursor body, pid_t *tid);

/* The size of the attr at the start of C, by its own word; 0 if that is missing. */
size_t attr_stated_size(struct cursor c);

void events_release(struct stream_events *events);

/* Whether EVENT counts time: its values are nanoseconds. */
bool event_is_clock(const struct perf_event_attr *attr);

/*
 * Whether all that such an event counts leads to samples, so that their periods add
 * up to the count: not if a group's leader samples for it, nor of a clock that leaves
 * out the kernel, or the program, in its samples alone.
 */
bool event_samples_all(const struct perf_event_attr *attr);

/* The period of such an event, on average, if SAMPLES have SUM of it; 0: not known. */
uint64_t event_mean_period(const struct perf_event_attr *attr, uint64_t samples, uint64_t sum);

/* The generic name of an event of TYPE and CONFIG ("cycles"), or NULL. */
const char *event_generic_name(uint32_t type, uint64_t config);
