/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz-jitmap - any bytes as what JIT compilers write; the first says which and where it ends. */
#include "symbol/jitmap.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct jit_symbol found;

	if (size < 2)
		return 0;
	size_t cut = 1 + bytes[0] / 2 % (size - 1);
	size_t (*add)(struct jitmap *, const void *, size_t) =
		bytes[0] & 1 ? jitmap_add_dump : jitmap_add_map;
	struct jitmap *j = jitmap_new(NULL);
	size_t used = add(j, bytes + 1, cut);
	if (used <= size - 1)
		add(j, bytes + 1 + used, size - 1 - used);
	for (size_t i = 0; i + 8 <= size; i++) {
		uint64_t address;
		__builtin_memcpy(&address, bytes + i, 8);
		if (jitmap_find(j, address, address >> 8, &found) && !found.name)
			__builtin_trap();
	}
	jitmap_free(j);
	return 0;
}
