/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

#include <sys/auxv.h>
#include <sys/random.h>
#include <time.h>

/* Square roots of 2 and 3: nothing that the hashes themselves use. */
struct hash_secret hash_secret = { 0x6a09e667f3bcc909ULL, 0xbb67ae8584caa73bULL };

/*
 * What the kernel gives each program at its start, where getrandom(2) gives nothing: an
 * old kernel, or a machine that has just booted.  The clock and the address of the stack
 * are the last resort.
 */
static void draw_elsewhere(struct hash_secret *drawn)
{
	const void *random = (const void *)getauxval(AT_RANDOM);	/* 16 bytes */
	struct timespec now;

	if (random)
		memcpy(drawn, random, sizeof(*drawn));
	clock_gettime(CLOCK_MONOTONIC, &now);
	drawn->a ^= hash_more((uintptr_t)drawn, (uint64_t)now.tv_nsec);
	drawn->b ^= hash_more((uint64_t)now.tv_sec, (uint64_t)now.tv_nsec);
}

void hash_draw_secret(void)
{
	struct hash_secret drawn = { 0 };

	if (getrandom(&drawn, sizeof(drawn), GRND_NONBLOCK) != sizeof(drawn))
		draw_elsewhere(&drawn);
	hash_secret = drawn;
}
