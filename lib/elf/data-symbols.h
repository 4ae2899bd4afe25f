/* SPDX-License-Identifier: Apache-2.0 */
/* data-symbols - the variables of an ELF file, by the symbols of its data. */
#pragma once
#include "elf/elf.h"

struct elf_variable {
	const char *name;	/* without a version; valid until elf_close() */
	uint64_t address;
	uint64_t size;		/* bytes; of a symbol without a size, up to the next symbol */
};

/*
 * Find the variable that contains ADDRESS, in .symtab or .dynsym.  Return false if there is none.
 * The innermost of nested variables wins; of several symbols at one address, the one that wins
 * among functions (symbols.c).  The first call reads the tables.
 */
bool elf_variable(struct elf *elf, uint64_t address, struct elf_variable *out);

/*
 * Find the segment that contains ADDRESS in memory, also beyond its bytes in the file (.bss).
 * Return false if there is none.
 */
struct elf_memory {
	bool is_code;
	uint64_t address, size;	/* bytes in memory */
	uint64_t file_offset;	/* of the byte at ADDRESS */
};
bool elf_memory(const struct elf *elf, uint64_t address, struct elf_memory *out);
