/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index - the answers found for the code of one program, in a file for later runs.
 *
 * The index has ranges of addresses with one answer each. Each frame, function and string is
 * stored once. Names are linkage names. The layout of the file, with numbers in the machine's own
 * byte order:
 *
 *	u64 magic; u32 version, checksum; u64 key
 *	u32 bytes of ranges, frames, functions, strings
 *	ranges:		u64 start; u32 size, answer	sorted by address, disjoint
 *	frames:		u32 function, parent, file, line, column
 *	functions:	u32 name, file, line
 *	strings:	"" and others, each with a NUL; names and files are offsets here
 *
 * The checksum is the CRC-32 of everything after it. An answer is the number of the innermost
 * frame; or the offset of a symbol's name, with the highest bit set; or 0: nothing is known. The
 * parent of a frame is the frame that it was inlined into, an earlier one; 0: not inlined. Frame 0
 * is unused.
 */
#pragma once
#include "dwarf/dwarf.h"

/* What is known about an address. */
struct source_answer {
	const struct dwarf_frame *frame;	/* innermost first, as from dwarf_find() */
	size_t frames;		/* elements of FRAME; 0: no function is known */
	/*
	 * Name of the outermost frame by the symbol table; NULL: the name in FRAME is right. The
	 * two differ if a function has several names, or for a part split off ("f.cold").
	 */
	const char *symbol;
	bool is_go;		/* the frames come from a Go program's own table */
};

/* Return the name of ANSWER's outermost frame by debug information, or NULL. */
static inline const char *answer_name(const struct source_answer *answer)
{
	return dwarf_function_name(dwarf_outermost(answer->frame, answer->frames));
}

/* --- read an index --- */
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
bool index_find(struct index *x, uint64_t address, struct source_answer *out);

void index_close(struct index *x);

/* --- make an index --- */
struct index_builder;

/* Return a builder that has what OLD has. OLD may be NULL; it must outlive the builder. */
struct index_builder *index_builder_new(const struct index *old);

/* Add ANSWER for the addresses of SAME. Too large answers are dropped. */
void index_builder_add(struct index_builder *b, struct extent same,
		       const struct source_answer *answer);

/*
 * Return the *SIZE bytes of the file, for the caller to free. Returns NULL if it is too large, or
 * if the file of the old index was cut.
 */
uint8_t *index_builder_encode(struct index_builder *b, uint64_t key, size_t *size);

void index_builder_free(struct index_builder *b);
