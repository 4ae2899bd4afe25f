/* SPDX-License-Identifier: Apache-2.0 */
/* jit_history: against a walk over all functions, of many that cover each other. */
#include "base/arena.h"
#include "symbol/jitmap-internal.h"
#include "tests/unit/tap.h"

#include <stdlib.h>

enum { SPACE = 64, TIMES = 20 };

static uint32_t random_below(uint32_t limit)
{
	static uint64_t state = 88172645463325252;	/* xorshift64 */

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 33) % limit;
}

/* The rule itself: the latest one that was added up to TIME, else the first. */
static uint32_t walk(const struct jit_function *f, uint32_t count, uint64_t address,
		     uint64_t time, bool *varies)
{
	uint32_t found = JIT_NOBODY, first = JIT_NOBODY, owners = 0, timed = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (address - f[i].start >= f[i].size)
			continue;
		owners++;
		timed += f[i].time != 0;
		if (f[i].time <= time && (found == JIT_NOBODY || f[i].time >= f[found].time))
			found = i;
		if (first == JIT_NOBODY || f[i].time < f[first].time)
			first = i;
	}
	*varies = owners > 1 && timed > 0;
	return found == JIT_NOBODY ? first : found;
}

static bool is_right(const struct jit_function *f, uint32_t count)
{
	struct jit_history h = { 0 };
	bool varies, want_varies, good = true;

	jit_history_make(&h, f, count);
	for (uint64_t address = 0; address < SPACE + 40; address++)
		for (uint64_t time = 0; time <= TIMES + 1; time++) {
			uint64_t at = time > TIMES ? JIT_LATEST : time;
			uint32_t want = walk(f, count, address, at, &want_varies);
			good = good && jit_history_find(&h, f, address, at, &varies) == want &&
			       varies == want_varies;
		}
	jit_history_release(&h);
	return good;
}

static void test_random(void)
{
	struct jit_function f[40];
	bool good = true;

	for (int run = 0; run < 500; run++) {
		uint32_t count = random_below(41), untimed = random_below(3);
		for (uint32_t i = 0; i < count; i++)
			f[i] = (struct jit_function){
				.start = random_below(SPACE), .size = 1 + random_below(30),
				.time = untimed == 0 || random_below(3) < untimed
					? 1 + random_below(TIMES) : 0 };
		good = good && is_right(f, count);
	}
	tap(good, "as a walk over all functions finds it");
}

static void test_ends(void)
{
	struct jit_function f[2] = { { .start = 0, .size = UINT64_MAX, .time = 1 },
				     { .start = UINT64_MAX - 1, .size = 1, .time = 2 } };
	struct jit_history h = { 0 };
	bool varies;

	jit_history_make(&h, f, 2);
	tap(jit_history_find(&h, f, 0, 5, &varies) == 0 && !varies &&
	    jit_history_find(&h, f, UINT64_MAX - 1, 1, &varies) == 0 && varies &&
	    jit_history_find(&h, f, UINT64_MAX - 1, 2, &varies) == 1 &&
	    jit_history_find(&h, f, UINT64_MAX, 2, &varies) == JIT_NOBODY,
	    "at both ends of memory");
	jit_history_release(&h);
}

/* All around each other, so that each range has all owners: memory is what counts. */
static void test_nested(void)
{
	enum { COUNT = 1 << 16 };
	struct jit_function *f = mem_zeroed(COUNT, sizeof(*f));
	struct jit_history h = { 0 };
	bool varies, good = true;

	for (uint32_t i = 0; i < COUNT; i++)
		f[i] = (struct jit_function){ .start = COUNT - i, .size = 2 * i + 1,
					      .time = i + 1 };
	jit_history_make(&h, f, COUNT);
	tap(h.first[2 * h.edges] < COUNT * 2 * 17, "nested functions take n log n entries");
	for (uint32_t i = 0; i < COUNT; i += 997)
		good = good && jit_history_find(&h, f, COUNT, i + 1, &varies) == i &&
		       jit_history_find(&h, f, COUNT + i, JIT_LATEST, &varies) == COUNT - 1;
	tap(good, "and each is found at its time");
	jit_history_release(&h);
	free(f);
}

int main(void)
{
	test_random();
	test_ends();
	test_nested();
	return tap_done();
}
