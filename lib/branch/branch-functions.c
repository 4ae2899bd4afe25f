/* SPDX-License-Identifier: Apache-2.0 */
#include "branch/branch-functions.h"

#include "code/instruction.h"
#include "elf/section.h"

#include <elf.h>

uint64_t branch_address(const struct elf *elf, uint64_t offset)
{
	struct elf_segment segment;

	return elf_segment(elf, offset, &segment) ? segment.address + offset - segment.file_offset
						  : 0;
}

/* Return the address of the function that covers ADDRESS; 0: unknown. */
static uint64_t function_at(struct branch_functions *f, uint64_t address)
{
	struct elf_symbol symbol;

	if (address - f->same.start < f->same.end - f->same.start)
		return f->function;
	bool is_found = elf_symbol(f->elf, address, &symbol) && !symbol.is_label;
	f->same = symbol.same;
	f->function = is_found ? symbol.address : 0;
	return f->function;
}

static bool are_apart(struct branch_functions *f, uint64_t start, uint64_t end)
{
	uint64_t first = function_at(f, start);
	uint64_t last = first ? function_at(f, end) : 0;

	return first && last && first != last;
}

/* Return whether after the instruction I another one than the next is always executed. */
static bool always_jumps(const struct opcode *i)
{
	return i->kind == INSTRUCTION_JUMP || i->kind == INSTRUCTION_JUMP_INDIRECT ||
	       i->kind == INSTRUCTION_RETURN;
}

/* Read the instruction at ADDRESS.  Return false if it is unknown. */
static bool read_at(struct branch_functions *f, uint64_t address, struct opcode *i)
{
	struct elf_bytes code = elf_at_address(f->elf, address, INSTRUCTION_ROOM);

	if (code.size == 0 || !fuel_take(&f->fuel, 1))
		return false;
	if (elf_machine(f->elf) == EM_X86_64)
		return instruction_read_x86(code.at, code.size, address, i);
	return elf_machine(f->elf) == EM_AARCH64 &&
	       instruction_read_arm64(code.at, code.size, address, i);
}

/*
 * Return whether a jump is at START or after it, before END.  A call is not: processors do not
 * record a call of the next instruction, by which code finds its own address.
 */
static bool has_jump(struct branch_functions *f, uint64_t start, uint64_t end)
{
	struct opcode i;

	if (f->start != start) {
		f->start = f->read = start;
		f->has_jump = false;
	}
	while (f->read < end && !f->has_jump) {
		if (!read_at(f, f->read, &i))
			return false;
		f->has_jump = always_jumps(&i);
		if (!f->has_jump)
			f->read += i.size;
	}
	return f->has_jump && f->read < end;
}

void branch_functions_init(struct branch_functions *f, struct elf *elf)
{
	/* instructions: more than all distinct ranges of real programs have together */
	*f = (struct branch_functions){ .elf = elf, .fuel.left = 1 << 28 };
}

bool branch_functions_break(struct branch_functions *f, uint64_t start, uint64_t end)
{
	uint64_t first = f->elf ? branch_address(f->elf, start) : 0;
	uint64_t last = first ? branch_address(f->elf, end) : 0;

	return last && (are_apart(f, first, last) || has_jump(f, first, last));
}

enum branch_going branch_functions_going(struct branch_functions *f, uint64_t offset,
					 unsigned *size)
{
	uint64_t address = f->elf ? branch_address(f->elf, offset) : 0;
	struct opcode i;

	*size = 1;
	if (!address || !read_at(f, address, &i))
		return GOING_UNKNOWN;
	*size = i.size;
	return i.kind == INSTRUCTION_CALL || i.kind == INSTRUCTION_CALL_INDIRECT ? GOING_CALL
	       : i.kind == INSTRUCTION_RETURN ? GOING_RETURN : GOING_OTHER;
}

bool branch_functions_enter(struct branch_functions *f, uint64_t offset, uint64_t from)
{
	uint64_t address = f->elf ? branch_address(f->elf, offset) : 0;

	return address && function_at(f, address) == address &&
	       function_at(f, branch_address(f->elf, from)) != address;
}
