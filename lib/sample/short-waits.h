/* SPDX-License-Identifier: Apache-2.0 */
/*
 * short-waits - samples of waits that are shorter than the user wants to see.
 *
 * Such a sample stays in the stream, with its time and its thread, so that all sums are right.  But
 * its callchain is one frame, [short waits], and it has no registers and no stack: nothing is to
 * unwind.
 *
 *	short_waits_look(w, record, layout, is_wait);	for each record in the rings
 *	short_waits_find(w);				after them
 *	record = short_waits_replace(w, record);	for each sample of a wait
 */
#pragma once
#include "base/buffer.h"
#include "record/events.h"

#include <linux/perf_event.h>
#include <sys/types.h>

/* Zero-initialised except for LEAST and EVENT: nothing was seen. */
struct short_waits {
	uint64_t least;		/* ns: a shorter wait is short; 0: none is */
	const struct stream_event *event;	/* which samples waits */
	struct switch_seen *seen;	/* a struct of short-waits.c; after short_waits_find(): the
					   short waits, by thread and time */
	size_t count, room;
	struct buffer record;	/* the last sample that was replaced */
	uint64_t replaced;	/* samples */
};

/*
 * The frame [short waits] is at this address, with as many bytes; a KSYMBOL record names it.  The
 * kernels of x86-64 and arm64 have nothing there.
 */
#define SHORT_WAITS_ADDRESS 0xffffffffffe10000
enum { SHORT_WAITS_BYTES = 16 };

/* Forget what was seen, and what is short. */
void short_waits_begin(struct short_waits *w);

/* Learn from RECORD.  LAYOUT: of all records.  IS_WAIT: RECORD is a SAMPLE of a wait. */
void short_waits_look(struct short_waits *w, const struct perf_event_header *record,
		      const struct sample_layout *layout, bool is_wait);

/* Find the short waits among all that was seen. */
void short_waits_find(struct short_waits *w);

/*
 * Return what takes the place of RECORD, a SAMPLE of a wait: RECORD itself, if the wait is not
 * short, or another record, which is valid until the next call.
 */
const struct perf_event_header *short_waits_replace(struct short_waits *w,
						    const struct perf_event_header *record,
						    const struct sample_layout *layout);

void short_waits_release(struct short_waits *w);
