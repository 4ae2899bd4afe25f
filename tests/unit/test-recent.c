/* SPDX-License-Identifier: Apache-2.0 */
/* A first cache forgets, but never gives the number of another address, generation or time. */
#include "base/recent.h"
#include "tests/unit/tap.h"

enum { ADDRESSES = 50000, GENERATIONS = 3 };

/* Return the number that stands for ADDRESS in GENERATION. */
static uint32_t number_of(uint64_t generation, uint64_t address)
{
	return (uint32_t)(address * 7 + generation);
}

/* Count the entries that are found, and set *WRONG to those whose number is another one. */
static uint32_t count_found(const struct recent *r, uint32_t *wrong)
{
	uint32_t found = 0, number;

	*wrong = 0;
	for (uint64_t g = 1; g <= GENERATIONS; g++)
		for (uint64_t a = 0; a < ADDRESSES; a++)
			if (recent_find(r, g, a << 4, &number)) {
				found++;
				*wrong += number != number_of(g, a << 4);
			}
	return found;
}

static void fill(struct recent *r)
{
	for (uint64_t g = 1; g <= GENERATIONS; g++)
		for (uint64_t a = 0; a < ADDRESSES; a++)
			recent_add(r, g, a << 4, number_of(g, a << 4));
}

int main(void)
{
	struct recent r = { 0 };
	uint32_t number, wrong;

	recent_reset(&r, RECENT_FIRST);
	tap(count_found(&r, &wrong) == 0, "a new cache is empty");
	fill(&r);
	uint32_t found = count_found(&r, &wrong);
	tap(wrong == 0 && found <= RECENT_FIRST && found > RECENT_FIRST * 9 / 10,
	    "a full cache has an entry in each slot, and each has its own number");
	recent_flush(&r);
	tap(count_found(&r, &wrong) == 0, "a flush forgets all");
	fill(&r);
	tap(count_found(&r, &wrong) == found && wrong == 0, "and the cache is used again");
	recent_reset(&r, 2 * RECENT_FIRST);
	tap(r.slots == 2 * RECENT_FIRST && count_found(&r, &wrong) == 0,
	    "a larger cache is empty, too");

	recent_add(&r, 5, 0x1000, 1);
	recent_flush(&r);
	recent_add(&r, 5, 0x1000, 2);
	tap(recent_find(&r, 5, 0x1000, &number) && number == 2, "the newest entry counts");
	recent_add(&r, 0, 0x2000, 3);
	recent_add(&r, 1ULL << 32, 0x2000, 3);
	tap(!recent_find(&r, 0, 0x2000, &number) && !recent_find(&r, 1ULL << 32, 0x2000, &number),
	    "nothing is kept of unknown spaces, nor of generations with more than 32 bits");
	recent_release(&r);
	return tap_done();
}
