/* SPDX-License-Identifier: Apache-2.0 */
/* join - joins several streams or files into one, in order of time and with new ids. */
#pragma once
#include "base/output.h"

#include <signal.h>

/* Counts of what was written. */
struct join_counts {
	size_t streams;		/* those that could be read, and were not resolved already */
	uint64_t records;	/* records, without those that define events and features */
	uint64_t samples;
};

/*
 * Write the streams in FILES to OUT as one stream, with VERSION as its recorder's
 * version.  Events with equal names and equivalent attrs become one event.  Streams
 * whose clocks differ (from two hosts, for example) are ordered by the wall clock.
 * Damage is reported to REPORT, and the rest is joined.  Ends early once *STOP is set.
 * Return the counts.  If no stream could be joined, what OUT has got is of no use.
 */
struct join_counts join_streams(const char *const *files, size_t count, const char *version,
				struct output *out, struct report *report,
				const volatile sig_atomic_t *stop);
