/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gaps BYTES SECONDS - read the clock again and again below BYTES of stack, for SECONDS of CPU
 * time, and print the median length in microseconds of the gaps between two reads.
 *
 * A gap is an interrupt: with some thousands of samples a second, nearly all are samples.  Longer
 * ones, where another process ran, are left out, so the result hardly depends on what else runs.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SHORTEST = 700, LONGEST = 150000 };	/* ns */

static uint32_t gap[1 << 20];
static size_t gaps;

static uint64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

__attribute__((noinline)) static void watch(double seconds)
{
	uint64_t end = now(CLOCK_PROCESS_CPUTIME_ID) + (uint64_t)(seconds * 1e9);

	while (now(CLOCK_PROCESS_CPUTIME_ID) < end) {
		uint64_t last = now(CLOCK_MONOTONIC);
		for (int i = 0; i < 100000; i++) {
			uint64_t next = now(CLOCK_MONOTONIC), length = next - last;
			if (length > SHORTEST && length < LONGEST &&
			    gaps < sizeof(gap) / sizeof(gap[0]))
				gap[gaps++] = (uint32_t)length;
			last = next;
		}
	}
}

/* A frame of 80 bytes on x86-64 for each call. */
__attribute__((noinline)) static int descend(long bytes, double seconds)
{
	volatile char room[64] = { 0 };

	if (bytes <= 0) {
		watch(seconds);
		return room[0];
	}
	return descend(bytes - 80, seconds) + room[1];
}

static int by_length(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	descend(strtol(argv[1], NULL, 10), strtod(argv[2], NULL));
	qsort(gap, gaps, sizeof(gap[0]), by_length);
	printf("%.2f\n", gaps ? gap[gaps / 2] / 1e3 : 0);
}
