/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index - the answers found for the code of one program, in a file for later runs.
 *
 * The index consists of chunks, which are ranges of addresses. Each chunk is cut into segments
 * with one answer each. An answer is a source location and a chain of inlined calls. Each call is
 * stored once. Names are linkage names. The layout of the file, with numbers in the machine's
 * own byte order:
 *
 *	u64 magic; u32 version, checksum; u64 key;
 *	u32 chunks, calls, functions, code bytes, string bytes, reserved
 *	chunks:		u64 start; u32 size, code	sorted by address, disjoint
 *	calls:		u32 function, parent, file, line, column
 *	functions:	u32 name, file, line
 *	code:		for each chunk: u8 kind, then segments (LEB128):
 *			length, call, file, line (signed difference from the last), column
 *	strings:	"" and others, each with a NUL; names and files are offsets here
 *
 * The checksum is the CRC-32 of everything after it. The function of a call is inlined into the
 * function of its parent (an earlier call; 0: not inlined) at that file, line and column.
 */
#pragma once
#include "dwarf/dwarf.h"

enum {
	INDEX_VERSION = 1,
	INDEX_FRAMES_MAX = 512,		/* frames of one answer */
	INDEX_SIZE_MAX = 512 << 20,	/* bytes of a file */
};

/* The source of an answer. */
enum index_kind { INDEX_NOTHING, INDEX_DEBUG, INDEX_SYMBOL, INDEX_KINDS };

/*
 * What is known about an address: frames as from dwarf_find(). INDEX_SYMBOL has one frame with
 * only a name; INDEX_NOTHING has no frames.
 */
struct index_answer {
	enum index_kind kind;
	const struct dwarf_frame *frame;
	size_t frames;
};

struct index;

/*
 * Open the index in the regular file FD, and take FD over. The file must have this KEY. On
 * failure returns NULL, and *WHY says what is wrong.
 */
struct index *index_open(int fd, uint64_t key, const char **why);

/*
 * Find the answer for ADDRESS. Returns false if the index does not have it. Pointers in *OUT are
 * valid until the next call.
 */
bool index_find(struct index *x, uint64_t address, struct index_answer *out);

void index_close(struct index *x);
