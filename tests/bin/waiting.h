/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waiting - what the programs that know their waits have in common.
 *
 * Each prints to stderr what it knows about itself, a line each:
 *
 *	truth waited KIND LOCK FUNCTION NS	so long FUNCTION waited for LOCK
 *	truth caused KIND LOCK FUNCTION NS	so long others waited for LOCK because of FUNCTION
 *	truth napped KIND LOCK FUNCTION NS	the part of it in which FUNCTION was in nap()
 *	truth unsure KIND LOCK - NS		the part of it that no function is to blame for
 *
 * LOCK is the name of a variable, or - where there is none.  Times are those of CLOCK_MONOTONIC.
 */
#pragma once
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

/* One that stands in callchains whatever the compiler thinks of it. */
#define FUNCTION __attribute__((noinline)) static

/* Keeps a call before the end of a function from becoming a jump. */
#define STAY __asm__ volatile("")

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

FUNCTION void nap(unsigned us)
{
	struct timespec rest = { us / 1000000, us % 1000000 * 1000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &rest, &rest))
		;
	STAY;
}

__attribute__((unused))
static void truth(const char *verb, const char *kind, const char *lock, const char *function,
		  uint64_t ns)
{
	fprintf(stderr, "truth %s %s %s %s %" PRIu64 "\n", verb, kind, lock, function, ns);
}
