/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache - a directory of indexes, one for each program, for runs to come.
 *
 * A file appears whole or not at all.  One that is damaged or of another
 * version is not used, and made anew.  Any number of runs may use a directory
 * at a time; of two that learn about one program, what the last one learned
 * is kept.
 */
#pragma once
#include "base/report.h"
#include "resolve/index-builder.h"

struct cache {
	const char *directory;
	uint64_t size_max;		/* bytes, of all files */
	struct report *report;
};

/* Of a program. */
struct cache_key {
	const uint8_t *build_id;
	size_t build_id_size;
	uint64_t inputs;		/* all else that answers depend on */
};

/* Use no directory whose files another user may replace; a note says so. */
void cache_check(struct cache *c);

/* NULL: nothing is known yet, or another user has written it. */
struct index *cache_open(const struct cache *c, const struct cache_key *key);

/* Keep what B has; the directory is made if need be.  A failure is noted. */
void cache_save(const struct cache *c, const struct cache_key *key, struct index_builder *b);

/* Remove files, those used longest ago first, until all of them fit. */
void cache_trim(const struct cache *c);
