/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collect - a stream, raw or resolved, to profiles.
 *
 * Samples of a raw stream go through the same resolver that pmu-symbolize
 * has; usually without symbols: their frames are addresses in objects, which pprof
 * can name later by itself.
 */
#pragma once
#include "profile/facts.h"
#include "profile/profile.h"
#include "profile/waits.h"
#include "record/group.h"
#include "resolve/resolver.h"
#include "stream/choice.h"

/* How a stream is cut into profiles. */
enum collect_split { SPLIT_NOT, SPLIT_PROCESSES, SPLIT_THREADS };

/* Zero-initialised, but for CHOICE (CHOICE_ALL): one profile of all. */
struct collect_options {
	struct resolver_options resolve;
	struct choice choice;		/* samples that are wanted */
	const char *labels;		/* names, as facts_choose() takes them; NULL: as is usual */
	enum collect_split split;
	uint64_t interval;		/* ns that a profile lasts; 0: to the end */
	uint64_t max_stacks;		/* in a profile; 0: as many as come */
	bool data_frames;		/* the address of data is the leaf */
	bool drop_lost;			/* no samples for those that never came */
	bool not_sampled;		/* samples for what was counted, but not sampled */
	bool no_scale;
	enum profile_naming naming;
	enum pack_how pack;
};

/* A profile that samples go to. */
struct collect_part {
	pid_t id;		/* of the process or thread; 0: of all */
	uint32_t comm;		/* string in TABLES: the name in the first sample */
	const char *process;	/* what the process ID is called, in the end */
	struct profile profile;
};

struct collect;

/* What is done with the profile of PART when it is complete. */
typedef void collect_done(struct collect *c, struct collect_part *part, void *context);

struct collect {
	struct collect_options how;
	struct resolved tables;
	struct facts facts;
	struct stream_reader *in;
	uint64_t lost;		/* samples that never came into the stream, by its own word */
	uint64_t throttled;	/* times that an event was stopped for coming too fast */
	uint64_t lost_before, throttled_before;	/* of these, in intervals before */
	uint64_t samples;	/* that were wanted */
	struct resolved past;	/* the tables of intervals before, for what is in hand; or empty */
	/* the rest is the implementation's */
	struct report *report;
	struct resolver *resolver;
	struct waits waits;
	struct groups groups;
	struct collect_part *part;
	uint32_t parts;
	struct table part_table;
	uint32_t last_part;
	uint64_t interval_end;	/* in the stream's clock; 0: no sample has come */
	uint64_t first_time, last_time;	/* of any record in it; 0: none */
	struct profile told;	/* its comments are what every profile gets */
	collect_done *done;
	void *context;
	uint32_t *frame;	/* room for a sample's */
	pid_t first_pid;
	bool several_processes;
	bool many_events;	/* more than stacks can be kept for; it was reported */
	bool usual_labels;	/* which go if there is one process only */
	bool is_resolved;	/* a filter before us has resolved it */
	bool is_raw;		/* samples came that none had; a stream is never both */
	bool has_end;		/* and its END came, with counts that agree */
};

/* False, and *WRONG says which, if there is a label that is none. */
bool collect_init(struct collect *c, const struct collect_options *how, struct report *report,
		  const char **wrong);

/*
 * Take in all records of IN, to its end.  DONE is called for each profile, as soon as it is
 * complete, with comments that say where, how and how well it was recorded.
 */
void collect_stream(struct collect *c, struct stream_reader *in, collect_done *done,
		    void *context);

void collect_release(struct collect *c);
