/* SPDX-License-Identifier: Apache-2.0 */
/* switch-fields - the fields of sched_waking and sched_switch (include/trace/events/sched.h). */
#pragma once
#include "record/tracing-data.h"

enum switch_field {
	FIELD_PID,		/* of sched_waking: the thread that is woken */
	FIELD_PREV_PID, FIELD_PREV_STATE, FIELD_NEXT_PID,	/* of sched_switch */
	FIELD_BY,		/* the thread that makes the sample */
	FIELD_FLAGS,
	SWITCH_FIELDS
};

/* In FIELD_FLAGS: in a hard or soft interrupt (include/linux/trace_events.h). */
enum { FLAGS_INTERRUPT = 0x08 | 0x10 };

/*
 * Return FIELD of RAW, the raw data of a sample of tracepoint ID; 0: there is none.  FORMATS say
 * where it is, as some kernels have more fields before it than others.  What they lack is where
 * most kernels have it.
 */
int64_t switch_field(const struct tracepoints *formats, uint64_t id, struct bytes raw,
		     enum switch_field field);
