/* SPDX-License-Identifier: Apache-2.0 */
/* monotonic - the clock for waiting and for measuring time. */
#pragma once
#include <stdint.h>
#include <time.h>

/* Return the time of CLOCK_MONOTONIC, in ns. */
static inline uint64_t monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}
