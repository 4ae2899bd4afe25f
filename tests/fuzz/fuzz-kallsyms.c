/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz-kallsyms - any bytes as a copy of /proc/kallsyms. */
#include "symbol/kallsyms.h"
#include "tests/memory-file.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char file[MEMORY_FILE_PATH];
	int fd = memory_file(bytes, size, file);
	struct kallsyms *k = kallsyms_open(file);
	close(fd);
	for (uint64_t bit = 1; bit; bit <<= 1) {
		const char *module, *name = kallsyms_find(k, bit - 1, &module);
		if (name && strlen(name) + (module ? strlen(module) : 0) > size)
			__builtin_trap();
	}
	kallsyms_address(k, "_text");
	kallsyms_close(k);
	return 0;
}
