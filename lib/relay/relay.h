/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relay - passes records from the sampler to the output, by way of the helper that unwinds stacks.
 *
 * Records leave in the order in which they came.  A sample with a stack dump goes to the helper,
 * and leaves unwound; the records after it wait.  The sample leaves unchanged if the helper has no
 * room for it, has ended, hangs, or is late.  Without a helper, all records leave at once.
 *
 * If the samples have callchains by frame pointers as well (HAS_FRAME_POINTERS), a sample that the
 * helper does not unwind leaves without its dump.  Then the helper may also say that it needs to
 * see only some samples.  If the user has asked for REGISTERS, no sample leaves with its dump: all
 * keep the same registers.
 *
 * If the helper has ended or hangs, records leave at once until the owner starts another: after a
 * pause, which doubles with each start in the same hour up to four minutes.
 */
#pragma once
#include "base/output.h"
#include "record/events.h"
#include "relay/helper.h"

#include <signal.h>

/* Zero-initialised except for OUT, EVENTS and REPORT: no helper. */
struct relay {
	struct output *out;
	const struct stream_events *events;
	struct report *report;
	struct helper *helper;	/* NULL: records leave at once; owned */
	uint64_t start_due;	/* when to start another helper, monotonic ns; 0: not at all */
	uint64_t hour_start;	/* of the hour in which STARTS are counted, monotonic ns */
	unsigned starts;	/* of further helpers, or attempts, in that hour */
	unsigned all_starts;	/* of further helpers */
	struct timeval used;	/* CPU time of the helpers before this one */
	struct output made;	/* records written after relay_begin() */
	uint8_t *waiting;	/* records in order, each after a struct of relay.c */
	size_t first, end, room;	/* bytes: of the first record; of all; of the memory */
	uint64_t questions;	/* records in WAITING that the helper has */
	bool has_frame_pointers;	/* a sample needs no dump if it is not unwound */
	uint64_t registers;	/* as in struct transform_options */
	bool may_wait;		/* for the helper: no new records come meanwhile */
	const volatile sig_atomic_t *stop;	/* set when the user wants to stop */
	bool is_stopping;	/* STOP was set when a wait began: all waits share one limit */
	uint64_t unwound;	/* dumps that left unwound */
	/* dumps passed on unchanged, because the helper was too slow, or (HUNG) was stopped */
	uint64_t kept;
	uint64_t beyond;	/* dumps left out, because the helper may not unwind them, ... */
	uint64_t late;		/* ... or was too slow */
	uint64_t spared;	/* dumps left out, because the helper did not need to see them */
	uint64_t unseen;	/* samples since the helper said that it needs to see only some */
	bool hung;		/* a helper made no progress for some time, and did not end */
	uint64_t without;	/* dumps passed on unchanged, because no helper ran */
};

/* From now on pass stack dumps to HELPER, which the relay owns. */
void relay_use(struct relay *r, struct helper *helper);

/* Return whether the helper has ended, and it is time to start another. */
bool relay_wants_helper(const struct relay *r);

/* From now on use HELPER in place of the one that has ended; NULL: it could not be started. */
void relay_replace(struct relay *r, struct helper *helper);

/* Write RECORD, of any type. */
void relay_write(struct relay *r, const struct perf_event_header *record);

/* Write RECORD, a SAMPLE of event INDEX with a stack dump, without unused bytes. */
void relay_sample(struct relay *r, const struct perf_event_header *record, uint32_t index);

/* Return an output for records made by the recorder itself; it is valid until relay_end(). */
struct output *relay_begin(struct relay *r);
void relay_end(struct relay *r);

/* Show the helper the records in BYTES, which have been written. */
void relay_show(struct relay *r, const uint8_t *bytes, size_t size);

/* A round has ended: write what is ready.  IS_LAST: write all, and wait for the helper. */
void relay_round(struct relay *r, bool is_last);

/* Return whether records wait. */
static inline bool relay_waits(const struct relay *r)
{
	return r->first < r->end;
}

/* End the helper.  Nothing may wait. */
void relay_stop(struct relay *r);

void relay_release(struct relay *r);
