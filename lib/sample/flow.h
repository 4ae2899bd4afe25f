/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow - moves records from the rings to the output in order of time, drops those that do not
 * belong to the target, and counts the rest.
 */
#pragma once
#include "base/output.h"
#include "counters/counters.h"
#include "counters/flight.h"
#include "counters/foreign-id.h"
#include "counters/owners.h"
#include "relay/relay.h"
#include "sample/doubt.h"
#include "sample/outside.h"
#include "sample/short-waits.h"
#include "sample/waiting.h"
#include "target/descendants.h"
#include "target/go-program.h"
#include "target/process-set.h"

/* Counts of records written. */
struct flow_counts {
	uint64_t samples;
	uint64_t lost;		/* samples lost in the kernel or here; before Linux 6.0 records */
	uint64_t lost_others;	/* records other than samples that were lost in the kernel */
	uint64_t throttled;	/* times that the kernel stopped an event that was too fast */
	uint64_t tasks;		/* threads and processes created */
};

/* Counts of one event. */
struct flow_event {
	uint64_t samples;
	uint64_t sum;		/* sum of their periods */
	uint64_t lost;		/* lost records that the stream has reported so far */
};

struct flow {
	struct counters *counters;
	const struct stream_events *events;	/* as in the kernel's records, in COUNTERS' order */
	const struct sample_layout *layout;	/* of all records, up to the period */
	clockid_t clock;	/* of the records' times */
	struct output *out;
	struct relay relay;	/* passes the records to OUT */
	size_t buffer_size;	/* limit in bytes of the buffer for a slow reader, and of the
				   records that the flight recorder holds */
	bool flight_recorder;	/* only flow_dump() writes */
	struct process_set processes;	/* drops records of other processes */
	struct outside outside;	/* if on: wakes by other processes are not dropped */
	struct owners owners;	/* drops duplicate samples */
	struct foreign_ids foreign;	/* finds the events of samples with other sessions' IDs */
	struct process_set family;	/* if on: all processes of the target, for the next file */
	struct start_waits waiting;	/* for the next round: threads that waited at the start */
	struct short_waits shorts;	/* if LEAST: samples of waits that are shorter */
	struct descendants descendants;	/* if on: of the command */
	struct flight flight;
	struct go_programs go_programs;
	struct label_recorder *labels;	/* records the labels of samples; NULL: off */
	struct flow_counts counts;
	struct flow_event *event;	/* per event; the caller's memory */
	uint64_t time;		/* time of the last record, ns */
	uint64_t reached;	/* horizon of the round before: later records are newer */
	uint64_t lost_written_at;	/* time of the last LOST_SAMPLES records, ns */
	bool any_lost;		/* the kernel has reported losses since then */
};

/* Count the SAMPLE in RECORD, and write it without unused bytes. */
void flow_write_sample(struct flow *flow, const struct perf_event_header *record);

/*
 * Move the records older than HORIZON (ns; UINT64_MAX: all) from the rings to the output.
 * Returns whether there were any.
 *
 * The kernel's LOST record has the number of records lost in a ring, but not their event, and
 * the last losses have no LOST record.  If the kernel counts losses per event, LOST_SAMPLES
 * records with the counts of the sampled events, and LOST records with that of the dummy event
 * (mappings, names, threads and the like) replace the kernel's LOST records.
 *
 * While the output's buffer is full, because its reader is slow, records stay in the rings;
 * if the rings get full, the kernel counts records as lost.
 */
bool flow_round(struct flow *flow, uint64_t horizon);

/* Like flow_round(), for the flight recorder: also write the samples in its rings. */
void flow_dump(struct flow *flow, uint64_t horizon);

/* Return what is known of the samples of EVENT. */
struct doubt_samples flow_samples(const struct flow *flow, uint32_t event);

void flow_close(struct flow *flow);
