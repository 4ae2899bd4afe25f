/* SPDX-License-Identifier: Apache-2.0 */
/* Shared inside collect: the profiles that are being made, and their completion. */
#pragma once
#include "aggregate/collect.h"

enum {
	AHEAD_MAX = 16,		/* samples that are read at a time */
	MANY_EVENTS = 64,	/* events from which on there is a limit on stacks */
};

/* A sample that was read, before it is counted. */
struct collect_ahead {
	struct record rec;
	bool has_key;
	bool is_whole;		/* SAMPLE is decoded; otherwise PLAIN, EVENT and THREAD are set */
	uint32_t entry;		/* hint for chains_find(): where KEY probably is */
	struct hash_wide key;	/* by which its chain may be found, if HAS_KEY */
	struct resolver_key resolver_key;	/* it is made of this if frames get names */
	uint32_t event;
	struct sample_plain plain;
	struct collect_thread *thread;
	struct sample sample;
};

/*
 * Read FIRST, a SAMPLE, and the samples after it that are available without waiting, into c->ahead.
 * Return their number.  Damaged samples are reported and left out.
 */
uint32_t collect_read_ahead(struct collect *c, const struct record *first);

/*
 * Read FIRST, a CHAIN_SAMPLE, and those after it that are available without waiting, into REC.
 * Return their number.
 */
uint32_t collect_read_chains(struct collect *c, const struct record *first,
			     struct record rec[AHEAD_MAX]);

/* Decode the sample of A, if that was not necessary yet. */
void collect_decode(struct collect *c, struct collect_ahead *a);

/* Forget what is known about threads.  Call it for each record that is not a SAMPLE. */
static inline void collect_forget_threads(struct collect *c)
{
	c->changes++;
}

/* Begin with a new stream: no thread is known. */
void collect_begin_threads(struct collect *c);

/*
 * Read A in the short way: decode its record to PLAIN, and find its thread and its key.  Return
 * false if it needs the long way.
 */
bool collect_read_known(struct collect *c, struct collect_ahead *a);

/* Count A in the short way.  Return false, and count nothing, if it needs the long way. */
bool collect_count_known(struct collect *c, struct collect_ahead *a);

/* Keep LABELS, the label set of A, for the next samples of its thread. */
void collect_know_labels(struct collect *c, struct collect_ahead *a, uint32_t labels);

/* Make the key of A, from its IP and CHAIN in spaces of VERSION. */
static inline void collect_make_key(struct collect_ahead *a, uint64_t version, uint64_t ip,
				    const struct words *chain)
{
	uint64_t context = hash_more(hash_more(version, ip),
				     a->rec.misc & PERF_RECORD_MISC_CPUMODE_MASK);

	a->key = hash_wide(chain->at, 8 * chain->count, context << 1);
	a->entry = TABLE_NONE;
}

/* Set the frames of S, by ids in c->tables.  RAW is NULL if S is resolved. */
void collect_find_frames(struct collect *c, const struct collect_ahead *raw,
			 struct resolved_sample *s);

/* Make room for one more stack in P if a limit is reached. */
void collect_limit_stacks(struct collect *c, struct profile *p);

/* Return whether callchains of samples may change before they are counted: keys are made then. */
static inline bool collect_changes_chains(const struct collect *c)
{
	return c->unwind || c->how.resolve.symbols;
}

/* Set the key of A, by its recorded addresses, if its chain may be found by them. */
void collect_set_key(struct collect *c, struct collect_ahead *a);

/* Make the slices of time reach S: earlier slices may be joined. */
void collect_slice(struct collect *c, const struct resolved_sample *s);

/*
 * Return the labels of lost samples: their slice, at TIME, and that the program's labels are not
 * known; 0: none.
 */
uint32_t collect_lost_labels(struct collect *c, uint64_t time);

/*
 * collect-lost.c: count what REC, a LOST or LOST_SAMPLES record, says.  Count REC, a record at TIME
 * that is not a SAMPLE.
 */
void collect_take_lost(struct collect *c, const struct record *rec);
void collect_count_other(struct collect *c, const struct record *rec, uint64_t time);

/* Count the lost samples of P, which has all samples.  Comment on what was lost. */
void collect_settle_lost(const struct collect *c, struct profile *p);
void collect_comment_losses(const struct collect *c, struct profile *p);

/* collect-other.c: process REC, a record of the kernel or a recorder that is not a SAMPLE. */
void collect_take_other(struct collect *c, const struct record *rec);

/*
 * collect-counted.c: a sample of EVENT with PERIOD is not selected; the recorder has counted EVENT
 * COUNT more times.
 */
void collect_count_excluded(struct collect *c, uint32_t event, uint64_t period);
void collect_count_total(struct collect *c, uint32_t event, uint64_t count);

/* At the end: find the events whose samples stand for more than was counted.  Comment on them. */
void collect_find_excess(struct collect *c);
void collect_comment_excess(const struct collect *c, struct profile *p);

/*
 * Complete the labels of all slices.  DROP_OTHERS: remove all labels except "slice", "run" and
 * "parallelism".
 */
void collect_complete_labels(struct collect *c, bool drop_others);

/* Start with new slices.  Threads that wait lose theirs. */
void collect_forget_slices(struct collect *c);

/*
 * Return the subject that the sample S belongs to.  It is added if S is its first sample.  If S is
 * NULL, return the subject that all samples belong to when they are not split.
 */
struct collect_subject *collect_subject(struct collect *c, const struct resolved_sample *s);

/*
 * Return whether the recorder's counts are compared with the samples: the stream has labels of the
 * program, and one profile has all samples.
 */
bool collect_compares_counts(const struct collect *c);

/* If REC renames a process, rename the subject. */
void collect_rename(struct collect *c, const struct record *rec);

/* A record has TIME (0: unknown): profiles extend to it, and an interval may end before it. */
void collect_time(struct collect *c, uint64_t time);

/* No record came for longer than an interval: the interval is over, unless it is empty so far. */
void collect_silence(struct collect *c);

/* Thread TID runs again at TIME: count the time that it waited. */
void collect_waited(struct collect *c, pid_t tid, uint64_t time);

/* The stream has ended: complete all profiles. */
void collect_end(struct collect *c);

void collect_release_subjects(struct collect *c);
