/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collect - aggregates a stream, raw or resolved, to profiles.
 *
 * Samples of a raw stream go through the resolver that pmu-symbolize also uses, but
 * usually without symbols: their frames are addresses in objects, which pprof can
 * symbolize later.
 */
#pragma once
#include "aggregate/labeler.h"
#include "aggregate/profile.h"
#include "labels/label-join.h"
#include "record/group.h"
#include "record/loss.h"
#include "resolve/resolver.h"
#include "stream/selection.h"
#include "unwind/leaf.h"
#include "waits/off-cpu.h"
#include "waits/on-cpu.h"
#include "waits/pairing.h"
#include "waits/running.h"

/* How a stream is cut into profiles. */
enum collect_split { SPLIT_NOT, SPLIT_PROCESSES, SPLIT_THREADS };

/* Zero-initialised except for SELECTION (SELECTION_ALL): one profile of all samples. */
struct collect_options {
	struct resolver_options resolve;
	struct selection selection;	/* selects samples */
	const char *labels;		/* list for labeler_choose(), or "none"; NULL: default */
	enum collect_split split;
	uint64_t interval;		/* ns per profile; 0: until the stream ends */
	uint64_t slices;		/* this many, to twice as many, slices of time; 0: none */
	uint64_t slice_stacks;		/* fewer slices if these make more stacks; 0: any */
	uint64_t max_stacks;		/* per profile; 0: no limit */
	bool data_frames;		/* make the sample's data address its leaf */
	bool only_data;			/* of a resolved stream: only samples with a data address,
					   and name the offsets of data frames */
	bool unwind;			/* unwind stack dumps of a raw stream */
	bool mark_cut;			/* say at the root of a cut stack why it was cut */
	bool drop_lost;			/* do not show lost samples */
	bool not_sampled;		/* show what was counted, but not sampled */
	bool no_scale;			/* do not scale multiplexed events */
	bool latency;			/* add types: periods divided by the threads that run */
	bool parallelism;		/* label samples by the number of threads that run */
	bool wall;			/* add a type: time on CPUs and waiting time */
	bool as_time;			/* add a type: estimated time of cycles */
	enum pairing_mode blame;	/* a profile of waits, and of nothing else */
	bool all_waits;			/* with PAIRING_BLOCK: also those that no thread ended */
	uint32_t links;			/* with PAIRING_CAUSES: threads in a stack; 0: 3 */
	uint64_t label_values;		/* values of a label of the program; 0: 1,000 */
	enum profile_naming naming;
	enum pack_how pack;
};

/* The slices of time that a profile has, if its user says nothing about labels. */
enum { COLLECT_USUAL_SLICES = 20, COLLECT_USUAL_STACKS = 100000 };

/* What a profile is about, if a stream is cut into profiles: a process, a thread, or all. */
struct collect_subject {
	pid_t id;		/* process or thread; 0: all */
	char *name;		/* last name of process ID, or name of thread ID in its first
				   sample; owned */
	struct label_counts labels;	/* of its samples, since the last cut */
	struct profile profile;
};

/* What is known of an event's count. */
struct collect_counted {
	double total;		/* the recorder's count; 0: unknown */
	double excluded;	/* the sum of the periods of the samples that are not selected */
	double excess;		/* how many times the total all samples stand for; 0: at most 1.1 */
};

struct collect;

/* Called with each complete SUBJECT: the caller writes its profile. */
typedef void collect_done(struct collect *c, struct collect_subject *subject, void *context);

