/* SPDX-License-Identifier: Apache-2.0 */
/* source's inside: shared by what asks (source.c) and what is kept of it (source-index.c). */
#pragma once
#include "resolve/source.h"

/* What the files themselves say of ADDRESS; returns where around it they say the same. */
struct extent source_read(struct source *source, uint64_t address, struct source_answer *out);

/* By what its answers are kept; false: they cannot be. */
bool source_key(const struct tables *t, struct cache_key *key);
