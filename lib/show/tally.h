/* SPDX-License-Identifier: Apache-2.0 */
/* tally - totals of a stream: records by type, samples by event, losses, time span. */
#pragma once
#include "labels/label-join.h"
#include "record/group.h"
#include "record/loss.h"
#include "stream/tasks.h"

enum { TALLY_TYPES = 128 };	/* types of the kernel and perf; ours are in RESOLVED */

/* Zero-initialised: nothing counted. */
struct tally {
	uint64_t records, bytes;
	uint64_t type[TALLY_TYPES];	/* records by type */
	/* by type - RECORD_STRING */
	uint64_t resolved[RECORD_RESOLVED_LAST - RECORD_STRING + 1];
	uint64_t unknown;		/* records of other types */
	struct tally_event {
		uint64_t samples;	/* also group samples in which its counter went on */
		uint64_t sum;		/* of periods, or of counts in group samples */
	} *event;			/* by index */
	struct label_join join;
	struct label_counts labels;	/* of samples, if the stream has labels records */
	struct groups groups;
	struct tasks tasks;		/* followed once GROUPS has counters */
	uint32_t events;
	struct loss_counts lost;
	uint64_t throttled;	/* THROTTLE records */
	uint64_t first_time, last_time;	/* of any record; 0: no record has a time */
};

/* Count REC, just read from IN. */
void tally_add(struct tally *tally, struct stream_reader *in, const struct record *rec);

/* Print the totals on stdout, one per line or as one JSON object. */
void tally_print(const struct tally *tally, const struct stream_reader *in, bool json);

void tally_release(struct tally *tally);
