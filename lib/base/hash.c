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

/* Make two independent hashes of 64 bits: each word enters both, in different ways. */
struct hash_wide hash_wide(const void *bytes, size_t size, uint64_t context)
{
	const uint64_t odd1 = 0x9e3779b97f4a7c15ULL, odd2 = 0xd1b54a32d192ed03ULL;
	const uint8_t *at = bytes;
	uint64_t word[2];

	uint64_t a = hash_secret.a ^ size, b = hash_secret.b ^ context;
	for (; size >= sizeof(word); size -= sizeof(word), at += sizeof(word)) {
		memcpy(word, at, sizeof(word));
		a = hash_fold(a ^ word[0], word[1] ^ odd1 ^ hash_secret.b);
		b = hash_fold(b ^ word[1], word[0] ^ odd2 ^ hash_secret.a);
	}
	word[0] = word[1] = 0;
	if (size & 8)
		memcpy(&word[0], at, 8);
	if (size & 4)
		memcpy((uint8_t *)word + (size & 8), at + (size & 8), 4);
	a = hash_fold(a ^ word[0], word[1] ^ odd1 ^ hash_secret.b);
	b = hash_fold(b ^ word[1], word[0] ^ odd2 ^ hash_secret.a);
	return (struct hash_wide){ hash_fold(a ^ context, b ^ odd1), hash_fold(b, a ^ odd2) };
}
