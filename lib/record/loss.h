/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loss - what the LOST and LOST_SAMPLES records of a stream count.
 *
 * The kernel counts every record for which a ring has no room.  The count is one of samples only if
 * no other records could be lost there.
 */
#pragma once
#include "record/events.h"

enum loss_kind {
	LOSS_SAMPLES,		/* samples of an event */
	LOSS_MIXED,		/* samples, or mappings, names and threads */
	LOSS_OTHERS,		/* mappings, names and threads */
	LOSS_REPEATED,		/* any of these: LOST_SAMPLES records count them, too */
	LOSS_KINDS
};

struct loss {
	enum loss_kind kind;
	uint32_t event;		/* a sampled event, if there is one; 0 also if it is unknown */
	uint64_t count;
};

/* Counts of lost records. */
struct loss_counts {
	uint64_t of[LOSS_KINDS];
};

/*
 * Read REC, a LOST or LOST_SAMPLES record of a stream with EVENTS.  Return false if REC is
 * damaged; *OUT is then unspecified.
 */
bool loss_read(const struct stream_events *events, const struct record *rec, struct loss *out);

/*
 * Return the number of lost records of unknown type in COUNTS: LOSS_MIXED, or LOSS_REPEATED if the
 * LOST_SAMPLES records are missing.
 */
uint64_t loss_mixed(const struct loss_counts *counts);

/* Return the difference NOW - BEFORE of each count. */
struct loss_counts loss_since(const struct loss_counts *now, const struct loss_counts *before);

enum { LOSS_TEXT = 128 };	/* bytes of a text, with its NUL */

/* Write COUNTS to TEXT: "5 lost", "0 lost, 120 records lost", "5 lost, 7 other records lost". */
void loss_text(const struct loss_counts *counts, char text[LOSS_TEXT]);
