/* SPDX-License-Identifier: Apache-2.0 */
/* MiniDebugInfo: .gnu_debugdata is an xz-compressed ELF file with symbols that were stripped. */
#include "elf/internal.h"

struct elf *elf_open_mini(struct elf *elf)
{
	struct elf_bytes packed;
	const char *why;
	size_t size;
	uint8_t *bytes;

	if (!elf_section(elf, ".gnu_debugdata", &packed) ||
	    elf_unpack(elf, packed, &bytes, &size))
		return NULL;
	struct elf *mini = elf_open_owned(bytes, size, &why);
	elf_charge(elf, mini ? size : 0);
	if (mini)
		mini->is_mini = true;
	return mini;
}
