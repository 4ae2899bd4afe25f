/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain-index - the chains of the resolved stream: each sequence of frames has one.
 *
 * A cache maps the hash of a callchain, and of all that decides what its addresses mean, straight
 * to a chain.  The callers of this module know what decides that.  The cache also has what most
 * samples need of a chain, so that they need not look at it.
 */
#pragma once
#include "base/recent.h"
#include "base/table.h"
#include "resolved/resolved.h"

/* Zero-initialised except for CHAINS, then chain_index_begin(). */
struct chain_index {
	struct resolved_chains *chains;	/* chains are defined here */
	uint32_t redefined;		/* of these, chains that were probably defined before the
					   last chain_index_forget(), too */
	/* private: */
	uint64_t *earlier;		/* a bit for each chain of that time; NULL: none */
	struct recent known;		/* chains by the hash of a callchain */
	struct table by_frames;		/* over CHAINS */
};

void chain_index_begin(struct chain_index *x);

/* What the cache has of a chain. */
struct known_chain {
	uint32_t id;		/* TABLE_NONE: the chain is not known */
	enum stack_end end;
	bool is_special;	/* for the caller: its frames need a closer look */
};

/* Return what chain_index_keep() has kept for KEY. */
struct known_chain chain_index_find(const struct chain_index *x, struct hash_wide key);

/* Keep CHAIN for KEY, which chain_index_find() did not find. */
void chain_index_keep(struct chain_index *x, struct hash_wide key, struct known_chain chain);

/* Load what is kept for KEY into the CPU's caches. */
static inline void chain_index_prefetch(const struct chain_index *x, struct hash_wide key)
{
	recent_prefetch(&x->known, (uint32_t)key.b, key.a);
}

/* Return the chain of FRAMES frames that ends in END.  It is added if it is new. */
uint32_t chain_index_add(struct chain_index *x, const uint32_t *frame, uint32_t frames,
			 enum stack_end end);

/* Forget all chains: the definitions have forgotten theirs.  Frames keep their ids. */
void chain_index_forget(struct chain_index *x);

/* The same, and frames have new ids. */
void chain_index_restart(struct chain_index *x);

void chain_index_release(struct chain_index *x);
