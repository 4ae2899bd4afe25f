/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recent - a first cache: maps an address in one generation of an address space to a number.
 *
 * Generations are numbers of lib/process: equal generations mean that an address has the same
 * meaning, so an entry is never stale.  An address may be in one of four neighbouring slots, which
 * share a cache line of the CPU; the first of these is the newest.  A new entry replaces the
 * oldest of its four, so the cache only ever forgets.
 *
 *	if (!recent_find(&r, generation, address, &number))
 *		recent_add(&r, generation, address, number = what a slower way finds);
 */
#pragma once
#include "base/arena.h"
#include "base/hash.h"
#include "base/short-ways.h"

#include <stdbool.h>
#include <stdlib.h>

enum {
	RECENT_WAYS = 4,	/* slots that may hold one address */
	RECENT_FIRST = 1 << 14,	/* slots at the start, and */
	RECENT_MAX = 1 << 20,	/* at most; powers of two */
};

struct recent_slot {
	uint64_t address;
	uint32_t key;		/* recent_key() of the generation; 0: the slot is empty */
	uint32_t number;
};

struct recent {
	struct recent_slot *slot;
	size_t slots;		/* elements of SLOT, a power of two */
	uint32_t salt;		/* changes with each flush */
	uint64_t flushes;
};

/* Replace all slots by SLOTS empty ones.  R is zero-initialised at first. */
static inline void recent_reset(struct recent *r, size_t slots)
{
	free(r->slot);
	r->slots = slots;
	r->slot = mem_aligned(RECENT_WAYS * sizeof(*r->slot), slots * sizeof(*r->slot));
	memset(r->slot, 0, slots * sizeof(*r->slot));
}

static inline void recent_release(struct recent *r)
{
	free(r->slot);
	*r = (struct recent){ 0 };
}

/* Forget all entries, at no cost. */
static inline void recent_flush(struct recent *r)
{
	r->salt = (uint32_t)hash_u64(++r->flushes);
}

/*
 * Return the number that stands for GENERATION until the next flush; 0: nothing of it is kept.
 * All unknown spaces have generation 0.
 */
static inline uint32_t recent_key(const struct recent *r, uint64_t generation)
{
	return generation && generation <= UINT32_MAX ? (uint32_t)generation ^ r->salt : 0;
}

/* Return the RECENT_WAYS slots that may hold ADDRESS. */
static inline struct recent_slot *recent_ways(const struct recent *r, uint64_t generation,
					      uint64_t address)
{
	uint64_t hash = hash_fold(address ^ hash_secret.a, generation ^ hash_secret.b);

	return &r->slot[hash & (r->slots - RECENT_WAYS)];
}

/* Load the slots of ADDRESS into the CPU's caches, for a recent_find() that comes soon. */
static inline void recent_prefetch(const struct recent *r, uint64_t generation, uint64_t address)
{
	__builtin_prefetch(recent_ways(r, generation, address));
}

static inline bool recent_is(const struct recent_slot *slot, uint64_t address, uint32_t key)
{
	return ((slot->address ^ address) | (slot->key ^ key)) == 0;
}

/* Set *NUMBER to the number of ADDRESS in GENERATION.  Return false if it is not known. */
static inline bool recent_find(const struct recent *r, uint64_t generation, uint64_t address,
			       uint32_t *number)
{
	const struct recent_slot *way = recent_ways(r, generation, address);
	uint32_t key = recent_key(r, generation);

	/*
	 * Most hits are in the first way.  The others are compared without a branch, which would
	 * often be mispredicted.
	 */
	unsigned at = 0;
	if (!recent_is(&way[0], address, key))
		for (unsigned i = 1; i < RECENT_WAYS; i++)
			at = recent_is(&way[i], address, key) ? i : at;
	*number = way[at].number;
	return SHORT_WAYS && key && recent_is(&way[at], address, key);
}

/* Keep NUMBER for ADDRESS in GENERATION, which recent_find() has not found. */
static inline void recent_add(struct recent *r, uint64_t generation, uint64_t address,
			      uint32_t number)
{
	uint32_t key = recent_key(r, generation);
	struct recent_slot *way = recent_ways(r, generation, address);

	if (!key)
		return;
	memmove(way + 1, way, (RECENT_WAYS - 1) * sizeof(*way));
	way[0] = (struct recent_slot){ .address = address, .key = key, .number = number };
}
