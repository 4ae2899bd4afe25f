/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash - hashes for tables in memory, under a secret that is drawn anew in each run.
 *
 * Keys come from input that others made.  Who does not know the secret cannot make keys
 * that meet in a table.  So a hash must never reach an output: nothing is ordered by it,
 * nothing is named after it.  What has to be the same in each run is a digest
 * (base/digest.h).
 */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Constant until hash_draw_secret(), as in unit tests and fuzzers. */
extern struct hash_secret {
	uint64_t a, b;
} hash_secret;

/* Draw the secret.  Before anything is hashed: command_begin() does so. */
void hash_draw_secret(void);

/* Return both halves of the product: each bit of X and Y has its say in all of it. */
static inline uint64_t hash_fold(uint64_t x, uint64_t y)
{
	unsigned __int128 product = (unsigned __int128)x * y;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* The hash of a sequence: of what came before (HASH), then X.  Order counts. */
static inline uint64_t hash_more(uint64_t hash, uint64_t x)
{
	const uint64_t odd = 0x9e3779b97f4a7c15ULL;

	return hash_fold(hash_fold(hash ^ hash_secret.a, x ^ hash_secret.b), odd);
}

static inline uint64_t hash_u64(uint64_t x)
{
	return hash_more(0, x);
}

static inline uint64_t hash_load(const uint8_t *at, size_t size)
{
	uint64_t word = 0;

	memcpy(&word, at, size);
	return word;
}

/* Two words at a time; the last two may overlap those before. */
static inline uint64_t hash_bytes(const void *bytes, size_t size)
{
	const uint8_t *p = bytes;
	uint64_t hash = hash_secret.a ^ size, x = 0, y = 0;

	for (size_t left = size; left > 16; left -= 16, p += 16)
		hash = hash_fold(hash_load(p, 8) ^ hash_secret.b, hash_load(p + 8, 8) ^ hash);
	size_t rest = (size_t)((const uint8_t *)bytes + size - p);
	if (rest >= 8) {
		x = hash_load(p, 8);
		y = hash_load(p + rest - 8, 8);
	} else if (rest >= 4) {
		x = hash_load(p, 4);
		y = hash_load(p + rest - 4, 4);
	} else if (rest > 0) {
		x = (uint64_t)p[0] << 16 | (uint64_t)p[rest / 2] << 8 | p[rest - 1];
	}
	hash = hash_fold(x ^ hash_secret.b, y ^ hash);
	return hash_more(hash, size);
}
