/* SPDX-License-Identifier: Apache-2.0 */
/* clock - the kernel's clocks, and times in ns. */
#pragma once
#include <stdint.h>
#include <sys/time.h>
#include <time.h>

/* Return the time of CLOCK, a CLOCK_*, in ns. */
static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec t = { 0 };

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Widen the range of times from *FIRST to *LAST by TIME.  0: no time. */
static inline void clock_widen(uint64_t *first, uint64_t *last, uint64_t time)
{
	if (time == 0)
		return;
	if (*first == 0 || time < *first)
		*first = time;
	if (time > *last)
		*last = time;
}

/* Return SECONDS, at least 0, as select(2) and libevent take them. */
static inline struct timeval clock_timeval(double seconds)
{
	time_t whole = (time_t)seconds;

	return (struct timeval){ .tv_sec = whole,
				 .tv_usec = (suseconds_t)(1e6 * (seconds - (double)whole)) };
}

/* Return the time in ns of the clock for timeouts and durations. */
static inline uint64_t monotonic_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}
