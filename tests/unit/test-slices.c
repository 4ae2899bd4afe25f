/* SPDX-License-Identifier: Apache-2.0 */
/* Slices of time: their number and length depend on the times only, in any order. */
#include "labels/slices.h"
#include "tests/unit/tap.h"

#include <stdlib.h>

enum { TIMES = 500, MOST = 40 };

/* Take all times, from FIRST on in steps of STEP.  Follow the first slice. */
static struct slices slices_of(const uint64_t *time, size_t first, size_t step)
{
	struct slices s = { .most = MOST };
	uint64_t mine = 0;

	for (size_t i = 0; i < TIMES; i++) {
		size_t at = (first + i * step) % TIMES;
		mine >>= slices_reach(&s, time[at], (pid_t)at);
		if (i == 0)
			mine = slices_at(&s, time[at]);
	}
	tap(mine == slices_at(&s, time[first]), "a slice keeps its times as pairs become one");
	return s;
}

int main(void)
{
	uint64_t time[TIMES], seed = 7;

	for (uint64_t length = 10000000; length < UINT64_MAX / 1000; length *= 13) {
		for (size_t i = 0; i < TIMES; i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			time[i] = 123456789012 + (seed >> 20) % length;
		}
		struct slices a = slices_of(time, 0, 1), b = slices_of(time, 9, 7);
		struct slices c = slices_of(time, 99, TIMES - 1);
		tap(a.first == b.first && a.last == b.last && a.span == b.span &&
		   a.start == b.start && a.pid == b.pid, "the order makes no difference");
		tap(a.first == c.first && a.last == c.last && a.span == c.span &&
		   a.start == c.start && a.pid == c.pid, "nor does the reverse order");
		tap(a.last - a.first < MOST, "there are not too many slices");
		tap(a.span == 10000000 || a.last - a.first >= MOST / 2, "nor too few");
	}
	return tap_done();
}
