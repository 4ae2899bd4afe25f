/* SPDX-License-Identifier: Apache-2.0 */
#include "code/instruction.h"

#include <elf.h>

bool instruction_read(const struct machine *m, const uint8_t *at, size_t size, uint64_t address,
		      struct opcode *i)
{
	return m->elf == EM_AARCH64 ? instruction_read_arm64(at, size, address, i)
				    : instruction_read_x86(at, size, address, i);
}
