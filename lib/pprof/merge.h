/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge - adds profiles up, or subtracts them, as pprof does.
 *
 * Profiles can be merged if they have the same sample types.  Equal parts (mappings by
 * build ID or name, functions, locations, samples with their labels) become one.
 */
#pragma once
#include "pprof/decode.h"
#include "pprof/pack.h"

struct merge;

/* Start an empty sum.  The caller passes it to merge_write() or merge_free(). */
struct merge *merge_new(void);

enum merge_side {
	MERGE_SUM,	/* values are added */
	MERGE_BASE,	/* subtract the values, and label the samples pprof::base=true */
};

/*
 * Add PROFILE.  The samples of a base stay separate from the others, as with
 * go tool pprof -diff_base, so that a viewer can show shares of the base.  FILE is the
 * name for messages.  Return false (reported) if its sample types differ from those of
 * the profiles before.
 */
bool merge_add(struct merge *m, const struct decoded *profile, enum merge_side side,
	       const char *file, struct report *report);

/*
 * Add PROFILE to a sum that part_types() has begun: its type I is the type PLACE[I] of the sum, or,
 * if that is TABLE_NONE, left out.  So one profile can show several sides of a recording.
 */
void merge_add_beside(struct merge *m, const struct decoded *profile, const uint32_t *place);

/* Return whether a sum did not fit into 64 bits, and was cut, since the last call. */
bool merge_was_cut(struct merge *m);

/* Add TEXT to the comments of the sum. */
void merge_comment(struct merge *m, const char *text);

/* Return the sum, encoded without samples whose values are all 0; the caller closes or takes it. */
struct pack *merge_pack(struct merge *m);

/* The same: write it, flush OUT, and free M. */
void merge_write(struct merge *m, enum pack_how how, struct output *out);

void merge_free(struct merge *m);
