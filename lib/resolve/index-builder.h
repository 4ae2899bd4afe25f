/* SPDX-License-Identifier: Apache-2.0 */
/* index-builder - makes an index file from answers and from an older index. */
#pragma once
#include "resolve/index.h"

struct index_builder;

/* Return a builder that has what OLD has. OLD may be NULL. */
struct index_builder *index_builder_new(const struct index *old);

/*
 * Add ANSWER for the addresses of SAME. SYMBOL replaces the name of the outermost frame; NULL: it
 * keeps its name. Call this by ascending address. What ANSWER and SYMBOL point to must outlive
 * the builder unchanged. Too large answers are dropped.
 */
void index_builder_add(struct index_builder *b, struct extent same,
		       const struct index_answer *answer, const char *symbol);

/* Return the *SIZE bytes of the file, for the caller to free. Returns NULL if it is too large. */
uint8_t *index_builder_encode(struct index_builder *b, uint64_t key, size_t *size);

void index_builder_free(struct index_builder *b);
