/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz-archive - any bytes as a ZIP archive: what is found is in it, and is found by its name. */
#include "locate/internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const struct mapped zip = { .at = bytes, .size = size };
	struct archive_file file, same;

	archive_cost(&zip);
	for (size_t at = 0; at < size && at < 4096; at += 1 + at / 8) {
		if (!archive_find_at(&zip, at, &file))
			continue;
		if (file.offset > at || file.size > size - file.offset ||
		    at - file.offset >= file.size || !archive_find_name(&zip, file.name, &same) ||
		    same.offset != file.offset || same.size != file.size)
			__builtin_trap();
	}
	if (size)
		archive_find_name(&zip, "a", &file);
	return 0;
}
