/* SPDX-License-Identifier: Apache-2.0 */
/*
 * branch-functions - finds the functions, jumps and calls in the code of a binary, and the
 * addresses of its file's offsets.
 */
#pragma once
#include "base/fuel.h"
#include "base/span.h"
#include "elf/elf.h"

/* Return the address of the byte at OFFSET of ELF's file; 0: it is not in an executable segment. */
uint64_t branch_address(const struct elf *elf, uint64_t offset);

/* Finds functions and jumps.  It remembers the last answers, because ranges come sorted. */
struct branch_functions {
	struct elf *elf;	/* NULL: nothing is known of the code */
	struct fuel fuel;	/* instructions that may still be read */
	struct extent same;	/* addresses with the answer FUNCTION */
	uint64_t function;	/* address of the function there; 0: unknown */
	uint64_t start;		/* address from which code was read last */
	uint64_t read;		/* address up to which there is no jump */
	bool has_jump;		/* at READ is one */
};

/* ELF: or NULL */
void branch_functions_init(struct branch_functions *f, struct elf *elf);

/*
 * Return whether code from START to END, offsets of the file, cannot run in one go: they are in
 * different functions by the symbols, or an instruction before END always goes elsewhere.  False if
 * nobody knows: no symbol covers an end, or the code cannot be read.
 */
bool branch_functions_break(struct branch_functions *f, uint64_t start, uint64_t end);

/* What an instruction says about where it goes. */
enum branch_going { GOING_UNKNOWN, GOING_CALL, GOING_RETURN, GOING_OTHER };

/* Return where the instruction at OFFSET goes, and set *SIZE to its bytes, 1 if it is unknown. */
enum branch_going branch_functions_going(struct branch_functions *f, uint64_t offset,
					 unsigned *size);

/* Return whether a function starts at OFFSET, and does not contain the offset FROM. */
bool branch_functions_enter(struct branch_functions *f, uint64_t offset, uint64_t from);
