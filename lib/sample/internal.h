/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the sampler share: its state. */
#pragma once
#include "record/events.h"
#include "sample/child.h"
#include "sample/control.h"
#include "sample/flow.h"
#include "sample/sampler.h"
#include "sample/threads.h"

struct sampler {
	const struct sampler_options *options;
	struct output *out;
	struct report *report;
	struct counters counters;
	struct stream_events events;	/* as readers of the stream will know them */
	struct threads threads;
	struct child child;
	struct control control;
	struct flow flow;
	pid_t *leader;		/* the processes of the target that were there at the start */
	size_t leaders;
	struct counters_total *total;	/* of each event, when the last file was ended */
	struct counters_total *before;	/* the same, of the files before that */
	uint32_t tracking;	/* events, the last ones, that tell of mappings only: 0 or 1 */
	int poll;
	int *process;		/* pidfds of those whose end is ours */
	size_t processes, alive;
	uint64_t began, ended;	/* ns of the records' clock */
	uint64_t file_began;	/* the same, of the file that is written now */
	uint64_t bytes;		/* in the files before that */
	uint64_t chance;	/* state of the periods' generator */
	uint64_t varied_at;	/* samples when they were changed last */
	unsigned files;		/* that were ended */
	bool idle;		/* the last round moved nothing */
	bool delayed;		/* counting has not begun */
	bool done;
};

static inline const struct sample_layout *sampler_layout(const struct sampler *s)
{
	return &s->events.event[0].layout;
}

/* All that comes before the kernel's own records. */
void sampler_write_beginning(struct sampler *s);

/* All that comes after them: what each event counted, and the span of time. */
void sampler_write_end(struct sampler *s);

/* For the user: whether each event counted all the time; what was recorded, lost and spent. */
void sampler_summarize(struct sampler *s);

/* Where a file is written and somebody watches: what is sampled; how much was written. */
void sampler_announce(const struct sampler *s);
void sampler_tell_written(const struct sampler *s);

/* If there are no samples, the likely reason. */
void sampler_tell_silence(const struct sampler *s);

/* Whether it is time to begin another file, at NOW (ns); TOLD: a signal has said so. */
bool sampler_file_is_full(const struct sampler *s, uint64_t now, bool told);

/* End this file under a name with the time in it, and begin the next. */
void sampler_begin_next_file(struct sampler *s, uint64_t now);

/* The last file gets a name like the others'. */
void sampler_name_last_file(struct sampler *s);
