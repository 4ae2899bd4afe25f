/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz-jitdump - any bytes as a jitdump file, read in two steps as one that grows. */
#include "symbol/jitmap.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static size_t look_around(struct jitmap *j)
{
	struct jit_symbol found;
	size_t sum = 0;

	for (uint64_t at = 0; at < 4096; at += 61)
		if (jitmap_find(j, at, at % 4 ? at * at : JIT_LATEST, &found))
			sum += strlen(found.name) + (found.file ? strlen(found.file) : 0);
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct jitmap *j = jitmap_new(NULL);
	size_t first = size ? bytes[size - 1] * size / 256 : 0;
	size_t used = jitmap_add_dump(j, bytes, first);

	if (used > first)
		__builtin_trap();
	size_t sum = look_around(j);
	if (jitmap_add_dump(j, bytes + used, size - used) > size - used)
		__builtin_trap();
	sum += look_around(j);
	jitmap_free(j);
	return sum == 1;	/* never, in practice: so that it is computed */
}
