/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index - what was found out about the code of one program, in a file for the next run.
 *
 * It holds chunks: ranges of addresses, each cut into segments of one answer.
 * An answer is a place in a file and the chain of calls it stands in, of which
 * each is kept once.  Names are kept as linkers have them.  A file's layout,
 * numbers in the machine's own byte order:
 *
 *	u64 magic; u32 version, checksum; u64 key;
 *	u32 chunks, calls, functions, code bytes, string bytes, reserved
 *	chunks:		u64 start; u32 size, code	by address, disjoint
 *	calls:		u32 function, parent, file, line, column
 *	functions:	u32 name, file, line
 *	code:		of each chunk: u8 kind, then segments (LEB128):
 *			length, call, file, line (less that before, signed), column
 *	strings:	"", and more, each with a NUL; names and files are offsets
 *
 * The checksum is the CRC-32 of all that follows it.  A call's function stands
 * in its parent (an earlier one; 0: in none) at that place.
 */
#pragma once
#include "dwarf/dwarf.h"

enum {
	INDEX_VERSION = 1,
	INDEX_FRAMES_MAX = 512,		/* calls inlined into each other */
	INDEX_SIZE_MAX = 512 << 20,	/* bytes of a file */
};

/* What told it. */
enum index_kind { INDEX_NOTHING, INDEX_DEBUG, INDEX_SYMBOL, INDEX_KINDS };

/* What is known of an address, as dwarf_find() has it; of INDEX_SYMBOL one frame, a name alone. */
struct index_answer {
	enum index_kind kind;
	const struct dwarf_frame *frame;
	size_t frames;
};

struct index;

/*
 * The index in the regular file FD, which is taken over, if its KEY is this
 * one.  NULL: *WHY says what is wrong with it.
 */
struct index *index_open(int fd, uint64_t key, const char **why);

/* False: ADDRESS is not in it.  Views in *OUT are valid until the next call. */
bool index_find(struct index *x, uint64_t address, struct index_answer *out);

void index_close(struct index *x);
