/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gotable - the function table in every Go program, stripped or not
 * (.gopclntab): function, file, line, and from Go 1.16 on inlined calls.
 */
#pragma once
#include "base/span.h"
#include "elf/elf.h"

enum { GO_FRAMES_MAX = 64 };	/* calls that were inlined into each other */

struct gotable;

struct go_frame {
	const char *function;	/* "net/http.(*conn).serve"; NULL: damaged */
	const char *file;	/* NULL: not known */
	uint32_t line;		/* 0: not known */
	uint32_t start_line;	/* of the function; 0: not known (before Go 1.20) */
};

/* ELF outlives the result.  NULL: it is no Go program, or of a layout not known. */
struct gotable *gotable_open(struct elf *elf);

/*
 * The frames at ADDRESS, innermost first; returns how many, at most GO_FRAMES_MAX, 0: none.  The
 * array is valid until the next call, its strings until elf_close().
 */
size_t gotable_find(struct gotable *t, uint64_t address, const struct go_frame **frames);

/* Nothing was found at ADDRESS: SAME shrinks to where nothing is around it.  T may be NULL. */
void gotable_narrow(const struct gotable *t, uint64_t address, struct extent *same);

void gotable_close(struct gotable *t);