struct collect {
	struct collect_options how;
	struct resolved tables;
	struct labeler labeler;
	struct stream_reader *in;
	const struct stream_events *events;	/* of IN */
	struct loss_counts lost;	/* records lost, according to the stream */
	uint64_t throttled;	/* times that the kernel throttled an event */
	struct loss_counts lost_before;	/* counts of these in earlier intervals */
	uint64_t throttled_before;
	uint64_t samples_before;	/* selected samples of earlier intervals */
	uint64_t received, others;	/* in this interval: samples that are not selected, and
					   records of rings that are not samples */
	uint64_t samples;	/* selected samples */
	struct label_counts labels;	/* of these, if the stream has labels */
	struct resolved past;	/* old tables, valid until the next record; or empty */
	/* private: */
	struct report *report;
	struct resolver *resolver;
	struct resolved_reader reader;	/* of a resolved stream */
	struct unwind *unwind;	/* NULL: stack dumps are not unwound */
	struct collect_ahead *ahead;	/* the samples that were read last */
	struct collect_thread *thread;	/* threads of samples; see collect-known.c */
	uint64_t changes;	/* how often the knowledge about threads became invalid */
	bool knows;		/* HOW allows to count samples of known threads in the short way */
	uint8_t *unwound;	/* RECORD_MAX_SIZE bytes: the record of the current sample */
	struct off_cpu off_cpu;
	struct blame *blame;	/* NULL: it is not asked for */
	struct running running;
	struct on_cpu on_cpu;	/* if HOW adds the time of threads */
	struct groups groups;
	struct label_join join;
	struct leaf_callers leaf_callers;	/* of a raw stream whose frames get names */
	struct collect_subject *subject;
	uint32_t subjects;
	struct table subject_table;
	uint32_t last_subject;
	uint64_t interval_end;	/* in the stream's clock; 0: no sample yet */
	uint64_t first_time, last_time;	/* of records in the interval; 0: none */
	struct stack_ends ends;	/* of a resolved stream; see collect_ends() */
	struct profile shared_comments;	/* only comments, which every profile gets */
	char *filters;		/* the programs that the stream passed through, each after " | " */
	collect_done *done;
	void *context;
	struct collect_counted *counted;	/* by event */
	uint32_t counteds;	/* size of COUNTED */
	uint32_t *frame;	/* room for the frames of a sample */
	pid_t first_pid;	/* of the first selected sample */
	bool several_processes;
	bool selects;		/* HOW selects samples */
	bool usual_labels;	/* the labels are the default, which is dropped if there is only one
				   process */
	bool is_resolved;	/* a filter before us has resolved the stream */
	bool is_raw;		/* it has raw samples; a stream is never both */
	bool has_end;		/* its END record came, with the right counts */
};

/* Return false and point *WRONG to the name if HOW asks for an unknown label. */
bool collect_init(struct collect *c, const struct collect_options *how, struct report *report,
		  const char **wrong);

/*
 * Process all records of IN.  Calls DONE for each profile as soon as it is complete, with
 * comments that say where, how and how well it was recorded.
 */
void collect_stream(struct collect *c, struct stream_reader *in, collect_done *done,
		    void *context);

/*
 * The same in steps, for a caller that does other things between records: collect_next()
 * processes one record, or a batch of samples that are already buffered, and returns false at the
 * end; collect_cut() calls DONE for what has been collected since the last cut, if there is any.
 */
void collect_begin(struct collect *c, struct stream_reader *in, collect_done *done,
		   void *context);
bool collect_next(struct collect *c);
void collect_cut(struct collect *c);

/*
 * Count the waits of threads that still wait, up to a moment ago: for a stream that is recorded
 * now.  Call it before collect_cut().
 */
void collect_count_waits(struct collect *c);

void collect_finish(struct collect *c);

/*
 * collect-report.c: report what the stream lacks for what was asked for, and how many samples have
 * labels of the program.
 */
void collect_report(const struct collect *c, struct report *report);

/* Return whether a profile of waits is asked for, but the stream does not have what it needs. */
bool collect_lacks_waits(const struct collect *c);

/* Return how the stacks of the selected samples end. */
const struct stack_ends *collect_ends(const struct collect *c);

/* Return whether a profile has the estimated time of cycles. */
bool collect_has_time(const struct collect *c);

void collect_release(struct collect *c);
