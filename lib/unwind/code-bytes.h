/* SPDX-License-Identifier: Apache-2.0 */
/* code-bytes - the bytes of a process's code, from files or from the living process. */
#pragma once
#include "elf/elf.h"

#include <sys/types.h>

struct unwind;
struct walk_process;

enum { CODE_BLOCKS = 8, CODE_BLOCK_SIZE = 1024 };

/* Code that was read from living processes since the last round.  Zero-initialised: none. */
struct code_blocks {
	struct read_block {
		uint64_t address;
		pid_t pid;	/* 0: the block is free */
		uint32_t size;	/* bytes that could be read */
		uint8_t at[CODE_BLOCK_SIZE];
	} block[CODE_BLOCKS];
	uint32_t next;		/* block to be replaced next */
};

/*
 * Return the bytes of code from ADDRESS on, as many as are at hand, but at most to the end of the
 * mapping; size 0: unknown.  *IS_LIVE is set if they are from the living process.  The bytes are
 * valid until the next call.
 */
struct elf_bytes code_bytes_at(struct unwind *u, const struct walk_process *process,
			       uint64_t address, bool *is_live);

/*
 * Copy SIZE bytes of code at ADDRESS to TO, also from several blocks or mappings.  Return false if
 * some of the bytes are unknown.  *IS_LIVE as in code_bytes_at().
 */
bool code_bytes_copy(struct unwind *u, const struct walk_process *process, uint64_t address,
		     uint8_t *to, size_t size, bool *is_live);

/*
 * Set *VALUE to the word at SLOT, a place in the global offset table of the object that has
 * ADDRESS.  Return false if it is unknown, or if SLOT is in no such table.
 */
bool code_bytes_slot(struct unwind *u, const struct walk_process *process, uint64_t address,
		     uint64_t slot, uint64_t *value);

/* Forget what was read from living processes: it may have changed. */
void code_blocks_forget(struct code_blocks *b);
