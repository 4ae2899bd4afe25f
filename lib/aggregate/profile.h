/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile - aggregates resolved samples, and writes them as pprof's profile.proto.
 *
 *	struct profile p = { .resolved = &tables, .labels = &labels };
 *
 *	profile_add(&p, chains_add(&p.chains, ...), labels, ...);	for each sample
 *	profile_write(&p, events, origin, out);
 *	profile_release(&p);
 */
#pragma once
#include "base/output.h"
#include "labels/labels.h"
#include "pprof/decode.h"
#include "pprof/pack.h"
#include "resolved/resolved.h"
#include "stacks/chains.h"
#include "stacks/stacks.h"

/* Totals of one event. */
struct profile_event {
	uint64_t samples;
	uint64_t sum;		/* of the samples' periods */
	uint64_t period;	/* of the first sample */
	bool varies;		/* the samples have different periods */
	bool is_waiting;	/* its values are ns that threads waited, not periods */
	unsigned __int128 squares;	/* sum of the squares of the samples' periods */
	uint64_t more_samples;	/* samples that have a value of the further type */
	unsigned __int128 more_squares;	/* sum of the squares of these values */
	uint64_t lost;		/* records lost, according to the stream */
	uint64_t mixed;		/* those of them that may not have been samples */
	uint64_t lost_shown;	/* those of them that are in the stacks */
	uint64_t lost_samples, lost_sum;	/* samples lost, and what they stand for:
						   set by profile_settle_lost() */
	uint64_t total;		/* final count of the event, a limit for lost_sum; 0: unknown */
	uint64_t enabled, running;	/* ns enabled, and ns that it counted; 0: unknown */
	double excess;		/* ratio of what its samples stand for to what was counted; 0: at
				   most 1.1 */
	uint64_t counted;	/* final count of the event, sampled or not; 0: unknown */
};

/* Records that were lost in a slice of time. */
struct profile_lost {
	uint32_t event, labels;
	uint64_t count;
};

/* How sample types are named. */
enum profile_naming {
	NAMING_GO,		/* samples/count (if several: cycles_samples/count), cycles/count */
	NAMING_PERF,		/* cycles_sample/count, cycles_event/count, as perf_to_profile */
};

/* Zero-initialised except for RESOLVED and LABELS: empty. */
struct profile {
	const struct resolved *resolved;	/* defines the frame ids of samples */
	const struct labels *labels;		/* defines the label sets of samples */
	struct resolved own;			/* frames without code, such as [lost] */
	struct table own_table;			/* over the frames of OWN */
	struct chains chains;
	struct stacks stacks;
	struct profile_event *event;		/* by index */
	uint32_t events;
	struct profile_lost *lost;		/* not shown yet */
	size_t losts;
	char run[9];				/* name of the recording; "": it has none */
	bool no_scale;				/* do not scale multiplexed events */
	bool latency;				/* events may have the further type latency, ... */
	bool delays;				/* values are waits: contentions, delay */
	bool wall;				/* ... and the event of waits wall */
	bool as_time;				/* estimate the time of cycles (as-time.h) */
	enum profile_naming naming;
	const char *only;			/* show only events of this name; NULL: all */
	enum pack_how packing;
	uint32_t unsafe;			/* texts that it has with '?' for some bytes */
	uint64_t first_time, last_time;		/* of any record, in the stream's clock; 0: none */
	struct profile_lines {
		char **line;			/* owned by the profile */
		size_t count;
	} comments, facts;			/* for people, and for programs */
};

/* A frame id with this bit is defined in OWN, otherwise in RESOLVED. */
#define FRAME_OWN 0x80000000u

/* Count a sample of EVENT at TIME (0: unknown).  CHAIN, in P->chains, has its frames. */
void profile_add(struct profile *p, struct chain_entry *chain, uint32_t labels, uint32_t event,
		 uint64_t period, uint64_t time);

/* Add COUNT waits of NS in all to EVENT, whose values are times.  CHAIN: NULL if both are 0. */
void profile_add_waits(struct profile *p, struct chain_entry *chain, uint32_t labels,
		       uint32_t event, uint64_t count, uint64_t ns);

/*
 * Add VALUE to the further type of EVENT, at the stack of profile_add().  SAMPLED: a sample has
 * this value; otherwise the value was measured and has no sampling error.
 */
void profile_add_more(struct profile *p, struct chain_entry *chain, uint32_t labels,
		      uint32_t event, uint64_t value, bool sampled);

/* Return the index of EVENT among the values of a stack.  The next index is its further type. */
static inline uint32_t profile_place(const struct profile *p, uint32_t event)
{
	return p->latency || p->wall ? 2 * event : event;
}

/* Return whether EVENT has the further type: latency, or wall. */
bool profile_has_latency(const struct profile *p, const struct stream_events *events,
			 uint32_t event);
bool profile_has_wall(const struct profile *p, const struct stream_events *events,
		      uint32_t event);
bool profile_has_more(const struct profile *p, const struct stream_events *events,
		      uint32_t event);	/* any of the two */

/* Return EVENT of P. */
struct profile_event *profile_event_at(struct profile *p, uint32_t event);

