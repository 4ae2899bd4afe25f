/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz-elf - any bytes as an ELF image: segments, build ID, symbols, sections. */
#include "elf/elf.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct elf_segment segment;
	struct elf_symbol symbol;
	struct elf_bytes section;
	const uint8_t *id;
	const char *why;
	struct elf *elf = elf_open_memory(bytes, size, &why);
	size_t sum = 0;

	if (!elf)
		return 0;
	size_t id_size = elf_build_id(elf, &id);
	for (size_t i = 0; i < id_size; i++)
		sum += id[i];
	for (uint64_t at = 0; at < size; at += 4096)
		sum += elf_segment(elf, at, &segment) ? segment.address : 0;
	for (uint64_t at = 0; at < size; at += 64)
		sum += elf_symbol(elf, at, &symbol) ? strlen(symbol.name) : 0;
	if (elf_section(elf, ".debug_info", &section) || elf_section(elf, ".debug_str", &section))
		for (size_t i = 0; i < section.size; i++)
			sum += section.at[i];
	elf_close(elf);
	return sum == 1;	/* never, in practice: so that it is computed */
}
