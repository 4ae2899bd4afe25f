/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks/chains.h"
#include "base/arena.h"

#include <stdlib.h>

static bool has_key(const struct chains *c, uint32_t entry, struct hash_wide key)
{
	return c->entry[entry].a == key.a && c->entry[entry].b == (uint32_t)key.b;
}

struct chain_entry *chains_find(const struct chains *c, struct hash_wide key, uint32_t *hint)
{
	if (*hint >= c->entries || !has_key(c, *hint, key)) {
		struct compact_probe probe = compact_probe(&c->table, (uint32_t)key.a);
		*hint = COMPACT_FIND(&c->table, &probe, i, has_key(c, i, key));
	}
	return *hint == TABLE_NONE ? NULL : &c->entry[*hint];
}

void chains_prefetch_slot(const struct chains *c, struct hash_wide key)
{
	compact_prefetch(&c->table, (uint32_t)key.a);
}

uint32_t chains_prefetch_entry(const struct chains *c, struct hash_wide key)
{
	uint32_t entry = compact_guess(&c->table, (uint32_t)key.a);

	if (entry < c->entries)
		__builtin_prefetch(&c->entry[entry]);
	return entry;
}

static struct chain_entry *add_entry(struct chains *c, struct hash_wide key, uint32_t chain)
{
	c->entry = array_grow(c->entry, c->entries, sizeof(*c->entry));
	c->entry[c->entries] = (struct chain_entry){ .a = key.a, .b = (uint32_t)key.b,
						     .chain = chain };
	if (compact_grow(&c->table, c->entries, COMPACT_FAST))
		for (uint32_t i = 0; i < c->entries; i++)
			compact_put(&c->table, (uint32_t)c->entry[i].a, i);
	compact_put(&c->table, (uint32_t)key.a, c->entries);
	return &c->entry[c->entries++];
}

/* The last LEFT frames of CHAIN, part by part, from the leaf to the root. */
struct chain_parts {
	uint32_t chain, left;
};

/* Return the next frames of P, and set *COUNT to their number; NULL: there are no more. */
static const uint32_t *next_part(const struct chains *c, struct chain_parts *p, uint32_t *count)
{
	const struct chain *chain = &c->chain[p->chain];
	uint32_t skip = chain->frames - p->left;	/* less than OWN: see base_of() */

	if (p->left == 0)
		return NULL;
	*count = chain->own - skip;
	p->left -= *count;
	p->chain = chain->other;
	return c->frame + chain->frame + skip;
}

static bool has_frames(const struct chains *c, uint32_t chain, const uint32_t *frame,
		       uint32_t frames)
{
	struct chain_parts parts = { chain, c->chain[chain].frames };
	const uint32_t *part;
	uint32_t count;

	if (frames != parts.left)
		return false;
	for (; (part = next_part(c, &parts, &count)); frame += count)
		if (memcmp(part, frame, count * sizeof(*frame)) != 0)
			return false;
	return true;
}

/*
 * Return the chain to which a new chain can refer for the last SHARED frames of C's last chain:
 * that chain, or one that it refers to, which has the first of these frames as its own.
 * TABLE_NONE: a new chain should keep all its frames, because SHARED is small, or because there
 * would be too many references to follow.
 */
static uint32_t base_of(const struct chains *c, uint32_t shared)
{
	enum { FEW = 4, LEVELS = 15 };

	if (shared < FEW)
		return TABLE_NONE;
	uint32_t base = c->count - 1;
	while (shared <= (uint32_t)c->chain[base].frames - c->chain[base].own)
		base = c->chain[base].other;
	return c->chain[base].level < LEVELS ? base : TABLE_NONE;
}

/* Return how many last frames C's last chain and a new one share. */
static uint32_t shared_frames(const struct chains *c, const uint32_t *frame, uint32_t frames)
{
	uint32_t last = c->count ? c->chain[c->count - 1].frames : 0, shared = 0;

	while (shared < frames && shared < last &&
	       frame[frames - 1 - shared] == c->last[last - 1 - shared])
		shared++;
	return shared;
}

static void set_last(struct chains *c, const uint32_t *frame, uint32_t frames)
{
	if (frames > c->last_room) {
		c->last_room = 2 * frames;
		c->last = mem_resize(c->last, c->last_room * sizeof(*c->last));
	}
	if (frames)
		memcpy(c->last, frame, frames * sizeof(*frame));
}

/* Keep a copy of FRAMES frames, and return the index of the first. */
static uint32_t keep_frames(struct chains *c, const uint32_t *frame, uint32_t frames)
{
	size_t first = c->frames;

	if (frames > c->frames_room - first) {
		c->frames_room = 2 * c->frames_room + frames;
		c->frame = mem_resize(c->frame, c->frames_room * sizeof(*frame));
	}
	if (frames)
		memcpy(c->frame + first, frame, frames * sizeof(*frame));
	c->frames += frames;
	return (uint32_t)first;
}

static uint32_t add_chain(struct chains *c, const uint32_t *frame, uint32_t frames)
{
	uint32_t shared = shared_frames(c, frame, frames), base = base_of(c, shared);
	uint32_t own = base == TABLE_NONE ? frames : frames - shared;
	struct chain chain = { .frames = (uint16_t)frames, .own = (uint16_t)own };

	chain.frame = keep_frames(c, frame, own);
	if (own < frames) {
		chain.other = base;
		chain.level = (c->chain[base].level + 1u) & 15;
	}
	c->chain = array_grow(c->chain, c->count, sizeof(*c->chain));
	c->chain[c->count] = chain;
	set_last(c, frame, frames);
	return c->count++;
}

