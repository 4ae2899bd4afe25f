/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gotable - the function table (.gopclntab) that every Go program has, even if stripped.
 * It gives function, file and line, and since Go 1.16 inlined calls.
 */
#pragma once
#include "base/span.h"
#include "elf/elf.h"

enum { GO_FRAMES_MAX = 64 };	/* frames at one address: a function and its inlined calls */

struct gotable;

struct go_frame {
	const char *function;	/* "net/http.(*conn).serve"; NULL: damaged */
	const char *file;	/* NULL: unknown */
	uint32_t line;		/* 0: unknown */
	uint32_t start_line;	/* first line of the function; 0: unknown (before Go 1.20) */
};

/*
 * Find the table of ELF, which must outlive the result. Returns NULL if ELF is not a Go
 * program, or if the layout of its table is unknown.
 */
struct gotable *gotable_open(struct elf *elf);

/*
 * Set *FRAMES to the frames at ADDRESS, innermost first. Returns their number, at most
 * GO_FRAMES_MAX; 0 if no function is known there. The array is valid until the next call, its
 * strings until elf_close(). T may be NULL.
 */
size_t gotable_find(struct gotable *t, uint64_t address, const struct go_frame **frames);

/* Store the address range of the function NAME.  False: the table has none.  T may be NULL. */
bool gotable_named(struct gotable *t, const char *name, uint64_t *start, uint64_t *end);

/* Store the first damage that gotable_find() found so far.  False: none.  T may be NULL. */
bool gotable_damage(const struct gotable *t, struct elf_damage *out);

/*
 * After gotable_find() found nothing at ADDRESS: shrink SAME to a range around ADDRESS where the
 * table has nothing either. T may be NULL.
 */
void gotable_narrow(const struct gotable *t, uint64_t address, struct extent *same);

/*
 * Set *BYTES to how many bytes the function at ADDRESS has on the stack there, without a return
 * address that its caller has pushed.  False: unknown, as in code that is not Go's.  T may be NULL.
 */
bool gotable_stack(struct gotable *t, uint64_t address, uint32_t *bytes);

/* Return the addresses of the function that contains ADDRESS; an empty range: none.  T: or NULL. */
struct extent gotable_function(const struct gotable *t, uint64_t address);

void gotable_close(struct gotable *t);
