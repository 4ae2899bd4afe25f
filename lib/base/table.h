/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table - a hash index over items that the caller keeps in an array.
 *
 *	uint32_t id = TABLE_FIND(&t, hash, i, item[i] is the one);
 *
 *	if (id == TABLE_NONE)
 *		table_add(&t, hash, id = new item);
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

static inline void table_prefetch(const struct table *t, uint64_t hash)
{
	if (t->slot)
		__builtin_prefetch(&t->slot[(uint32_t)hash & t->mask]);
}

/* Return the id in the first slot for HASH: probably the one that a probe finds; or TABLE_NONE. */
static inline uint32_t table_guess(const struct table *t, uint64_t hash)
{
	return t->slot ? t->slot[(uint32_t)hash & t->mask].id : TABLE_NONE;
}

/*
 * Return the id of the item with HASH for which IS_IT holds, an expression of the id I, or
 * TABLE_NONE.  A macro, because keys differ, and each sample takes several lookups.
 */
#define TABLE_FIND(TABLE, HASH, I, IS_IT) ({				\
	const struct table *table_in = (TABLE);				\
	struct table_probe table_at = table_probe(table_in, HASH);	\
	uint32_t I;							\
	do								\
		I = table_next(table_in, &table_at);			\
	while (I != TABLE_NONE && !(IS_IT));				\
	I; })

/* Add ID, which is not in the table yet, with its HASH. */
void table_add(struct table *t, uint64_t hash, uint32_t id);

/* Remove ID, which is in the table with HASH. */
void table_remove(struct table *t, uint64_t hash, uint32_t id);

void table_release(struct table *t);
