/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of index, shared by the reader (index.c) and the writer (index-builder.c). */
#pragma once
#include "elf/mapped.h"
#include "resolve/index.h"

#define INDEX_MAGIC 0x7865646e69756d70ULL	/* "pmuindex" */

/* Sizes in the file, in bytes. */
enum {
	INDEX_CHECKED = 16,		/* offset of the first byte that the checksum covers */
	INDEX_HEADER = 48,
	CHUNK_BYTES = 16,
	CALL_BYTES = 20,
	FUNCTION_BYTES = 12,
};

enum { CHUNK_SEGMENTS = 64 };		/* few enough to read one after the other */

struct index_chunk {
	uint64_t start;
	uint32_t size;			/* bytes of the program */
	uint32_t code;			/* offset of its segments in CODE */
};

/* FILE, LINE and COLUMN are where PARENT calls FUNCTION. */
struct index_call {
	uint32_t function, parent, file, line, column;
};

struct index_function {
	uint32_t name, file, line;	/* NAME, FILE: offsets in STRINGS */
};

struct index {
	struct mapped mapped;		/* the whole file, in which the tables are */
	const uint8_t *chunk, *call, *function, *code;	/* see index.h for their layouts */
	const char *strings;
	uint32_t chunks, calls, functions;		/* elements of these tables */
	uint32_t code_size, strings_size;		/* bytes */
	struct dwarf_frame frames[INDEX_FRAMES_MAX];	/* the last answer */
	struct dwarf_function names[INDEX_FRAMES_MAX];	/* functions of FRAMES */
};

static inline struct index_chunk index_chunk_at(const struct index *x, uint32_t id)
{
	struct index_chunk chunk;

	memcpy(&chunk, x->chunk + (size_t)id * CHUNK_BYTES, sizeof(chunk));
	return chunk;
}

static inline struct index_call index_call_at(const struct index *x, uint32_t id)
{
	struct index_call call;

	memcpy(&call, x->call + (size_t)id * CALL_BYTES, sizeof(call));
	return call;
}

static inline struct index_function index_function_at(const struct index *x, uint32_t id)
{
	struct index_function function;

	memcpy(&function, x->function + (size_t)id * FUNCTION_BYTES, sizeof(function));
	return function;
}
