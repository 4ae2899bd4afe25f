/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pauses - how long to wait after a failure: 1 s, then twice as long each time, up to a minute,
 * and a random share of that, so that many hosts do not come back at the same moment.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum { PAUSE_MOST = 60, PAUSE_ASKED_MOST = 3600 };	/* s: by ourselves, and for Retry-After */

struct pauses {
	double next;		/* s; 0: nothing has failed yet */
	uint64_t seed;
};

/* Return the pause after a failure, in s.  ASKED: what the server asks for, in s; 0: nothing. */
double pauses_next(struct pauses *p, double asked);

/* It worked: the next failure is the first again. */
void pauses_reset(struct pauses *p);

/*
 * Parse TEXT, the value of a header Retry-After: a number of seconds, or a date.  Set *SECONDS from
 * NOW on, at most PAUSE_ASKED_MOST; 0 if the date has passed.  Return false if TEXT is malformed.
 */
bool pauses_parse(const char *text, time_t now, double *seconds);
