/* SPDX-License-Identifier: Apache-2.0 */
/* A search with bins finds what a look at all elements finds, however the numbers are spread. */
#include "base/bins.h"
#include "tests/unit/tap.h"

#include <stdlib.h>

enum { MOST = 400 };

static uint64_t number[MOST];

static size_t first_after(size_t count, uint64_t wanted)
{
	size_t i = 0;

	while (i < count && number[i] <= wanted)
		i++;
	return i;
}

/* Compare both ways for numbers at, before and after each of COUNT elements. */
static bool agree(size_t count)
{
	struct arena arena = { 0 };
	struct bins bins = { 0 };
	bool are_equal = true;

	BINS_MAKE(&bins, &arena, count, i, number[i]);
	for (size_t k = 0; k < 3 * count + 2; k++) {
		uint64_t wanted = k >= 3 * count ? -(uint64_t)(k & 1) : number[k / 3] + k % 3 - 1;
		size_t found = BINS_BISECT(&bins, number, wanted, count, i, number[i] > wanted);
		are_equal &= found == first_after(count, wanted);
	}
	arena_release(&arena);
	return are_equal;
}

/* Fill NUMBER with numbers whose distances are below LIMIT, or much longer once in FAR. */
static void fill(uint64_t limit, unsigned far)
{
	uint64_t next = (uint64_t)random() % limit;

	for (size_t i = 0; i < MOST; i++) {
		number[i] = next;
		next += (uint64_t)random() % limit;
		if (far && random() % far == 0)
			next += (uint64_t)random() << 16;
	}
}

int main(void)
{
	static const uint64_t limits[] = { 1, 2, 16, 5000, 1ULL << 40 };
	static const size_t counts[] = { 0, 1, 63, 64, 65, 127, MOST };
	bool are_equal = true;

	for (size_t l = 0; l < sizeof(limits) / sizeof(*limits); l++)
		for (unsigned far = 0; far <= 200; far += 100) {
			fill(limits[l], far);
			for (size_t c = 0; c < sizeof(counts) / sizeof(*counts); c++)
				are_equal &= agree(counts[c]);
		}
	tap(are_equal, "bins give the same index as a look at all elements");
	number[MOST - 1] = UINT64_MAX;
	number[0] = 0;
	tap(agree(MOST), "also of all 64-bit numbers");
	return tap_done();
}
