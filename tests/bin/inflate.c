/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inflate ELF - unpack the sections that addresses are resolved from, and do nothing else: the
 * limit for one address in a compressed debug file.
 */
#include "elf/elf.h"

#include <fcntl.h>

int main(int argc, char **argv)
{
	static const char *const names[] = {
		".debug_info", ".debug_abbrev", ".debug_line", ".debug_str", ".debug_line_str",
		".debug_ranges", ".debug_rnglists", ".debug_addr", ".debug_str_offsets",
	};
	int fd = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	const char *why;
	struct elf *elf = fd < 0 ? NULL : elf_open(fd, &why);
	struct elf_bytes bytes;

	for (size_t i = 0; elf && i < sizeof(names) / sizeof(*names); i++)
		elf_section(elf, names[i], &bytes);
	elf_close(elf);
	return !elf;
}
