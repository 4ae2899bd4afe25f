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
 * Open addressing, linear probing, at most half full.  The table keeps the id
 * and the low 32 bits of the hash of each item: growing needs no items, and a
 * probe rarely returns the id of a wrong item.
 */
#pragma once
#include "base/hash.h"

#include <stddef.h>
#include <stdint.h>

#define TABLE_NONE UINT32_MAX

struct table_slot {
	uint32_t hash;		/* low half of the hash */
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

/* Return the next id with the same low half of its hash, or TABLE_NONE at the end. */
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

/* Add ID, which is not in the table yet, with its HASH. */
void table_add(struct table *t, uint64_t hash, uint32_t id);

/* Remove ID, which is in the table with HASH. */
void table_remove(struct table *t, uint64_t hash, uint32_t id);

void table_release(struct table *t);
