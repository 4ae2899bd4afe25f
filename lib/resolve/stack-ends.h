/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack-ends - counts how the program's stacks end, for advice at the end of a stream, and for
 * the comments of a profile.
 */
#pragma once
#include "base/report.h"
#include "record/events.h"
#include "record/origin.h"
#include "record/stack-end.h"

/* Zero-initialised: nothing counted. */
struct stack_ends {
	uint64_t count[STACK_ENDS];	/* stacks, by how they end */
	uint64_t followed[STACK_ENDS];	/* of these, stacks that were found by frame pointers */
	uint64_t java;			/* of these, cut in code that Java compiled */
	uint64_t dumps;			/* stack dumps that were not unwound */
	const char *command;		/* the stream's command, as last seen ... */
	bool is_unwound;		/* ... and whether it has pmu-unwind */
};

/*
 * Return whether the kernel found the program's callers of events with ATTR by frame pointers,
 * in the stream with ORIGIN.
 */
bool stack_ends_follows(struct stack_ends *s, const struct perf_event_attr *attr,
			const struct stream_origin *origin);

/* Return the name that stands for END at the root of a stack, or NULL. */
const char *stack_end_name(enum stack_end end);

/* Count a stack that ends in END.  FOLLOWS: stack_ends_follows() of its event. */
static inline void stack_ends_count(struct stack_ends *s, enum stack_end end, bool follows)
{
	s->count[end]++;
	s->followed[end] += end != STACK_NONE && follows;
}

/* Count the end of SAMPLE's stack, and its dump; ATTR is its event's.  Report the first dump. */
void stack_ends_add(struct stack_ends *s, const struct perf_event_attr *attr,
		    const struct stream_origin *origin, const struct sample *sample,
		    enum stack_end end, struct report *report);

/* Set TEXT to the shares of cut stacks, such as "0.3 % no code"; "": no stack was cut. */
void stack_ends_text(const struct stack_ends *s, char *text, size_t size);

/* Report the counts (-v), and what would help if many stacks are cut. */
void stack_ends_report(const struct stack_ends *s, struct report *report);
