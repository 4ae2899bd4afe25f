/* SPDX-License-Identifier: Apache-2.0 */
/*
 * label-sets - numbers the distinct sets of labels that samples have.
 *
 * A set is a list of pairs; a pair is a key and a value.  Sets and pairs have dense ids, so they
 * can index arrays.  Texts are safe to print (base/text.h).  Every sample may have labels of its
 * own, so the sets are forgotten from time to time; VERSION then changes.
 */
#pragma once
#include "base/intern.h"
#include "record/sample.h"

struct label_pair {
	uint32_t key, value;	/* ids in TEXTS */
};

/* Zero-initialised: empty. */
struct label_sets {
	struct intern texts;
	struct label_pair *pair;	/* distinct pairs */
	struct label_set {
		const uint32_t *pair;	/* ids; no key comes twice */
		uint32_t pairs;
	} *set;
	uint32_t pairs, sets;
	uint64_t version;		/* changes whenever an id may mean another set or pair */
	/* private: */
	struct label_known_bytes {	/* bytes of a labels record, and their set */
		const uint8_t *bytes;
		uint32_t size, set;
	} *recorded;
	uint32_t recorded_count, last;	/* LAST: index of the entry found last */
	struct table pair_table, set_table, recorded_table;
	struct arena arena;
};

enum { LABEL_SET_PAIRS_MAX = 255 };

/* Return the id of the set of LABELS, which label_join_take() has checked. */
uint32_t label_sets_of_sample(struct label_sets *l, const struct sample_labels *labels);

/* Return whether there are so many sets that the caller should forget them soon. */
bool label_sets_is_full(const struct label_sets *l);

/* Forget all sets and pairs.  The version changes. */
void label_sets_forget(struct label_sets *l);

void label_sets_release(struct label_sets *l);
