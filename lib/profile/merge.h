/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge - profiles added up, or taken away from each other, as pprof does.
 *
 * Profiles can be merged that have the same sample types.  What is the same in
 * several (mappings by build ID or name, functions, locations, samples with their
 * labels) becomes one.
 */
#pragma once
#include "profile/decode.h"
#include "profile/pack.h"

struct merge;

struct merge *merge_new(struct report *report);

enum merge_side {
	MERGE_SUM,	/* values are added */
	MERGE_BASE,	/* values are subtracted, and samples get the label pprof::base=true */
};

/*
 * Add PROFILE.  The samples of a base stay apart from the others, as go tool pprof
 * -diff_base keeps them, so that a viewer can show shares of the base.  FILE is for
 * messages.  False (reported) if its sample types differ from those before.
 */
bool merge_add(struct merge *m, const struct decoded *profile, enum merge_side side,
	       const char *file);

/* Write the sum, without samples whose values are all 0, and free M. */
void merge_write(struct merge *m, enum pack_how how, struct output *out);

void merge_free(struct merge *m);
