/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chains - numbers distinct sequences of frames.
 *
 * Equal sequences are one chain.  Chains are found by a hash of 128 bits with a secret that
 * no input can know: a collision is so unlikely that the frames are not compared.  For the
 * same reason the table also finds a chain by its recorded form, the addresses in one version
 * of an address space, before these are looked up one by one.
 */
#pragma once
#include "base/arena.h"
#include "base/table.h"

#include <stdbool.h>

struct chain {
	const uint32_t *frame;	/* frame ids, the leaf first */
	uint32_t frames;
};

enum { CHAINS_MAX = 1 << 28 };	/* chains; the caller must not add more */

struct chain_key {
	uint64_t a, b;
};

/* A known key, made from frame ids or from addresses. */
struct chain_entry {
	struct chain_key key;
	uint32_t chain : 28;	/* index in chains.chain */
	uint32_t end : 4;	/* for the caller: how the program's stack ends; 0 at first */
	uint32_t hint;		/* for the caller: index of its last stack; 0 at first */
};

/* Zero-initialised: empty. */
struct chains {
	struct chain *chain;		/* in order of first appearance */
	uint32_t count;
	struct table table;		/* over ENTRY */
	struct chain_entry *entry;
	uint32_t entries;
	struct arena arena;		/* the frame ids */
};

/* Return the key of SIZE bytes at BYTES.  Equal bytes with another CONTEXT have another key. */
struct chain_key chains_key(const void *bytes, size_t size, uint64_t context);

/* Return the entry of KEY, or NULL.  Valid until an entry is added. */
struct chain_entry *chains_find(const struct chains *c, struct chain_key key);

/* Return the entry of the chain with these FRAMES frames; add the chain if it is new. */
struct chain_entry *chains_add(struct chains *c, const uint32_t *frame, uint32_t frames);

/* Make KEY, which chains_find() did not find, another key of CHAIN.  Returns its entry. */
struct chain_entry *chains_alias(struct chains *c, struct chain_key key, uint32_t chain);

/* Forget the keys made from addresses, if there are many more keys than chains. */
void chains_limit(struct chains *c);

/* Free all keys and keep the chains: nothing can be found or added after that. */
void chains_seal(struct chains *c);

void chains_release(struct chains *c);
