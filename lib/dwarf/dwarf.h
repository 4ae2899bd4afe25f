/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf - reads debug information, DWARF 2 to 5: finds the function of an address, the inlined
 * calls that contain the address, and their files and lines.
 *
 * Debug information is read in three steps.  dwarf_open() reads the address ranges of the
 * units.  The first lookup in a unit reads its functions and its line table.  The first
 * lookup in a function reads its inlined calls.  Everything is checked before use: a damaged
 * unit gives fewer answers, or none.
 */
#pragma once
#include "base/span.h"
#include "elf/elf.h"

struct dwarf;

struct dwarf_inputs {
	struct elf *elf;	/* the program: gives the addresses of code; may contain DWARF */
	struct elf *debug;	/* its separate debug file, or NULL */
	struct elf *alternate;	/* the file named by .gnu_debugaltlink (see dwz(1)), or NULL */
	struct elf *package;	/* the .dwp, or NULL */
	/*
	 * Opens the .dwo file PATH, which is absolute or relative to the directory of the
	 * build.  Returns NULL if there is no such file.  The pointer may be NULL.
	 */
	struct elf *(*open_split)(void *context, const char *path);
	void *context;		/* passed to open_split() */
};

/* The names of a function, and where it is declared.  There is one for each DIE of a function. */
struct dwarf_function {
	const char *name;		/* as in the source, without scopes; NULL: unknown */
	const char *linkage_name;	/* mangled; NULL: none */
	const char *file;		/* full path; NULL: unknown */
	uint32_t line;			/* 0: unknown */
};

/* Return the mangled name, or else the name in the source.  NULL: unknown, or F is NULL. */
static inline const char *dwarf_function_name(const struct dwarf_function *f)
{
	return !f ? NULL : f->linkage_name ? f->linkage_name : f->name;
}

/* A function, and the place in its source where the code, or the next inner frame's call, is. */
struct dwarf_frame {
	const struct dwarf_function *function;	/* NULL: unknown, but the line may be known */
	const char *file;			/* full path; NULL: unknown */
	uint32_t line, column;			/* 0: unknown */
};

/* Return the function that the functions of all other frames were inlined into; NULL: unknown. */
static inline const struct dwarf_function *dwarf_outermost(const struct dwarf_frame *frame,
							   size_t frames)
{
	return frames ? frame[frames - 1].function : NULL;
}

/*
 * Open the debug information in INPUTS, which must outlive the result.  Only one thread at a
 * time may use the result.  Return NULL if there is no debug information.
 */
struct dwarf *dwarf_open(const struct dwarf_inputs *inputs);

/*
 * Find the frames at ADDRESS, innermost first, and return their number; 0: nothing is known.
 * The array is valid until the next call; the functions and paths are valid until
 * dwarf_close().  D may be NULL.
 */
size_t dwarf_find(struct dwarf *d, uint64_t address, const struct dwarf_frame **frames);

/*
 * Return the name of the member at OFFSET of the variable that starts at the address VARIABLE:
 * "[].lock" in an array of structures, ".hits" in a structure, "" if the variable has no members.
 * If several members cover the offset (of a union, or bit-fields), the name has all, as in ".a|b".
 * NULL: the variable, or its type, is unknown.  Valid until the next call.  D may be NULL.
 */
const char *dwarf_member(struct dwarf *d, uint64_t variable, uint64_t offset);

/* From now on, leave out inlined CALLS, and LINES of the innermost frame, to save time. */
void dwarf_leave_out(struct dwarf *d, bool calls, bool lines);

/* Return the address range around the last lookup that has the same answer, or also no answer. */
struct extent dwarf_extent(const struct dwarf *d);

/*
 * Return the start of the gapless piece of code, of the outermost function found by the last
 * lookup, that contains the address.
 */
uint64_t dwarf_function_start(const struct dwarf *d);

/* Return whether any answer depended on .dwo files, present or missing. */
bool dwarf_has_parts(const struct dwarf *d);

/*
 * Return whether a part was left out because it exceeded a limit of time or memory.  Such a part
 * refers to the same bytes again and again, so its cost is out of proportion to its size.
 */
bool dwarf_has_exceeded(const struct dwarf *d);

/*
 * Return the next damage in the program or its debug files that was found and not returned yet;
 * each section has one at most.  False: there is no more so far.  D may be NULL.
 */
bool dwarf_next_damage(struct dwarf *d, struct elf_damage *out);

/*
 * Return the first version of DWARF that was found in the program or its debug files so far and
 * that is not read: 1, or one after 5.  0: none.  D may be NULL.
 */
uint16_t dwarf_unread_version(const struct dwarf *d);

void dwarf_close(struct dwarf *d);
