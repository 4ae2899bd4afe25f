/* SPDX-License-Identifier: Apache-2.0 */
/* span - address ranges that may overlap, and the same flattened for lookup. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#define SPAN_NONE UINT32_MAX

/* An address range and what it belongs to. */
struct span {
	uint64_t start, end;
	uint32_t value;
};

/* Zero-initialised: empty. */
struct spans {
	struct span *at;
	size_t count;
};

/* From START up to the next one's: VALUE, or SPAN_NONE. */
struct flat {
	uint64_t start;
	uint32_t value;
};

/* Addresses from START up to END. */
struct extent {
	uint64_t start, end;
};

/* By ascending start.  The caller frees AT. */
struct flats {
	struct flat *at;
	size_t count;
};

void spans_add(struct spans *s, uint64_t start, uint64_t end, uint32_t value);

/* Where spans overlap, the one added last shows.  S is released. */
struct flats spans_flatten(struct spans *s);

/* The value at ADDRESS, or SPAN_NONE. */
uint32_t flats_find(const struct flats *f, uint64_t address);

/* The same; and SAME, which has ADDRESS, shrinks to where the same value is found around it. */
uint32_t flats_narrow(const struct flats *f, uint64_t address, struct extent *same);

/* SAME shrinks to what it has in common with START up to END. */
static inline void extent_narrow(struct extent *same, uint64_t start, uint64_t end)
{
	if (start > same->start)
		same->start = start;
	if (end < same->end)
		same->end = end;
}
