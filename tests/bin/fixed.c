/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fixed BYTES ROUNDS - do a fixed amount of work below BYTES of stack, and print how many seconds
 * of CPU time it took.
 *
 * The work reads 16 KiB again and again, so it also shows what an interrupt takes out of the
 * first cache.  The difference between two runs is what others cost this process.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t table[2048];

__attribute__((noinline)) static uint64_t work(long rounds)
{
	uint64_t sum = 0;

	for (long r = 0; r < rounds; r++)
		for (int i = 0; i < 2048; i++)
			sum = (sum ^ table[i]) * 6364136223846793005u + (uint64_t)i;
	return sum;
}

/* A frame of 80 bytes on x86-64 for each call. */
__attribute__((noinline)) static uint64_t descend(long bytes, long rounds)
{
	volatile char room[64] = { 0 };

	if (bytes <= 0)
		return work(rounds) + (uint64_t)room[0];
	return descend(bytes - 80, rounds) + (uint64_t)room[1];
}

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	for (int i = 0; i < 2048; i++)
		table[i] = (uint64_t)i;
	double start = cpu_seconds();
	uint64_t sum = descend(strtol(argv[1], NULL, 10), strtol(argv[2], NULL, 10));
	fprintf(sum == 1 ? stderr : stdout, "%.6f\n", cpu_seconds() - start);
	return 0;
}
