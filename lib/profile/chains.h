/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chains - distinct sequences of frames, numbered.
 *
 * Equal ones are one.  They are found by a hash of 128 bits, under a secret that
 * no input can know: two that differ have the same one once in more samples than any
 * machine will ever take, so that the frames need not be compared.  So the
 * same table finds a chain by what it was recorded as, addresses in a version of an
 * address space, before these are looked up one by one.
 */
#pragma once
#include "base/arena.h"
#include "base/table.h"

#include <stdbool.h>

struct chain {
	const uint32_t *frame;	/* ids, the leaf first */
	uint32_t frames;
};

struct chain_key {
	uint64_t a, b;
};

/* A key that is known: of a sequence of frames, or of addresses. */
struct chain_entry {
	struct chain_key key;
	uint32_t chain;
	uint32_t hint;		/* for the user: where it was counted last; 0 at first */
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

/* The key of SIZE bytes and what they are to be told apart by. */
struct chain_key chains_key(const void *bytes, size_t size, uint64_t context);

/* What KEY means, or NULL.  Valid until something is added. */
struct chain_entry *chains_find(const struct chains *c, struct chain_key key);

/* The chain of these FRAMES, added if it is new. */
struct chain_entry *chains_add(struct chains *c, const uint32_t *frame, uint32_t frames);

/* From now on KEY, which was not found, means CHAIN. */
struct chain_entry *chains_alias(struct chains *c, struct chain_key key, uint32_t chain);

/* Forget what keys of addresses mean, if that has become much more than there are chains. */
void chains_limit(struct chains *c);

/* No more will be added or found: keep the chains alone. */
void chains_seal(struct chains *c);

void chains_release(struct chains *c);
