/* SPDX-License-Identifier: Apache-2.0 */
/* transform - unwinds the stacks of samples, in the helper process. */
#pragma once
#include "base/report.h"
#include "record/events.h"
#include "unwind/unwind.h"

struct transform;

struct transform_options {
	/*
	 * Mask of registers that all samples keep: they have no other registers and no stack.  0: a
	 * sample may still pass unchanged, so that events keep the fields of dumps.
	 */
	uint64_t registers;
	bool hurries;		/* the helper has a high priority, if it may */
	bool judges;		/* compare stacks with the kernel's: transform_is_spared() */
	struct unwind_budget budget;
};

/* Return a transform of SAMPLEs of EVENTS.  EVENTS and REPORT must outlive it. */
struct transform *transform_new(const struct stream_events *events,
				const struct transform_options *options, struct report *report);

/* Follow RECORD, of any type but SAMPLE. */
void transform_follow(struct transform *t, const struct perf_event_header *record);

/*
 * Write to OUT (RECORD_MAX_SIZE bytes) what replaces RECORD, a SAMPLE of event INDEX.  Returns its
 * size in bytes; 0: RECORD stays as it is.
 */
size_t transform_sample(struct transform *t, const struct perf_event_header *record,
			uint32_t index, uint8_t *out);

/* Return whether frame pointers find nearly all callers: as unwind_is_spared(). */
bool transform_is_spared(const struct transform *t);

/* Report what was done, and free T. */
void transform_end(struct transform *t);

/*
 * Change ATTR, an attr in the stream, to describe the samples that transform_sample() writes.
 * REGISTERS: as in the options.
 */
void transform_attr(struct perf_event_attr *attr, uint64_t registers, struct report *report);
