/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program-labels - labels that the profiled program gave its goroutines or threads, as labels of
 * samples.
 *
 * The program chooses keys and values, so both are limited: keys by LABEL_KEYS_MAX, the values of
 * a key by MOST.  Further values become "[other]".
 */
#pragma once
#include "labels/labels.h"
#include "resolved/label-sets.h"

/* Zero-initialised: no labels of the program are wanted. */
struct program_labels {
	bool all;		/* every key that a sample has */
	uint64_t most;		/* values of a key */
	struct program_key {
		const char *key;	/* as in the program; owned by the caller */
		uint32_t label;		/* key in struct labels */
		struct intern values;	/* those that are kept */
		uint64_t others;	/* samples with other values, since the last restart */
		uint64_t all_others;
		bool is_seen;		/* some sample has it */
	} key[LABEL_KEYS_MAX];
	uint32_t keys;
	uint64_t keys_left_out;		/* pairs whose key came when there were too many keys */
	/* private: what a pair means, by its id in the sets */
	struct program_value {
		uint32_t key;		/* index in KEY; TABLE_NONE: not wanted */
		bool is_known, is_other;
		int64_t value;
	} *of_pair;
	uint32_t pairs;
	uint64_t sets_version, labels_version;	/* of the ids that these meanings are for */
};

/* Want the label KEY of the program, which is LABEL.  KEY is owned by the caller. */
void program_labels_add(struct program_labels *p, const char *key, uint32_t label);

/* Called for a new key if all are wanted: return the label for it, or TABLE_NONE. */
typedef uint32_t program_labels_new(void *context, const char **key);

/* Set in VALUE the values of L for SET of SETS.  NEW is called with CONTEXT for each new key. */
void program_labels_take(struct program_labels *p, struct labels *l, const struct label_sets *sets,
			 uint32_t set, program_labels_new *new, void *context, int64_t *value);

/* Forget the values: the limit starts again. */
void program_labels_restart(struct program_labels *p);

void program_labels_release(struct program_labels *p);
