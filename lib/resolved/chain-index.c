/* SPDX-License-Identifier: Apache-2.0 */
#include "resolved/chain-index.h"

/* A number in the cache: the id of a chain, the end of the stack, whether it is special. */
enum { ID_BITS = 28, END_BITS = 3 };

enum {
	EARLIER_BITS = 1 << 23,
	EARLIER_MAX = EARLIER_BITS / 4,	/* chains; with more, a bit that is set says little */
};

_Static_assert(STACK_ENDS <= 1 << END_BITS, "the end of a stack fits");

/* 96 bits of the key are compared. */
struct known_chain chain_index_find(const struct chain_index *x, struct hash_wide key)
{
	uint32_t number;

	if (!recent_find(&x->known, (uint32_t)key.b, key.a, &number))
		return (struct known_chain){ .id = TABLE_NONE };
	return (struct known_chain){
		.id = number & ((1U << ID_BITS) - 1),
		.end = (enum stack_end)(number >> ID_BITS & ((1U << END_BITS) - 1)),
		.is_special = number >> (ID_BITS + END_BITS) };
}

void chain_index_keep(struct chain_index *x, struct hash_wide key, struct known_chain chain)
{
	enum { SHARE = 2 };	/* minimum of slots per chain, up to RECENT_MAX */

	if (chain.id >> ID_BITS)
		return;
	if (x->chains->count > x->known.slots / SHARE && x->known.slots < RECENT_MAX)
		recent_reset(&x->known, 2 * x->known.slots);
	recent_add(&x->known, (uint32_t)key.b, key.a, chain.id |
		   (uint32_t)chain.end << ID_BITS |
		   (uint32_t)chain.is_special << (ID_BITS + END_BITS));
}

static bool is_chain(const struct resolved_chains *c, uint32_t id, const uint32_t *frame,
		     uint32_t frames, enum stack_end end)
{
	const struct resolved_chain *chain = &c->chain[id];

	return chain->frames == frames && chain->end == end &&
	       !memcmp(c->frame + chain->first, frame, frames * sizeof(*frame));
}

/* Return whether a chain with HASH was probably defined before chains were forgotten. */
static bool was_defined(const struct chain_index *x, uint64_t hash)
{
	uint32_t bit = (uint32_t)hash % EARLIER_BITS;

	return x->earlier && x->earlier[bit / 64] >> bit % 64 & 1;
}

uint32_t chain_index_add(struct chain_index *x, const uint32_t *frame, uint32_t frames,
			 enum stack_end end)
{
	if (frames > RESOLVED_FRAMES_MAX)
		frames = RESOLVED_FRAMES_MAX;
	uint64_t hash = hash_more(hash_bytes(frame, frames * sizeof(*frame)), (uint64_t)end);
	uint32_t id = TABLE_FIND(&x->by_frames, hash, i,
				 is_chain(x->chains, i, frame, frames, end));

	if (id != TABLE_NONE)
		return id;
	x->redefined += was_defined(x, hash);
	id = resolved_add_chain(x->chains, frame, frames, end);
	table_add(&x->by_frames, hash, id);
	return id;
}

void chain_index_begin(struct chain_index *x)
{
	recent_reset(&x->known, RECENT_FIRST);
}

void chain_index_restart(struct chain_index *x)
{
	recent_reset(&x->known, RECENT_FIRST);
	table_release(&x->by_frames);
	free(x->earlier);
	x->earlier = NULL;
	x->redefined = 0;
}

void chain_index_forget(struct chain_index *x)
{
	const struct table *t = &x->by_frames;
	uint64_t *earlier = NULL;

	if (t->used <= EARLIER_MAX) {
		earlier = mem_zeroed(EARLIER_BITS / 64, sizeof(*earlier));
		for (size_t i = 0; t->slot && i <= t->mask; i++) {
			uint32_t bit = t->slot[i].hash % EARLIER_BITS;
			if (t->slot[i].id != TABLE_NONE)
				earlier[bit / 64] |= 1ULL << bit % 64;
		}
	}
	chain_index_restart(x);
	x->earlier = earlier;
}

void chain_index_release(struct chain_index *x)
{
	recent_release(&x->known);
	table_release(&x->by_frames);
	free(x->earlier);
}
