/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz-unpack - any bytes as a file of a kernel module, which may be compressed. */
#include "elf/elf.h"

#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	enum { LARGEST = 256 << 20 };	/* bytes */
	struct elf_symbol symbol;
	const char *why;
	int fd = memfd_create("module", MFD_CLOEXEC);

	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size) {
		close(fd);
		return 0;
	}
	struct elf *elf = elf_open_packed(fd, &why);
	if (elf) {
		struct elf_bytes image = elf_image(elf);
		if (image.size > LARGEST || image.size > 64 * size ||
		    (image.at && image.at[image.size]))
			__builtin_trap();
		elf_symbol(elf, 0, &symbol);
	} else if (!*why) {
		__builtin_trap();
	}
	elf_close(elf);
	return 0;
}
