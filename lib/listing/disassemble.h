/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disassemble - the instructions of a piece of code, by objdump(1).
 *
 * objdump gets nothing but the bytes of the code, in a file in memory that has no name.  So it
 * never parses an ELF file that others chose.
 */
#pragma once
#include "base/report.h"
#include "base/signals.h"
#include "elf/elf.h"

struct instruction {
	uint64_t address;
	size_t text;		/* offset in DISASSEMBLY.text */
};

/* Zero-initialised: no instruction. */
struct disassembly {
	struct instruction *item;	/* by address */
	uint32_t count;
	char *text;		/* texts of instructions, each ends with a NUL, safe to print */
	size_t size;
};

/* Code to disassemble. */
struct raw_code {
	struct elf_bytes bytes;
	uint64_t address;	/* of the first byte */
	uint16_t machine;	/* EM_* */
	bool is_big_endian;
};

/* Zero-initialised except for STOP: objdump has not failed. */
struct disassembler {
	const volatile sig_atomic_t *stop;	/* set: wait for objdump no longer; or NULL */
	uint32_t failed;	/* private: a bit for each machine whose objdump failed */
};

/*
 * Disassemble CODE into OUT, which the caller releases.  Return false (reported once for each
 * machine) if objdump is missing, does not know the machine, or fails.  It is not run again then.
 */
bool disassemble(struct disassembly *out, const struct raw_code *code,
		 struct disassembler *by, struct report *report);

/* Return the index of the instruction that contains ADDRESS, or UINT32_MAX: before the first. */
uint32_t disassembly_find(const struct disassembly *d, uint64_t address);

void disassembly_release(struct disassembly *d);
