/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of source, shared by lookups (source.c) and saving their answers (source-index.c). */
#pragma once
#include "resolve/source.h"

/* Return the sources that SOURCE belongs to. */
static inline const struct sources *source_sources(const struct source *source)
{
	return (const struct sources *)source->image.images;
}

/*
 * Look up ADDRESS in the files themselves, not in the index. Returns the range around ADDRESS
 * with the same answer.
 */
struct extent source_read(struct source *source, uint64_t address, struct source_answer *out);

/* Set KEY to the cache key of F's answers. Returns false if they cannot be cached. */
bool source_key(const struct debug_files *f, struct cache_key *key);

/* Write what was found since the last save to the cache, if a cache is in use. */
void source_save(struct source *source);
