/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/chains.h"

#include <stdlib.h>

/* Two independent hashes of 64 bits: each word enters both, in different ways. */
struct chain_key chains_key(const void *bytes, size_t size, uint64_t context)
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
	memset(word, 0, sizeof(word));
	if (size)
		memcpy(word, at, size);
	a = hash_fold(a ^ word[0], word[1] ^ odd1 ^ hash_secret.b);
	b = hash_fold(b ^ word[1], word[0] ^ odd2 ^ hash_secret.a);
	return (struct chain_key){ hash_fold(a ^ context, b ^ odd1), hash_fold(b, a ^ odd2) };
}

struct chain_entry *chains_find(const struct chains *c, struct chain_key key)
{
	uint32_t at = TABLE_FIND(&c->table, key.a, i,
				 c->entry[i].key.a == key.a && c->entry[i].key.b == key.b);

	return at == TABLE_NONE ? NULL : &c->entry[at];
}

struct chain_entry *chains_alias(struct chains *c, struct chain_key key, uint32_t chain)
{
	c->entry = array_grow(c->entry, c->entries, sizeof(*c->entry));
	c->entry[c->entries] = (struct chain_entry){ .key = key, .chain = chain };
	table_add(&c->table, key.a, c->entries);
	return &c->entry[c->entries++];
}

static struct chain_key frames_key(const uint32_t *frame, uint32_t frames)
{
	enum { FRAMES = 1 };	/* has_key() passes even contexts only, so this odd one is free */

	return chains_key(frame, frames * sizeof(*frame), FRAMES);
}

void chains_limit(struct chains *c)
{
	enum { FEW = 1 << 18 };

	if (c->entries < FEW || c->entries / 4 < c->count)
		return;
	chains_seal(c);
	for (uint32_t i = 0; i < c->count; i++)
		chains_alias(c, frames_key(c->chain[i].frame, c->chain[i].frames), i);
}

struct chain_entry *chains_add(struct chains *c, const uint32_t *frame, uint32_t frames)
{
	struct chain_key key = frames_key(frame, frames);
	struct chain_entry *known = chains_find(c, key);

	if (known)
		return known;
	c->chain = array_grow(c->chain, c->count, sizeof(*c->chain));
	c->chain[c->count] = (struct chain){
		.frame = arena_copy(&c->arena, frame, frames * sizeof(*frame)), .frames = frames,
	};
	return chains_alias(c, key, c->count++);
}

void chains_seal(struct chains *c)
{
	free(c->entry);
	c->entry = NULL;
	c->entries = 0;
	table_release(&c->table);
}

void chains_release(struct chains *c)
{
	chains_seal(c);
	free(c->chain);
	arena_release(&c->arena);
	*c = (struct chains){ 0 };
}
