/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chains - numbers distinct sequences of frames.
 *
 * Equal sequences are one chain.  A chain is found by a key: a hash of 96 bits with a secret
 * that no input can know.  A collision is so unlikely that the frames are not compared.  The
 * key is made from frame ids, or from a recorded form, the addresses in one version of an
 * address space, so that these need not be looked up one by one.  A chain may also have a number
 * in the stream, which finds it without a key.
 *
 * Consecutive samples of a program share most callers, so a chain is kept as a difference: its
 * first frames, and a reference to an earlier chain that has the same last ones.
 */
#pragma once
#include "stacks/compact.h"

struct chain {
	uint32_t frame;		/* index in chains.frame of the first OWN frames, the leaf first */
	uint32_t hash;		/* of all frames, if the chain is in BY_FRAMES */
	uint32_t other : 28;	/* index of a chain with the same last frames; if OWN < FRAMES */
	uint32_t level : 4;	/* number of such references until a chain has all frames */
	uint16_t frames, own;
};

enum { CHAIN_FRAMES_MAX = UINT16_MAX };

enum { CHAINS_MAX = 1 << 28 };	/* chains; the caller must not add more */

/* A known key, made from frame ids or from addresses.  Packed: there is one for each stack. */
struct chain_entry {
	uint64_t a;		/* of the key */
	uint32_t b;		/* the low half of the key's: 96 bits are enough */
	uint32_t chain : 28;	/* index in chains.chain */
	uint32_t end : 4;	/* for the caller: how the program's stack ends; 0 at first */
	uint32_t hint;		/* for the caller: index of its last stack; 0 at first */
} __attribute__((packed, aligned(4)));

/* Zero-initialised: empty. */
struct chains {
	struct chain *chain;		/* in order of first appearance */
	uint32_t count;
	struct compact_table by_frames;	/* over CHAIN, if there are keys of addresses */
	bool has_addresses;		/* there are such keys */
	struct compact_table table;	/* over ENTRY */
	struct chain_entry *entry;
	uint32_t entries;
	uint32_t *number;		/* 1 + index in ENTRY, by number in the stream; 0: none */
	uint32_t numbers;		/* elements of NUMBER */
	uint64_t numbering;		/* of these numbers */
	uint32_t *frame;		/* frame ids */
	size_t frames, frames_room;	/* in use; allocated */
	uint32_t *last;			/* all frames of the chain added last, the leaf first */
	uint32_t last_room;
};

/*
 * Return the entry of KEY, or NULL.  Valid until an entry is added.  *HINT is its index in ENTRY
 * if that was found before; any value is safe.  Sets *HINT to its index.
 */
struct chain_entry *chains_find(const struct chains *c, struct hash_wide key, uint32_t *hint);

/*
 * Prefetch the slot of KEY (first call), then its entry (second call).  The second call returns a
 * hint for chains_find().
 */
void chains_prefetch_slot(const struct chains *c, struct hash_wide key);
uint32_t chains_prefetch_entry(const struct chains *c, struct hash_wide key);

/*
 * Return the entry of the chain with these frames, up to CHAIN_FRAMES_MAX; add the chain if it
 * is new.  Its key is made from the frame ids.
 */
struct chain_entry *chains_add(struct chains *c, const uint32_t *frame, uint32_t frames);

/*
 * The same with KEY, which chains_find() did not find: it becomes the chain's key, or a further key
 * of the chain.
 */
struct chain_entry *chains_add_as(struct chains *c, struct hash_wide key, const uint32_t *frame,
				  uint32_t frames);

/*
 * Return the entry whose chain has NUMBER, or NULL.  The stream may number its chains anew: then
 * NUMBERING is another, too.
 */
struct chain_entry *chains_numbered(const struct chains *c, uint32_t number, uint64_t numbering);

/* Give the chain of ENTRY that number. */
void chains_set_number(struct chains *c, const struct chain_entry *entry, uint32_t number,
		       uint64_t numbering);

/*
 * Return whether so many frames are kept that their indices, which have 32 bits, may soon run out.
 */
bool chains_are_large(const struct chains *c);

/* Forget all keys, if there are many more keys than chains.  New keys are then made again. */
void chains_limit(struct chains *c);

/* Free all keys and keep the chains: nothing can be found or added after that. */
void chains_seal(struct chains *c);

/* Write all frames of CHAIN to TO, the leaf first.  Return their number. */
uint32_t chains_frames(const struct chains *c, uint32_t chain, uint32_t *to);

/*
 * Write up to COUNT frames of CHAIN to TO, in the order of calls, from the frame that DEPTH calls
 * led to: the root has depth 0.  Return their number.
 */
uint32_t chains_calls(const struct chains *c, uint32_t chain, uint32_t depth, uint32_t *to,
		      uint32_t count);

/* Return the number of frames of the longest chain. */
uint32_t chains_longest(const struct chains *c);

void chains_release(struct chains *c);
