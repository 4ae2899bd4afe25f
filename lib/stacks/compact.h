/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compact - a hash index that takes a third to half the memory of struct table; for tables with
 * one item per stack.
 *
 *	struct compact_probe probe = compact_probe(&t, hash);
 *	uint32_t id = COMPACT_FIND(&t, &probe, i, item[i] is the one);
 *
 *	if (id == TABLE_NONE) {
 *		if (compact_grow(&t, count, COMPACT_SMALL))
 *			for (uint32_t i = 0; i <= count; i++)
 *				compact_put(&t, hash of item[i], i);
 *		else
 *			compact_put_at(&t, &probe, count);
 *		count++;
 *	}
 *
 * Open addressing, linear probing.  The numbers of slots are 2^n and 3 * 2^n.  The high bits of the
 * hash choose a slot.  Items have ids without gaps, so an id takes few bits.  A slot keeps the id
 * in its low bits, and low bits of the hash in its other bits.  If these differ from those of the
 * hash that is searched for, the item is not the right one, and need not be looked at.  The rest of
 * the hash is not kept, so growing needs the hashes of all items again.
 */
#pragma once
#include "base/table.h"

#include <stdbool.h>

/* Zero-initialised: empty. */
struct compact_table {
	uint32_t *slot;		/* TABLE_NONE: free */
	uint32_t slots;
	uint32_t most;		/* items that there is room for */
	uint32_t bits;		/* of an id; no id has all of them set */
};

struct compact_probe {
	uint32_t at;		/* the next slot to look at */
	uint32_t tag;		/* the part of the hash in a slot */
};

static inline uint32_t compact_ids(const struct compact_table *t)
{
	return (1U << t->bits) - 1;
}

static inline uint32_t compact_home(const struct compact_table *t, uint32_t hash)
{
	return (uint32_t)((uint64_t)hash * t->slots >> 32);
}

static inline struct compact_probe compact_probe(const struct compact_table *t, uint32_t hash)
{
	return (struct compact_probe){ .at = compact_home(t, hash), .tag = hash << t->bits };
}

/* Return the next id with, probably, the same hash, or TABLE_NONE at the end. */
static inline uint32_t compact_next(const struct compact_table *t, struct compact_probe *probe)
{
	if (!t->slot)
		return TABLE_NONE;
	for (;;) {
		uint32_t slot = t->slot[probe->at], rest = slot ^ probe->tag;

		if (slot == TABLE_NONE)
			return TABLE_NONE;
		if (++probe->at == t->slots)
			probe->at = 0;
		if (rest <= compact_ids(t))
			return rest;
	}
}

static inline void compact_prefetch(const struct compact_table *t, uint32_t hash)
{
	if (t->slot)
		__builtin_prefetch(&t->slot[compact_home(t, hash)]);
}

/* Return the id in the first slot for HASH: probably the one that a probe finds; or any number. */
static inline uint32_t compact_guess(const struct compact_table *t, uint32_t hash)
{
	return t->slot ? t->slot[compact_home(t, hash)] & compact_ids(t) : TABLE_NONE;
}

/*
 * Return the id of the item for which IS_IT, an expression of the id I, is true.  If there is no
 * such item, return TABLE_NONE; compact_put_at() can then add it at PROBE.  PROBE must be new.
 */
#define COMPACT_FIND(TABLE, PROBE, I, IS_IT) ({					\
	const struct compact_table *compact_in = (TABLE);			\
	struct compact_probe *compact_at = (PROBE);				\
	uint32_t I;								\
	do									\
		I = compact_next(compact_in, compact_at);			\
	while (I != TABLE_NONE && !(IS_IT));					\
	I; })

/* Maximum load, in twelfths of the slots.  Look-ups are faster if it is lower. */
enum compact_load { COMPACT_FAST = 6, COMPACT_SMALL = 8 };

/* Grow, so that the table has room for COUNT items, and remove all items. */
void compact_resize(struct compact_table *t, uint32_t count, enum compact_load load);

/*
 * Make room for one more item, besides COUNT items, which must be below 2^30.  Return whether the
 * table is empty now, because it has grown: the caller puts all items into it.
 */
static inline bool compact_grow(struct compact_table *t, uint32_t count, enum compact_load load)
{
	if (count < t->most)
		return false;
	compact_resize(t, count + 1, load);
	return true;
}

/* Add item ID, for which there is room, with its HASH. */
static inline void compact_put(struct compact_table *t, uint32_t hash, uint32_t id)
{
	uint32_t at = compact_home(t, hash);

	while (t->slot[at] != TABLE_NONE)
		at = at + 1 < t->slots ? at + 1 : 0;
	t->slot[at] = hash << t->bits | id;
}

/* The same at PROBE, which did not find the item.  The table has not changed since. */
static inline void compact_put_at(struct compact_table *t, const struct compact_probe *probe,
				  uint32_t id)
{
	t->slot[probe->at] = probe->tag | id;
}

/* Remove all items, and keep the room. */
void compact_clear(struct compact_table *t);

void compact_release(struct compact_table *t);
