/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz-code - any bytes as machine code: an instruction at each offset, with all bytes after it. */
#include "code/instruction.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void use(const struct machine *m, const uint8_t *at, size_t size, uint64_t address)
{
	struct opcode i, again;

	if (!instruction_read(m, at, size, address, &i))
		return;
	must(i.size > 0 && i.size <= size && i.kind <= INSTRUCTION_LOAD_PAIR);
	must(i.reg < CFI_REGISTERS || i.reg == NO_REGISTER);
	must(i.base < CFI_REGISTERS || i.base == NO_REGISTER);
	must(i.second < CFI_REGISTERS || i.second == NO_REGISTER);
	must(i.kind == INSTRUCTION_OTHER || !i.changes);
	/* The bytes after it do not matter, and one fewer is too few. */
	must(instruction_read(m, at, i.size, address, &again) && !memcmp(&i, &again, sizeof(i)));
	must(!instruction_read(m, at, i.size - 1u, address, &again));
}

/* What instruction_skip_x86() says is what instruction_read() says. */
static void skip(const uint8_t *at, size_t size, uint64_t address)
{
	struct instruction_sizes sizes;
	uint64_t target;
	struct opcode i;
	bool is_call;

	if (size < INSTRUCTION_ROOM)
		return;
	instruction_sizes_init(&sizes);
	unsigned n = instruction_skip_x86(&sizes, at, address, &target, &is_call);
	if (!n)
		return;
	must(instruction_read(machine_find("x86_64"), at, size, address, &i) && i.size == n);
	must(is_call == (i.kind == INSTRUCTION_CALL));
	must(is_call || i.kind == INSTRUCTION_OTHER ? target == i.target : target == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	for (size_t at = 0; at < size; at++) {
		use(machine_find("x86_64"), bytes + at, size - at, 0x400000 + at);
		skip(bytes + at, size - at, 0x400000 + at);
		use(machine_find("aarch64"), bytes + at, size - at, 0x400000 + (at & ~3u));
	}
	return 0;
}
