/* SPDX-License-Identifier: Apache-2.0 */
/* Flattened spans give at each address the span that was added last there, whatever their order. */
#include "base/span.h"
#include "tests/unit/tap.h"

#include <stdlib.h>

enum { SPANS = 300, ADDRESSES = 1000 };

static struct span span[SPANS];

static uint32_t last_at(uint64_t address)
{
	uint32_t value = SPAN_NONE;

	for (size_t i = 0; i < SPANS; i++)
		if (span[i].start <= address && address < span[i].end)
			value = span[i].value;
	return value;
}

/* Flatten all of SPAN, and compare at each address, and far away. */
static bool agree(void)
{
	struct spans spans = { 0 };
	struct arena arena = { 0 };
	bool are_equal = true;

	for (size_t i = 0; i < SPANS; i++)
		spans_add(&spans, span[i].start, span[i].end, span[i].value);
	struct flats flats = spans_flatten(&spans, &arena);
	for (uint64_t address = 0; address < ADDRESSES + 10; address++) {
		struct extent same = { 0, UINT64_MAX };
		are_equal &= flats_narrow(&flats, address, &same) == last_at(address);
		are_equal &= same.start <= address && address < same.end;
	}
	are_equal &= flats_narrow(&flats, UINT64_MAX - 1, &(struct extent){ 0, UINT64_MAX }) ==
		     last_at(UINT64_MAX - 1);
	arena_release(&arena);
	spans_release(&spans);
	return are_equal;
}

static uint64_t any_below(uint64_t limit)
{
	return (uint64_t)random() % limit;
}

int main(void)
{
	bool are_equal = true;

	for (int round = 0; round < 50; round++) {
		for (uint32_t i = 0; i < SPANS; i++) {
			uint64_t start = any_below(ADDRESSES - 100);
			span[i] = (struct span){ start, start + 1 + any_below(round + 1), i };
		}
		are_equal &= agree();
	}
	tap(are_equal, "overlapping spans: the last wins");
	are_equal = true;
	for (int round = 0; round < 50; round++) {
		for (uint32_t i = 0; i < SPANS; i++)
			span[i] = (struct span){ any_below(ADDRESSES), any_below(ADDRESSES), i };
		/* as of a symbol at a high address, whose size is hostile */
		span[any_below(SPANS)] = (struct span){ UINT64_MAX - any_below(9), 7, 1 };
		are_equal &= agree();
	}
	tap(are_equal, "a span that ends before it begins has no address, and does no harm");
	return tap_done();
}
