/* SPDX-License-Identifier: Apache-2.0 */
/* join - several streams, or files, as one: in order of time, with ids of its own. */
#pragma once
#include "base/output.h"

#include <signal.h>

/* What was joined. */
struct join_counts {
	uint64_t records;	/* written, but for those that say what the stream is */
	uint64_t samples;
};

/*
 * Write the streams in FILES to OUT as one, which begins with the recorder's
 * VERSION.  Equal events, by all that matters of their attr and by name,
 * become one.  Streams whose clocks have other origins, as those of two hosts,
 * are put in order by the wall clock.  What is wrong is reported to REPORT, and
 * the rest used.  Ends early once *STOP is set.
 */
struct join_counts join_streams(const char *const *files, size_t count, const char *version,
				struct output *out, struct report *report,
				const volatile sig_atomic_t *stop);
