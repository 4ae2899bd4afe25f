/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events - the events that a stream defines: attr, ids, name, and the offsets
 * of the fields in their records.
 *
 * A stream defines its events before it uses them.  Several events share one
 * stream of records; each record names its event by an id, which has the same
 * offset in all of them.
 */
#pragma once
#include "base/arena.h"
#include "base/intern.h"
#include "base/table.h"
#include "record/record.h"

/* Byte offsets of the fixed fields in a SAMPLE's body; ABSENT: the event does not have it. */
struct sample_layout {
	uint16_t ip, tid, time, addr, id, stream_id, cpu, period;
	uint16_t size;		/* bytes of all fixed fields; the other fields follow */
	bool more;		/* there are other fields; sample_decode() must walk them */
	uint16_t trailer_size;	/* bytes of struct sample_id, at the end of non-SAMPLE records */
	uint16_t trailer_time;	/* byte offset of the time in sample_id, or ABSENT */
	uint16_t trailer_cpu;	/* byte offset of the CPU in sample_id, or ABSENT */
	uint16_t trailer_id;	/* bytes from the id to the record's end; 0: no id */
};

enum { ABSENT = UINT16_MAX };

/* PERF_SAMPLE_BRANCH_COUNTERS, which older linux/perf_event.h lacks */
#define SAMPLE_BRANCH_COUNTERS (1ULL << 19)

/* What is known of AMD's Instruction-Based Sampling: see record/ibs.h. */
struct ibs_event {
	bool is_op;		/* the event's PMU is ibs_op; not set for all events together */
	bool is_early_zen3;	/* the CPU is of family 0x19, up to model 0x0f */
	bool has_no_state;	/* the CPU does not say in which state the cache line was */
};

struct stream_event {
	struct perf_event_attr attr;	/* padded with zeros if the stream's attr is shorter */
	const char *name;		/* safe to print; from the stream, or made from the attr */
	struct sample_layout layout;
	bool is_labels;		/* its records have the labels of samples (label-payload.h) */
	struct ibs_event ibs;
};

/* Zero-initialised: empty. */
struct stream_events {
	struct stream_event *event;	/* in order of definition; moves as it grows */
	uint32_t count;
	uint16_t id_place;		/* byte offset of the id in a SAMPLE's body, or ABSENT */
	uint64_t *id;			/* all ids of all events */
	uint32_t *event_of_id;		/* for each of ID: its event, an index into EVENT */
	uint32_t ids;			/* elements of ID */
	bool is_open;			/* the last event's record was full of ids */
	bool ask_build_ids;		/* the attr of some event asks for build IDs */
	bool switches;			/* the attr of some event asks for context switches */
	bool has_labels;		/* some event is_labels */
	bool reads_groups;		/* samples of some event read its group's counters */
	bool tracks;			/* event_tracks() some event */
	struct ibs_event ibs;		/* what events that are not defined yet will have */
	bool counts_lost;		/* the kernel counts what some sampled event lost */
	struct table table;		/* index over ID */
	struct intern names;		/* names that the stream gives */
	struct arena arena;		/* memory of the other names */
};

/* Tracepoints with a meaning for us: a thread is switched out, or woken. */
#define EVENT_SWITCH "sched:sched_switch"
#define EVENT_WAKING "sched:sched_waking"

enum { EVENTS_MAX = 4096 };	/* events per stream; a kernel has fewer tracepoints */

/*
 * Define an event from the SIZE bytes of ATTR, any version of the struct, and the unread ids in
 * IDS.  Return false, with the reason in *ERROR, if the attr is damaged, or if its samples and
 * those of earlier events have their ids at different offsets.
 */
bool events_add(struct stream_events *events, const void *attr, size_t size, struct cursor ids,
		const char **error);

/*
 * A record has room for about 8,000 ids, and an event of 300 threads on 64 CPUs has 19,200.  So an
 * ATTR record that is full, because one more id would not fit, is always followed by another with
 * the same attr and the remaining ids (maybe none).
 */
static inline bool events_is_full(size_t attr_size, size_t ids)
{
	return RECORD_HEADER_SIZE + attr_size + 8 * (ids + 1) > RECORD_MAX_SIZE;
}

/* Return how many of IDS ids fit into the next such record. */
static inline size_t events_ids_that_fit(size_t attr_size, size_t ids)
{
	size_t room = (RECORD_MAX_SIZE - RECORD_HEADER_SIZE - attr_size) / 8;

	return ids < room ? ids : room;
}

/*
 * Follow an ATTR record: the same as events_add(), or add the ids to the event defined last, if its
 * record was full and had the same attr.
 */