/* Return the number of frames of a chain. */
static uint32_t limit_frames(uint32_t frames)
{
	return frames < CHAIN_FRAMES_MAX ? frames : CHAIN_FRAMES_MAX;
}

static uint32_t hash_frames(const uint32_t *frame, uint32_t frames)
{
	return (uint32_t)hash_bytes(frame, frames * sizeof(*frame));
}

/* Put all chains into BY_FRAMES, and keep it complete from now on. */
static void begin_by_frames(struct chains *c)
{
	uint32_t *frame = mem_zeroed(chains_longest(c), sizeof(*frame));

	c->has_addresses = true;
	compact_grow(&c->by_frames, c->count, COMPACT_SMALL);
	for (uint32_t i = 0; i < c->count; i++) {
		c->chain[i].hash = hash_frames(frame, chains_frames(c, i, frame));
		compact_put(&c->by_frames, c->chain[i].hash, i);
	}
	free(frame);
}

/* Return the chain with these frames. */
static uint32_t chain_of(struct chains *c, const uint32_t *frame, uint32_t frames)
{
	uint32_t hash = hash_frames(frame, frames);
	struct compact_probe probe = compact_probe(&c->by_frames, hash);
	uint32_t chain = COMPACT_FIND(&c->by_frames, &probe, i, has_frames(c, i, frame, frames));

	if (chain != TABLE_NONE)
		return chain;
	chain = add_chain(c, frame, frames);
	c->chain[chain].hash = hash;
	if (compact_grow(&c->by_frames, chain, COMPACT_SMALL))
		for (uint32_t i = 0; i <= chain; i++)
			compact_put(&c->by_frames, c->chain[i].hash, i);
	else
		compact_put_at(&c->by_frames, &probe, chain);
	return chain;
}

struct chain_entry *chains_add_as(struct chains *c, struct hash_wide key, const uint32_t *frame,
				  uint32_t frames)
{
	if (!c->has_addresses)
		begin_by_frames(c);
	return add_entry(c, key, chain_of(c, frame, limit_frames(frames)));
}

struct chain_entry *chains_add(struct chains *c, const uint32_t *frame, uint32_t frames)
{
	enum { FRAMES = 1 };	/* the keys of collect_set_key() have even contexts */

	frames = limit_frames(frames);
	struct hash_wide key = hash_wide(frame, frames * sizeof(*frame), FRAMES);
	struct chain_entry *known = chains_find(c, key, &(uint32_t){ TABLE_NONE });

	if (known)
		return known;
	/* If there are no keys of addresses, the key finds every chain. */
	return add_entry(c, key, c->has_addresses ? chain_of(c, frame, frames)
						  : add_chain(c, frame, frames));
}

struct chain_entry *chains_numbered(const struct chains *c, uint32_t number, uint64_t numbering)
{
	if (number >= c->numbers || numbering != c->numbering || !c->number[number])
		return NULL;
	return &c->entry[c->number[number] - 1];
}

void chains_set_number(struct chains *c, const struct chain_entry *entry, uint32_t number,
		       uint64_t numbering)
{
	if (numbering != c->numbering)
		c->numbers = 0;
	c->numbering = numbering;
	for (; c->numbers <= number; c->numbers++) {
		c->number = array_grow(c->number, c->numbers, sizeof(*c->number));
		c->number[c->numbers] = 0;
	}
	c->number[number] = 1 + (uint32_t)(entry - c->entry);
}

bool chains_are_large(const struct chains *c)
{
	return c->frames > UINT32_MAX / 2;
}

static void forget_keys(struct chains *c)
{
	free(c->entry);
	c->entry = NULL;
	c->entries = 0;
	free(c->number);
	c->number = NULL;
	c->numbers = 0;
	compact_release(&c->table);
}

void chains_limit(struct chains *c)
{
	enum { FEW = 1 << 18 };

	if (c->entries >= FEW && c->entries / 4 >= c->count)
		forget_keys(c);
}

uint32_t chains_frames(const struct chains *c, uint32_t chain, uint32_t *to)
{
	struct chain_parts parts = { chain, c->chain[chain].frames };
	uint32_t frames = parts.left, count;
	const uint32_t *part;

	for (; (part = next_part(c, &parts, &count)); to += count)
		memcpy(to, part, count * sizeof(*to));
	return frames;
}

uint32_t chains_calls(const struct chains *c, uint32_t chain, uint32_t depth, uint32_t *to,
		      uint32_t count)
{
	uint32_t frames = c->chain[chain].frames;

	if (depth >= frames)
		return 0;
	if (count > frames - depth)
		count = frames - depth;
	/* Each part has the depths from BEGIN on. */
	for (uint32_t end = depth + count; end > depth;) {
		const struct chain *it = &c->chain[chain];
		uint32_t begin = (uint32_t)it->frames - it->own;
		if (begin < depth)
			begin = depth;
		if (begin < end) {
			const uint32_t *from = c->frame + it->frame + (it->frames - end);
			for (uint32_t n = end - begin; n > 0; n--)
				to[begin - depth + n - 1] = *from++;
			end = begin;
		}
		chain = it->other;
	}
	return count;
}

uint32_t chains_longest(const struct chains *c)
{
	uint32_t longest = 0;

	for (uint32_t i = 0; i < c->count; i++)
		if (c->chain[i].frames > longest)
			longest = c->chain[i].frames;
	return longest;
}

void chains_seal(struct chains *c)
{
	forget_keys(c);
	compact_release(&c->by_frames);
	free(c->last);
	c->last = NULL;
	c->last_room = 0;
}

void chains_release(struct chains *c)
{
	chains_seal(c);
	free(c->chain);
	free(c->frame);
	*c = (struct chains){ 0 };
}
