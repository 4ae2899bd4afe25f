/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jit-code - the code that a JIT compiler made, from the jitdump file that it wrote.
 *
 * lib/symbol/jitdump.c reads the names in such a file while it grows, and skips the code.  This
 * reads the code of a file that is complete.
 */
#pragma once
#include "base/report.h"
#include "elf/elf.h"

struct jit_code;

struct jit_piece {
	uint64_t start;
	struct elf_bytes bytes;
	uint32_t same;		/* pieces of code of that name that were at the address */
};

/* Open PATH.  Return NULL (reported) if it cannot be read, or is not a jitdump file. */
struct jit_code *jit_code_open(const char *path, struct report *report);

/*
 * Find the last code called NAME that was at ADDRESS.  Names are compared as profiles have them:
 * safe to print, and demangled.  Return false if no code matches.
 */
bool jit_code_find(struct jit_code *j, uint64_t address, const char *name,
		   struct jit_piece *out);

/* Return the machine (EM_*) of the code, and whether its numbers are big-endian. */
uint16_t jit_code_machine(const struct jit_code *j, bool *is_big_endian);

void jit_code_close(struct jit_code *j);
