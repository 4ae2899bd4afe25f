/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table - a hash index over items that the caller keeps in an array.
 *
 *	struct table_probe probe = table_probe(&t, hash);
 *	uint32_t id;
 *
 *	while ((id = table_next(&t, &probe)) != TABLE_NONE)
 *		if (item[id] is the one)
 *			return id;
 *	table_add(&t, hash, id = new item);
 *
 * Open addressing, linear probing, at most half full.  The table keeps the
 * ids and the low 32 bits of each hash, so growing never looks at an item,
 * and a probe rarely meets a wrong one.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define TABLE_NONE UINT32_MAX

struct table_slot {
	uint32_t hash;		/* its low half */
	uint32_t id;		/* TABLE_NONE: free */
};

/* Zero-initialised: empty. */
struct table {
	struct table_slot *slot;
	size_t mask;		/* slots - 1; the number of slots is a power of two */
	size_t used;
};

struct table_probe {
	size_t at;		/* the next slot to look at */
	uint32_t hash;
};

static inline struct table_probe table_probe(const struct table *t, uint64_t hash)
{
	return (struct table_probe){ .at = (uint32_t)hash & t->mask, .hash = (uint32_t)hash };
}

/* The next id whose hash looks the same, or TABLE_NONE: there is none left. */
static inline uint32_t table_next(const struct table *t, struct table_probe *probe)
{
	if (!t->slot)
		return TABLE_NONE;
	for (;;) {
		const struct table_slot *s = &t->slot[probe->at];

		if (s->id == TABLE_NONE)
			return TABLE_NONE;
		probe->at = (probe->at + 1) & t->mask;
		if (s->hash == probe->hash)
			return s->id;
	}
}

/* Add ID, which is not yet there, under HASH. */
void table_add(struct table *t, uint64_t hash, uint32_t id);

/* Remove ID, which is there, under HASH. */
void table_remove(struct table *t, uint64_t hash, uint32_t id);

void table_release(struct table *t);

/* A well mixed hash of one number (the finaliser of MurmurHash3). */
static inline uint64_t hash_u64(uint64_t x)
{
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccdULL;
	x ^= x >> 33;
	x *= 0xc4ceb9fe1a85ec53ULL;
	return x ^ x >> 33;
}

/* The hash of a sequence: of what came before (SEED), then X.  Order counts. */
static inline uint64_t hash_more(uint64_t seed, uint64_t x)
{
	return hash_u64(seed * 0x9e3779b97f4a7c15ULL + x);
}

static inline uint64_t hash_bytes(const void *bytes, size_t size)
{
	const uint8_t *p = bytes;
	uint64_t hash = size, word;

	for (; size >= 8; size -= 8, p += 8) {
		memcpy(&word, p, 8);
		hash = hash_more(hash, word);
	}
	word = 0;
	if (size)
		memcpy(&word, p, size);
	return hash_more(hash, word);
}
