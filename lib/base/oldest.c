/* SPDX-License-Identifier: Apache-2.0 */
#include "base/oldest.h"

#include <stdlib.h>

static int by_time(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

uint64_t oldest_quarter(uint64_t *used, size_t count)
{
	qsort(used, count, sizeof(*used), by_time);
	return used[count / 4];
}
