/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf - debug information, DWARF 2 to 5: an address to its function, the
 * chain of inlined calls it stands in, files and lines.
 *
 * It is lazy in three steps.  At opening, the address ranges of the units are
 * read; at the first address in a unit, its functions and its line table; at
 * the first address in a function, its inlined calls.  Everything is checked
 * before use: a damaged unit gives fewer answers, or none.
 */
#pragma once
#include "base/span.h"
#include "elf/elf.h"

struct dwarf;

struct dwarf_inputs {
	struct elf *elf;	/* the program: says where code is, and may hold DWARF */
	struct elf *debug;	/* its separate debug file, or NULL */
	struct elf *alternate;	/* what .gnu_debugaltlink names (see dwz(1)), or NULL */
	struct elf *package;	/* the .dwp, or NULL */
	/*
	 * Opens a .dwo file, whose PATH is absolute or relative to where the
	 * program was built; NULL: there is none.  May be NULL itself.
	 */
	struct elf *(*open_split)(void *context, const char *path);
	void *context;
};

/* What a function is called, and where it is declared.  Each exists once. */
struct dwarf_function {
	const char *name;		/* as in the source, without scopes; NULL: none */
	const char *linkage_name;	/* mangled; NULL: none */
	const char *file;		/* NULL: not known */
	uint32_t line;			/* 0: not known */
};

/* As linkers have it, else as in the source; NULL: none, or no function. */
static inline const char *dwarf_function_name(const struct dwarf_function *f)
{
	return !f ? NULL : f->linkage_name ? f->linkage_name : f->name;
}

struct dwarf_frame {
	const struct dwarf_function *function;	/* NULL: not known, but the line is */
	const char *file;			/* NULL: not known */
	uint32_t line, column;			/* 0: not known */
};

/* The function that all the others were inlined into; NULL: there is none, or it is not known. */
static inline const struct dwarf_function *dwarf_outermost(const struct dwarf_frame *frame,
							   size_t frames)
{
	return frames ? frame[frames - 1].function : NULL;
}

/*
 * The inputs outlive the result, which may be used by one thread at a time.
 * NULL: there is no debug information in them.
 */
struct dwarf *dwarf_open(const struct dwarf_inputs *inputs);

/*
 * The frames at ADDRESS, innermost first; returns how many.  0: nothing is
 * known.  The array is valid until the next call, what it points to until
 * dwarf_close().
 */
size_t dwarf_find(struct dwarf *d, uint64_t address, const struct dwarf_frame **frames);

/* From now on leave out CALLS that were inlined, and LINES: it is cheaper. */
void dwarf_leave_out(struct dwarf *d, bool calls, bool lines);

/* Around the last address that was looked for: where the same is found, or as surely nothing. */
struct extent dwarf_extent(const struct dwarf *d);

/*
 * Where the code begins, without a gap up to that address, of the outermost
 * function that was found there.
 */
uint64_t dwarf_function_start(const struct dwarf *d);

/* Whether anything found came out of .dwo files, or would have if they were there. */
bool dwarf_has_parts(const struct dwarf *d);

/*
 * Whether some of it was not read since it would take far more time or memory than its
 * bytes: what refers to the same bytes again and again.
 */
bool dwarf_has_exceeded(const struct dwarf *d);

void dwarf_close(struct dwarf *d);