bool events_follow(struct stream_events *events, const void *attr, size_t size, struct cursor ids,
		   const char **error);

/* Assign ID to the event INDEX, even if ID belonged to another event. */
void events_set_id(struct stream_events *events, uint64_t id, uint32_t index);

/*
 * Set the name of the event INDEX to at most SIZE bytes of NAME.  False: the stream has given too
 * many names, so this one is not kept, and the event keeps its present name.
 */
bool events_name(struct stream_events *events, uint32_t index, const char *name, size_t size);

/*
 * The same in two steps, to give one name to several events.  The first step returns NULL if the
 * name is not kept.
 */
const char *events_keep_name(struct stream_events *events, const char *name, size_t size);
void events_set_name(struct stream_events *events, uint32_t index, const char *kept);

/* Return the index of ID in EVENTS->id, or TABLE_NONE. */
uint32_t events_find(const struct stream_events *events, uint64_t id);

/* Return the index of the event with ID, or TABLE_NONE. */
uint32_t events_find_id(const struct stream_events *events, uint64_t id);

/* Return the index of the event of the SAMPLE with BODY, or TABLE_NONE. */
uint32_t events_of_sample(const struct stream_events *events, struct cursor body);

/*
 * Return the index of the event of an EVENT_UPDATE record with BODY, or TABLE_NONE: u64 kind, u64
 * id.  If the stream has one event only, any id is its id.
 */
uint32_t events_of_update(const struct stream_events *events, struct cursor body);

/* Return the index of the event by the sample_id of a non-SAMPLE record, or TABLE_NONE. */
uint32_t events_of_trailer(const struct stream_events *events, struct cursor body);

/*
 * Return the event whose layout describes the sample_id at the end of BODY, a kernel's
 * non-SAMPLE record, or NULL if the record has no sample_id.
 */
const struct stream_event *events_trailer(const struct stream_events *events, struct cursor body);

/*
 * Return the size of REC, a kernel's record, without the stale bytes that may follow its sample_id:
 * see record_size_of_fields().
 */
size_t events_record_size(const struct stream_events *events, const struct record *rec);

/* Set *TID to the thread in such a record's sample_id.  Return false if it has no thread. */
bool events_trailer_tid(const struct stream_events *events, struct cursor body, pid_t *tid);

/* Return the CPU in such a record's sample_id; UINT32_MAX: it has no CPU. */
uint32_t events_trailer_cpu(const struct stream_events *events, struct cursor body);

/* Return the size that the attr at the start of C states, in bytes; 0 if the size is missing. */
size_t events_attr_size(struct cursor c);

void events_release(struct stream_events *events);

/* Return whether the event counts time: its values are nanoseconds. */
bool event_is_clock(const struct perf_event_attr *attr);

/* Return whether the event counts cycles of the CPU, by its generic name. */
bool event_is_cycles(const struct perf_event_attr *attr);

/* Return whether the event is a dummy event, which takes no samples. */
bool event_is_dummy(const struct perf_event_attr *attr);

/*
 * Return whether software calls the kernel's counter at each occurrence of the event: a breakpoint,
 * a tracepoint, a page fault; not a clock.
 */
bool event_is_occurrence(const struct perf_event_attr *attr);

/* Return whether the event records mappings, names, threads or other changes besides samples. */
bool event_tracks(const struct perf_event_attr *attr);

/* Return the index of the first event that is a clock, or TABLE_NONE. */
uint32_t events_first_clock(const struct stream_events *events);

/*
 * Return whether EVENT samples threads when they are switched out, in a stream that has SWITCH
 * records.  The value of such a sample is the time until the thread runs again.
 */
bool events_sample_waits(const struct stream_events *events, uint32_t event);

/* Return whether the event needs a hardware counter.  Events may have to share these counters. */
bool event_needs_counter(const struct perf_event_attr *attr);

/*
 * Return whether the periods of the event's samples add up to its count.  They do not if the
 * leader of a group samples for the event, or if the event is a clock that excludes the kernel or
 * user space: a clock excludes them only from its samples.
 */
bool event_samples_all(const struct perf_event_attr *attr);

/*
 * Return the mean period of the event's samples; 0: unknown.  The sum of the periods of all
 * SAMPLES samples is SUM.
 */
uint64_t event_mean_period(const struct perf_event_attr *attr, uint64_t samples, uint64_t sum);

/* Return the generic name of an event of TYPE and CONFIG ("cycles"), or NULL. */
const char *event_generic_name(uint32_t type, uint64_t config);
