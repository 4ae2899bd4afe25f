/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread-local - where the thread-local variables of a 64-bit ELF file are, relative to the thread
 * pointer ("ELF Handling For Thread-Local Storage", U. Drepper).
 */
#pragma once
#include "elf/elf.h"

enum thread_place {
	THREAD_NOWHERE,		/* the file neither has nor uses the variable */
	THREAD_OFFSET,		/* VALUE is the offset from the thread pointer, if the file is the
				   program, not a library */
	/* VALUE is the address in the file of words that the dynamic linker sets: */
	THREAD_DESCRIPTOR,	/* TLSDESC: function, argument */
	THREAD_OFFSET_WORD,	/* TPOFF64: the offset from the thread pointer */
	THREAD_MODULE_WORDS,	/* DTPMOD64, DTPOFF64: module, offset in its block */
};

struct thread_variable {
	enum thread_place place;
	uint64_t value;
};

/* Find the variable NAME, by its relocations, then by its symbol. */
struct thread_variable elf_thread_variable(const struct elf *elf, const char *name);

/* Return whether the program ELF asks for the dynamic linker of musl. */
bool elf_links_by_musl(struct elf *elf);
