/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

#include <sys/auxv.h>
#include <sys/random.h>
#include <time.h>

/* From the square roots of 2 and 3; the hash functions do not use these numbers. */
struct hash_secret hash_secret = { 0x6a09e667f3bcc909ULL, 0xbb67ae8584caa73bULL };

/*
 * Draw the secret if getrandom(2) fails (an old kernel, or a machine that has just
 * booted): from the random bytes that the kernel passes to each program, else from the
 * clock and the address of the stack.
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