/* Count SAMPLES of EVENT, which stand for SUM, at a stack of the frame NAME, with LABELS. */
void profile_add_named(struct profile *p, const char *name, uint32_t labels, uint32_t event,
		       uint64_t samples, uint64_t sum);

/* Return the id of a frame without code: a function NAME in a mapping NAME. */
uint32_t profile_named_frame(struct profile *p, const char *name);

/* Return the id of a frame that stands for the data at ADDRESS. */
uint32_t profile_data_frame(struct profile *p, uint64_t address);

/*
 * EVENT was enabled for ENABLED more ns, and counted during RUNNING of them.  Unless P->no_scale,
 * its values are scaled up to the whole time enabled.
 */
void profile_ran(struct profile *p, uint32_t event, uint64_t enabled, uint64_t running);

/*
 * lost.c: COUNT more samples of EVENT, which would have had LABELS, were lost.  IS_MIXED: some of
 * these records may have been mappings, names or threads.
 */
void profile_lost(struct profile *p, uint32_t event, uint32_t labels, uint64_t count,
		  bool is_mixed);

/* lost.c: the recorder counted COUNT more occurrences of EVENT, in whatever P shows. */
void profile_total(struct profile *p, uint32_t event, uint64_t count);

/*
 * lost.c: find out how many samples were lost, and what they stand for.  Call it when everything is
 * counted, before the functions below.  KEPT of the records that were not lost were samples, and
 * OTHERS were not; CPUS could be sampled (0: unknown).
 */
void profile_settle_lost(struct profile *p, const struct stream_events *events, double kept,
			 double others, uint32_t cpus);

/* The recorder counted COUNT more occurrences of EVENT, sampled or not. */
void profile_counted(struct profile *p, uint32_t event, uint64_t count);

/*
 * Return the part of the count of EVENT that neither samples nor lost samples stand for; 0 if it is
 * less than a period, or unknown.  Sets *PERIOD to the event's mean period.
 */
uint64_t profile_not_sampled(const struct profile *p, const struct stream_events *events,
			     uint32_t event, uint64_t *period);

/* Add samples at [not sampled] for counts that neither samples nor lost samples stand for. */
void profile_add_not_sampled(struct profile *p, const struct stream_events *events);

/* lost.c: add the lost samples of each event at [lost]. */
void profile_add_lost(struct profile *p, const struct stream_events *events);

/* Return the factor for what EVENT did not count: 1 if it counted all the time it was enabled. */
double profile_multiplexed(const struct profile *p, uint32_t event);

/* Return the factor for the values of EVENT: that one, divided by the event's excess. */
double profile_scale(const struct profile *p, uint32_t event);

/* Return SUM, a value of EVENT, scaled by that factor; INT64_MAX if it does not fit then. */
int64_t profile_scaled(const struct profile *p, uint32_t event, uint64_t sum);

/*
 * as-time.c: return the ns per cycle of the event that P shows as time and set *EVENT, or
 * return 0.
 */
double as_time_factor(const struct profile *p, const struct stream_events *events,
		      uint32_t *event);

/* Add a comment, a line for the reader of the profile. */
void profile_comment(struct profile *p, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Add a fact, a line for programs: pprof does not print it. */
void profile_fact(struct profile *p, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Replace each label set S by MOVED[S]; by none if MOVED is NULL.  Stacks that are then
 * equal become one.
 */
void profile_relabel(struct profile *p, const uint32_t *moved);

/* Remove the labels of all stacks.  Stacks that are then equal become one. */
void profile_drop_labels(struct profile *p);

/*
 * Make room: move the half of the stacks that has fewer samples to one stack, [other stacks].
 * The totals of each event stay the same.
 */
void profile_truncate(struct profile *p);

/*
 * Return whether EVENT has a sample type.  A dummy event, which only carries records, and the event
 * of labels records have none.
 */
bool profile_shows(const struct stream_event *event);

/*
 * Write the profile, compressed as P->packing says, and flush.  OUT reports failures to
 * write.  This frees the stacks, because compression needs their memory.
 */
void profile_write(struct profile *p, const struct stream_events *events,
		   const struct stream_origin *origin, struct output *out);

/* Return the profile, uncompressed, and set *SIZE.  This frees the stacks.  The caller frees it. */
uint8_t *profile_take(struct profile *p, const struct stream_events *events,
		      const struct stream_origin *origin, size_t *size);

/*
 * Return the profile, of the stream FILE, as a decoded one; NULL (reported): it is too large.  Only
 * if profile_has_types().  This frees the stacks, too.
 */
struct decoded *profile_decoded(struct profile *p, const struct stream_events *events,
				const struct stream_origin *origin, const char *file,
				struct report *report);

/* Return whether the profile has a sample type. */
bool profile_has_types(const struct profile *p, const struct stream_events *events);

/*
 * Write the values of EVENT, or of its further type if it has one, as folded lines
 * (pprof/folded-lines.h), one for each stack, and flush.
 */
void profile_write_folded(const struct profile *p, const struct stream_events *events,
			  uint32_t event, struct output *out);

/* Remove all counts, stacks and comments, for the next interval.  Options and RESOLVED stay. */
void profile_clear(struct profile *p);

void profile_release(struct profile *p);
