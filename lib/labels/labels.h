/* SPDX-License-Identifier: Apache-2.0 */
/*
 * labels - numbers distinct sets of labels.
 *
 * Keys are only added.  A set has one value for each key: a number or a text
 * (never both under one key), or LABEL_ABSENT.  Set 0 has no values.
 */
#pragma once
#include "base/intern.h"

#include <stdbool.h>
#include <stdint.h>

enum { LABEL_KEYS_MAX = 32 };

#define LABEL_ABSENT INT64_MIN

struct label_key {
	const char *name;	/* owned by the caller */
	const char *unit;	/* unit of numbers; "": none */
	bool is_text;
	bool is_sorted;		/* comes after the other keys, in the order of their names */
};

/* Zero-initialised: no keys. */
struct labels {
	struct label_key key[LABEL_KEYS_MAX];
	uint32_t keys;
	uint8_t order[LABEL_KEYS_MAX];	/* in which keys are written and compared */
	struct intern texts;	/* a text value is an id in this */
	int64_t *value;		/* KEYS values for each set */
	uint32_t sets;
	struct table table;	/* over the sets */
	uint32_t last;		/* set found last: samples come in runs */
	uint64_t version;	/* changes when ids of texts and sets get new meanings */
};

/*
 * Add KEY and return its index, or TABLE_NONE if there are too many keys.  Existing sets have no
 * value for it.
 */
uint32_t labels_add_key(struct labels *l, struct label_key key);

/* Return the set with these values, one for each key. */
uint32_t labels_set(struct labels *l, const int64_t *value);

/* Return the values of SET, one for each key. */
static inline const int64_t *labels_values(const struct labels *l, uint32_t set)
{
	return l->value + (size_t)set * l->keys;
}

/* Remove all sets and texts, keep the keys.  Returns the old labels, for the caller to release. */
struct labels labels_restart(struct labels *l);

/* Add the SET of OTHER, which has the same keys, to L, and return its number in L. */
uint32_t labels_take(struct labels *l, const struct labels *other, uint32_t set);

/*
 * Compare sets A and B by content, as for qsort().  RANK has the rank of each text, by its id,
 * among the sorted texts.
 */
int labels_compare(const struct labels *l, const uint32_t *rank, uint32_t a, uint32_t b);

void labels_release(struct labels *l);
