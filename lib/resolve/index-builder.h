/* SPDX-License-Identifier: Apache-2.0 */
/* index-builder - makes the file that index reads, from answers and from an older one. */
#pragma once
#include "resolve/index.h"

struct index_builder;

/* What OLD has, unless it is NULL, is in it from the start. */
struct index_builder *index_builder_new(const struct index *old);

/*
 * At the addresses of SAME that is the answer; SYMBOL (or NULL) is what the
 * outermost frame is called instead.  By ascending address; what the
 * pointers point to outlives the builder, unchanged.
 */
void index_builder_add(struct index_builder *b, struct extent same,
		       const struct index_answer *answer, const char *symbol);

/* The bytes of the file, for the caller to free, *SIZE of them; NULL: they are too many. */
uint8_t *index_builder_encode(struct index_builder *b, uint64_t key, size_t *size);

void index_builder_free(struct index_builder *b);
