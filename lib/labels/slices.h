/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slices - cuts the time of a recording into equal slices, without knowing its length.
 *
 * Slices start short.  When there are too many, each pair becomes one.  They are counted
 * from time 0 of the stream's clock, so the result depends on the times of the samples
 * only, and not on the order in which the samples come.
 */
#pragma once
#include <stdint.h>
#include <sys/types.h>

/* Zero-initialised except for MOST: no sample yet. */
struct slices {
	uint64_t most;		/* slices at a time; 0: none are wanted */
	uint64_t span;		/* ns in a slice; 0: no sample yet */
	uint64_t first, last;	/* numbers of the slices of the first and the last sample */
	uint64_t start;		/* time of the first sample, in ns */
	pid_t pid;		/* its process: of several at that time the lowest */
};

/*
 * Take a sample of process PID at TIME (not 0) into account.  Return how often the span
 * has doubled.  Shift earlier slice numbers right by the result.
 */
unsigned slices_reach(struct slices *s, uint64_t time, pid_t pid);

/* Return the number of the slice at TIME, which has been taken into account. */
static inline uint64_t slices_at(const struct slices *s, uint64_t time)
{
	return time / s->span;
}
