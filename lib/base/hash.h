/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash - hashes for tables in memory, keyed with a secret that is new in each run.
 *
 * Keys may come from an attacker.  Without the secret nobody can make keys that collide.
 * So a hash must never reach the output: do not sort by it or derive names from it.  For
 * numbers that are the same in each run, use a digest (base/digest.h).
 */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A constant until hash_draw_secret(); unit tests and fuzzers keep the constant. */
extern struct hash_secret {
	uint64_t a, b;
} hash_secret;

/* Set a random secret.  command_begin() calls this, before anything is hashed. */
void hash_draw_secret(void);

/* Return the XOR of both halves of the product: each bit of X and Y affects all its bits. */
static inline uint64_t hash_fold(uint64_t x, uint64_t y)
{
	unsigned __int128 product = (unsigned __int128)x * y;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Return the hash of a sequence: HASH of the numbers so far, then X.  Order counts. */
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

/* A hash of 128 bits: a collision is so unlikely that items need not be compared. */
struct hash_wide {
	uint64_t a, b;
};

/*
 * Return the hash of SIZE bytes at BYTES, a multiple of 4.  Equal bytes with another CONTEXT have
 * another hash.
 */
struct hash_wide hash_wide(const void *bytes, size_t size, uint64_t context);

/* Reads two words at a time; the last two may overlap each other. */
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
