/* SPDX-License-Identifier: Apache-2.0 */
#include "linux/cpus.h"
#include "base/slice.h"

#include <stdlib.h>
#include <string.h>

const int *cpus_parse(struct arena *arena, const char *text, size_t *count)
{
	enum { MOST_CPUS = 16384 };
	struct slice left = { text, strlen(text) };
	uint64_t from, to;
	int *cpu = NULL;
	size_t n = 0;

	while (left.size > 0 && n < MOST_CPUS) {
		struct slice range = slice_cut(&left, ",");
		struct slice low = slice_cut(&range, "-");
		if (!slice_number(low, &from))
			break;
		if (range.size == 0 || !slice_number(range, &to))
			to = from;
		for (; from <= to && to < MOST_CPUS && n < MOST_CPUS; from++) {
			cpu = array_grow(cpu, n, sizeof(*cpu));
			cpu[n++] = (int)from;
		}
	}
	const int *kept = n > 0 ? arena_copy(arena, cpu, n * sizeof(*cpu)) : NULL;
	free(cpu);
	*count = n;
	return kept;
}
