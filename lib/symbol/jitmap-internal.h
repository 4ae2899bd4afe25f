/* SPDX-License-Identifier: Apache-2.0 */
/* jitmap's inside: shared by the list of functions (jitmap.c) and jitdump (jitdump.c). */
#pragma once
#include "base/intern.h"
#include "symbol/jitmap.h"
#include "symbol/span.h"

enum {
	JIT_FUNCTIONS_MAX = 1 << 23,	/* further ones are dropped, as are lines */
	JIT_LINES_MAX = 1 << 24,
	JIT_NAME_MAX = 4096,		/* bytes; longer names are cut */
};

struct jit_line {
	uint64_t address;
	uint32_t file;			/* in the strings */
	uint32_t line;
};

struct jit_function {
	uint64_t start, size;
	uint64_t index;			/* jitdump's number of it */
	uint32_t latest;		/* of those of one index: in the first, the last one told */
	uint64_t moved;			/* added to the addresses of its lines */
	uint32_t name;			/* in the strings */
	uint32_t first_line, lines;	/* in the array of lines, by address */
};

/* A file that is read as it grows. */
struct jit_file {
	int fd;				/* -1: none */
	uint64_t at;			/* bytes taken in */
};

struct jitmap {
	struct jit_file map, dump;
	struct jit_function *function;
	struct jit_line *line;
	uint32_t functions, lines;
	uint32_t pending, pendings;	/* lines of the function that comes next in the dump */
	uint64_t pending_start;		/* its address */
	struct table by_index;		/* of the dump's functions, the first of each index */
	struct intern strings;
	struct flats flat;		/* address to function */
	bool flat_is_old;
	bool swap;			/* the dump is of the other byte order */
	bool header_read;
};

/* Add a function; returns it, NULL: no room. */
struct jit_function *jitmap_add(struct jitmap *j, uint64_t start, uint64_t size,
				const char *name, size_t length);
