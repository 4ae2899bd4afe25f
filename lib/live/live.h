/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live - shows the top of a stream on a terminal while the stream comes.
 *
 * Every two seconds what has come is summed up as a slice of time.  The screen shows the
 * slices of the last seconds, by the time at which they came, or all since the start.  Only
 * sums by row are kept, so memory does not depend on the length of the stream.
 */
#pragma once
#include "aggregate/open.h"
#include "show/top-print.h"

struct live_options {
	struct top_how how;
	const char *labels;	/* to ask for, as for labeler_choose() */
	const char *type;	/* sample type; NULL: the stream's default */
	bool by_cumulative;
	double min, min_call;	/* as in struct top_view */
	const volatile sig_atomic_t *stop;	/* set: stop; or NULL */
	uint64_t window;	/* ns that the screen shows, LIVE_WINDOW_MIN to _MAX */
};

#define LIVE_WINDOW_MIN 100000000ull
#define LIVE_WINDOW_MAX 600000000000ull

/* The result at the end: sums of all samples. */
struct live_result {
	char *type, *unit;	/* NULL: no sample type is known */
	struct top top;
	uint64_t samples;	/* that came */
	bool by_cumulative, objects;	/* the user's last choice */
	bool stopped;		/* by a key or a signal, before the end of the stream */
};

/*
 * Show O, a stream, until it ends or a key or signal stops that.  An interrupt restores the
 * terminal; the first one, if stdin is a pipe, then waits for the end of the stream.
 */
struct live_result live_show(struct opened *o, const struct live_options *options,
			     struct report *report);

void live_result_release(struct live_result *r);
