/* SPDX-License-Identifier: Apache-2.0 */
#include "base/oldest.h"
#include "base/sort.h"

#include <stdlib.h>

uint64_t oldest_quarter(uint64_t *used, size_t count)
{
	qsort(used, count, sizeof(*used), sort_compare_u64);
	return used[count / 4];
}
