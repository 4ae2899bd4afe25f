/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile - resolved samples, aggregated, to pprof's profile.proto.
 *
 *	struct profile p = { .resolved = &tables, .labels = &labels };
 *
 *	profile_add(&p, chains_add(&p.chains, ...), labels, ...);	for each
 *	profile_write(&p, events, origin, out);
 *	profile_release(&p);
 */
#pragma once
#include "base/output.h"
#include "profile/chains.h"
#include "profile/labels.h"
#include "profile/pack.h"
#include "profile/stacks.h"
#include "stream/resolved.h"

/* What is learned of an event from its samples. */
struct profile_event {
	uint64_t samples;
	uint64_t sum;		/* of their periods */
	uint64_t period;	/* of the first one */
	bool varies;		/* others had another: the event has no one period */
	bool is_waiting;	/* its values are ns that threads waited, not periods */
	uint64_t lost;		/* samples that never came into the stream, by its own word */
	uint64_t enabled, running;	/* ns that it should have counted, and did; 0: not known */
	uint64_t counted;	/* of it in all, sampled or not; 0: not known */
};

/* How the sample types are called. */
enum profile_naming {
	NAMING_GO,		/* samples/count, cycles/count; cycles_samples/count of several */
	NAMING_PERF,		/* cycles_sample/count, cycles_event/count, as perf_to_profile */
};

/* Zero-initialised but for RESOLVED and LABELS: empty. */
struct profile {
	const struct resolved *resolved;	/* what the samples' frame ids mean */
	const struct labels *labels;		/* and what their sets of labels do */
	struct resolved own;			/* frames that are no code: [lost] */
	struct table own_table;
	struct chains chains;
	struct stacks stacks;
	struct profile_event *event;		/* by index */
	uint32_t events;
	bool no_scale;				/* values as counted, however short a time */
	enum profile_naming naming;
	const char *only;			/* the one event that is shown; NULL: all */
	enum pack_how packing;
	uint64_t first_time, last_time;		/* of any record, in the stream's clock; 0: none */
	char **comment;				/* ours */
	size_t comments;
};

/* Frames of OWN are told from those of RESOLVED by this bit of their ids. */
#define FRAME_OWN 0x80000000u

/* Count a sample of EVENT, whose frames are those of CHAIN, of P's chains, at TIME. */
void profile_add(struct profile *p, struct chain_entry *chain, uint32_t labels, uint32_t event,
		 uint64_t period, uint64_t time);

/* Count SAMPLES, of SUM in all, of EVENT on one frame, [NAME], in a mapping of this name. */
void profile_add_named(struct profile *p, const char *name, uint32_t event, uint64_t samples,
		       uint64_t sum);

/* The id of a frame that is no code: of a function, in a mapping, both called NAME. */
uint32_t profile_named_frame(struct profile *p, const char *name);

/* The id of a frame that stands for the data at ADDRESS. */
uint32_t profile_data_frame(struct profile *p, uint64_t address);

/*
 * Event EVENT should have counted for ENABLED ns more, and did for RUNNING ns.
 * Unless NO_SCALE its values are scaled by what it was not counted for.
 */
void profile_ran(struct profile *p, uint32_t event, uint64_t enabled, uint64_t running);

/* COUNT samples of EVENT never came. */
void profile_lost(struct profile *p, uint32_t event, uint64_t count);

/* EVENT was counted so often in all, as the recorder says. */
void profile_counted(struct profile *p, uint32_t event, uint64_t count);

/* Take in, as samples of [not sampled], what was counted and is neither in samples nor lost. */
void profile_add_not_sampled(struct profile *p, const struct stream_events *events);

/* Take in what was lost of each event as samples of [lost], each of the event's period. */
void profile_add_lost(struct profile *p, const struct stream_events *events);

/* What to multiply the values of event EVENT by: 1 where it counted all the time. */
double profile_scale(const struct profile *p, uint32_t event);

/* Something happened at TIME (0: unknown): the profile's duration covers it. */
void profile_time(struct profile *p, uint64_t time);

/* A line for the people who read the profile. */
void profile_comment(struct profile *p, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Forget the labels of all stacks: those that are equal without them become one. */
void profile_drop_labels(struct profile *p);

/*
 * Make room: the half of the stacks with fewer samples becomes one, [truncated].
 * Each event's totals stay what they are.
 */
void profile_truncate(struct profile *p);

/* Whether EVENT has a sample type: what counts nothing, but carries others' records, has none. */
bool profile_shows(const struct stream_event *event);

/*
 * Write the profile, packed, and flush.  Failures to write are reported by OUT.  The
 * stacks are gone then: their memory is needed for packing.
 */
void profile_write(struct profile *p, const struct stream_events *events,
		   const struct stream_origin *origin, struct output *out);

/*
 * Write the values of event EVENT as text, a line for each stack: frames from
 * the root to the leaf with semicolons between, a space, the value.
 */
void profile_write_folded(const struct profile *p, uint32_t event, struct output *out);

/* Forget what was counted, and keep what is known of events; RESOLVED is untouched. */
void profile_clear(struct profile *p);

void profile_release(struct profile *p);
