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

/*
 * Add the values of PROFILE, each times FACTOR (-1 takes them away).  FILE is for
 * messages.  False (reported) if its sample types are others than those before.
 */
bool merge_add(struct merge *m, const Perftools__Profiles__Profile *profile, int64_t factor,
	       const char *file);

/* Write the sum, without samples whose values are all 0, and free M. */
void merge_write(struct merge *m, enum pack_how how, struct output *out);

void merge_free(struct merge *m);
