/* SPDX-License-Identifier: Apache-2.0 */
/*
 * labels - sets of labels, numbered.
 *
 * The keys are chosen once; a set is one value for each of them, a number or a
 * text (never both under one key), or none.  Set 0 has none at all.
 */
#pragma once
#include "base/intern.h"

#include <stdbool.h>
#include <stdint.h>

enum { LABEL_KEYS_MAX = 32 };

#define LABEL_ABSENT INT64_MIN

struct label_key {
	const char *name;	/* the caller's */
	const char *unit;	/* of numbers; "": none */
	bool is_text;
};

/* Zero-initialised: no keys. */
struct labels {
	struct label_key key[LABEL_KEYS_MAX];
	uint32_t keys;
	struct intern texts;	/* values of texts are ids in it */
	int64_t *value;		/* KEYS of each set, one set after the other */
	uint32_t sets;
	struct table table;
	uint32_t last;		/* set found last: samples come in runs */
};

/* Add a key; its index is returned.  TABLE_NONE: there are too many. */
uint32_t labels_add_key(struct labels *l, struct label_key key);

/* The set of these KEYS values. */
uint32_t labels_set(struct labels *l, const int64_t *value);

/* The KEYS values of a set. */
static inline const int64_t *labels_values(const struct labels *l, uint32_t set)
{
	return l->value + (size_t)set * l->keys;
}

/* Forget all sets and texts, but not the keys.  What was there is returned, to be released. */
struct labels labels_begin_anew(struct labels *l);

/* The set of L that is the SET of OTHER, which has the same keys. */
uint32_t labels_take(struct labels *l, const struct labels *other, uint32_t set);

/*
 * Less than, equal to or greater than 0, as set A comes before B: by content.  RANK is the
 * place of each text, by its id, in an order of the texts.
 */
int labels_compare(const struct labels *l, const uint32_t *rank, uint32_t a, uint32_t b);

void labels_release(struct labels *l);
