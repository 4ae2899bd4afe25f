/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz-dwarf - any bytes as an ELF image with DWARF: frames and members all over it. */
#include "dwarf/dwarf.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static size_t length(const char *text)
{
	return text ? strlen(text) : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const struct dwarf_frame *frame;
	const char *why;
	struct elf *elf = elf_open_memory(bytes, size, &why);
	size_t sum = 0;

	if (!elf)
		return 0;
	/* Its own alternate and package: references of every kind lead somewhere. */
	struct dwarf_inputs inputs = { .elf = elf, .alternate = elf, .package = elf };
	struct dwarf *d = dwarf_open(&inputs);
	for (uint64_t at = 0; at < size && at < 65536; at += 16) {
		size_t count = dwarf_find(d, at, &frame);
		for (size_t i = 0; i < count; i++) {
			sum += length(frame[i].file) + frame[i].line;
			if (frame[i].function)
				sum += length(frame[i].function->name) +
				       length(frame[i].function->linkage_name) +
				       length(frame[i].function->file);
		}
	}
	for (uint64_t at = 0; at < size && at < 4096; at += 8)
		for (uint64_t offset = 0; offset < 64; offset += 7)
			sum += length(dwarf_member(d, at, offset));
	dwarf_close(d);
	elf_close(elf);
	return sum == 1;	/* never, in practice: so that it is computed */
}
