/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instruction - reads machine code of x86-64 and arm64: the size of an instruction, where it
 * jumps, and what it does to the stack pointer and to other registers.
 *
 * This is not a disassembler: instructions that only compute are INSTRUCTION_OTHER, with the
 * general registers that they change.  Bytes that are not an instruction of 64-bit user code are
 * refused, and so is an instruction that processors of different makers read differently.
 *
 * Registers have DWARF's numbers, as in cfi/cfi.h.
 */
#pragma once
#include "code/machine.h"

enum instruction_kind {
	INSTRUCTION_OTHER,
	INSTRUCTION_CALL,		/* of TARGET */
	INSTRUCTION_CALL_INDIRECT,	/* of the word at TARGET; 0: of an unknown one */
	INSTRUCTION_JUMP,		/* to TARGET */
	INSTRUCTION_BRANCH,		/* to TARGET, or on */
	INSTRUCTION_JUMP_INDIRECT,	/* as INSTRUCTION_CALL_INDIRECT */
	INSTRUCTION_RETURN,		/* and drop VALUE bytes; arm64: to the address in REG */
	INSTRUCTION_TRAP,		/* ends the program, or stops for a debugger */
	/* x86-64: a word, of the register REG; NO_REGISTER: of anything else */
	INSTRUCTION_PUSH,
	INSTRUCTION_POP,		/* into REG */
	INSTRUCTION_ENTER,		/* push %rbp; mov %rsp, %rbp; and then sub $VALUE, %rsp */
	INSTRUCTION_LEAVE,		/* mov %rbp, %rsp; pop %rbp */
	INSTRUCTION_ADJUST,		/* REG += VALUE */
	INSTRUCTION_ALIGN,		/* REG &= VALUE */
	INSTRUCTION_MOVE,		/* REG = BASE + VALUE */
	INSTRUCTION_STORE,		/* the word at BASE + VALUE = REG */
	INSTRUCTION_LOAD,		/* REG = the word at BASE + VALUE */
	/* arm64: the same with REG and SECOND, one word after the other */
	INSTRUCTION_STORE_PAIR,
	INSTRUCTION_LOAD_PAIR,
};

enum { INSTRUCTION_ROOM = 16 };	/* bytes that instruction_skip_x86() may read */

/* One instruction, decoded. */
struct opcode {
	uint8_t size;		/* bytes, at least 1 */
	uint8_t kind;		/* enum instruction_kind */
	uint8_t reg, base;	/* NO_REGISTER: none that is general */
	uint8_t second;
	int64_t value;
	int64_t step;		/* arm64: what a load or store adds to BASE */
	uint64_t target;	/* address, also of x86-64's lea; 0: unknown */
	/*
	 * Bit per general register that INSTRUCTION_OTHER may change; those of an operating
	 * system's call are in it.
	 */
	uint64_t changes;
};

/*
 * Read the instruction at AT, of at most SIZE bytes, whose address is ADDRESS.  Return false if
 * it is unknown, or does not end within SIZE.
 */
bool instruction_read(const struct machine *m, const uint8_t *at, size_t size, uint64_t address,
		      struct opcode *i);

/* Tables of x86-64, for instruction_skip_x86(). */
struct instruction_sizes {
	uint8_t opcode[2][256];
	uint8_t modrm[256];
};

void instruction_sizes_init(struct instruction_sizes *t);

/*
 * Return the size of the instruction of x86-64 at AT, of at least INSTRUCTION_ROOM readable bytes,
 * and set *TARGET to what it calls (IS_CALL), or to the address that lea computes; 0: neither.
 * Its address is ADDRESS.  Return 0 for a rare instruction, or for none: instruction_read() knows.
 * This takes a fifth of its time.
 */
unsigned instruction_skip_x86(const struct instruction_sizes *t, const uint8_t *at,
			      uint64_t address, uint64_t *target, bool *is_call);

/* The same as instruction_read(), of each machine. */
bool instruction_read_x86(const uint8_t *at, size_t size, uint64_t address,
			  struct opcode *i);
bool instruction_read_arm64(const uint8_t *at, size_t size, uint64_t address,
			    struct opcode *i);
