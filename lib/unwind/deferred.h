/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deferred - adds the user part of callchains, which the kernel records later, to their samples.
 *
 * Since Linux 6.19, an event with attr.defer_callchain does not walk the user's stack in a
 * sample: the sample's callchain ends in PERF_CONTEXT_USER_DEFERRED and a cookie.  When the
 * thread returns to user space, a record CALLCHAIN_DEFERRED has the cookie and the user's words;
 * they belong to all samples of that thread with that cookie.
 *
 * A sample keeps its place in the stream, so it and all later records are held until its words
 * come: at most for one further round, DEFERRED_SAMPLES samples or DEFERRED_BYTES.  After that the
 * sample is written without the words.
 */
#pragma once
#include "base/output.h"
#include "record/sample.h"

enum {
	DEFERRED_SAMPLES = 4096,	/* waiting samples at most */
	DEFERRED_BYTES = 16 << 20,	/* held bytes at most */
};

struct deferred;

struct deferred *deferred_new(void);

/* Clear attr.defer_callchain and defer_output in *ATTR. */
void deferred_clear_attr(struct perf_event_attr *attr);

/*
 * Write the SIZE bytes of a record to OUT, now or when what is before it can be written.  CHAIN:
 * for a sample, the offset in bytes of its callchain's count; 0: it is not a sample, or has none.
 */
void deferred_write(struct deferred *d, const void *record, size_t size, size_t chain, pid_t tid,
		    struct output *out);

/*
 * Process REC, a CALLCHAIN_DEFERRED record of thread TID.  Return false if it is damaged.  The
 * record itself is not written.
 */
bool deferred_take(struct deferred *d, const struct record *rec, pid_t tid, struct output *out);

/* A round ends: write samples that have waited for a whole round, without their words. */
void deferred_round(struct deferred *d, struct output *out);

/* The stream ends: write everything. */
void deferred_end(struct deferred *d, struct output *out);

/* Set *MERGED to the number of samples that got their words, *WITHOUT to that of the others. */
void deferred_counts(const struct deferred *d, uint64_t *merged, uint64_t *without);

void deferred_free(struct deferred *d);
