/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache - a directory of indexes, one for each program, and of copies of the running kernel's
 * symbols, for later runs.
 *
 * A file appears complete or not at all. A file that is damaged or has another version is not
 * used, and is rebuilt. Several runs may use a directory at the same time. If two of them write
 * the index of the same program, the last one wins.
 */
#pragma once
#include "base/report.h"
#include "linux/kernel-info.h"
#include "resolve/index.h"
#include "symbol/kallsyms.h"

struct cache {
	const char *directory;		/* NULL: no cache */
	uint64_t size_max;		/* bytes of all files together */
	struct report *report;
};

/* The key of a program's index. */
struct cache_key {
	const uint8_t *build_id;
	size_t build_id_size;
	uint64_t inputs;		/* hash of everything else that answers depend on */
};

/* Stop using the directory, with a note, if another user may replace its files. */
void cache_check(struct cache *c);

/* Open the index of KEY. Returns NULL if it is missing, damaged or not trusted. */
struct index *cache_open(const struct cache *c, const struct cache_key *key);

/* Write the index in B for KEY. Makes the directory if needed. A failure is reported in a note. */
void cache_save(const struct cache *c, const struct cache_key *key, struct index_builder *b);

/*
 * Return our copy of the symbols of the kernel's code, or of its VARIABLES, in STATE.  Return
 * NULL if the copy is missing, damaged or of another state, or if others could have written it.
 * Only the user who made a copy can read it, because it shows addresses that the kernel may hide
 * from others.
 */
struct kallsyms *cache_open_kernel(const struct cache *c, const struct kernel_state *state,
				   bool variables);

/* Write a copy of K, which was read after STATE, unless the state has changed meanwhile. */
void cache_save_kernel(const struct cache *c, const struct kernel_state *state,
		       const struct kallsyms *k, bool variables);

/* Remove files, least recently used first, until all of them take at most SIZE_MAX bytes. */
void cache_trim(const struct cache *c);
