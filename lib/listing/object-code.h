/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object-code - the code of the functions of a profile: the files of its mappings, and where in
 * them a function starts and ends.
 *
 * locate/image.h says which files are used.  If the profile has no build ID of a file, and the file
 * was changed since, a note says that its instructions may be others.
 */
#pragma once
#include "base/byte-ids.h"
#include "listing/disassemble.h"
#include "listing/jit-code.h"
#include "pprof/decode.h"
#include "resolve/source.h"

/* Zero-initialised except for D, WHERE, JIT and REPORT: no file was looked for. */
struct code_files {
	const struct decoded *d;
	struct locate_options where;
	struct jit_code *jit;	/* NULL: none */
	struct report *report;
	/* private: */
	struct byte_ids ids;	/* of pairs of path and build ID, strings of D */
	struct sources sources;	/* the files, by these ids */
};

/* Where the code of a location is. */
struct code_address {
	struct source *file;	/* NULL: a jitdump file */
	uint64_t address;	/* in the file, or in memory */
};

/* A function, or a part of a function, in one piece. */
struct code_block {
	struct source *file;	/* NULL: from a jitdump file */
	uint64_t start, end;	/* addresses as in struct code_address */
	uint64_t whole_end;	/* END of the whole function; larger than END if it is cut */
	struct raw_code code;
	uint32_t same;		/* pieces of code of a jitdump file with this name and address */
	bool is_cut;		/* END is before the end of the function, which is too large */
};

enum { CODE_BLOCK_MAX = 1 << 20 };	/* bytes of a block; the rest is left out */

/*
 * Find the file with the code of the location INDEX, which is in the function NAME, as the profile
 * calls it.  Return false if no file has it; the reason is reported once for each file.
 */
bool code_files_find(struct code_files *c, uint32_t index, const char *name,
		     struct code_address *at);

/* Return whether AT is in BLOCK, or in what was cut from BLOCK. */
bool code_block_is_at(const struct code_block *block, const struct code_address *at);

/* Return whether AT is in the code that BLOCK has. */
bool code_block_has(const struct code_block *block, const struct code_address *at);

/* Find the code of the function NAME at AT.  Return false, reported as above. */
bool code_files_block(struct code_files *c, const struct code_address *at, const char *name,
		      struct code_block *block);

/* Return the path of a block's file. */
const char *code_block_path(const struct code_block *block);

/* Set *PATH and *LINE to the source line of the instruction at ADDRESS.  False: it is unknown. */
bool code_block_line(const struct code_block *block, uint64_t address, const char **path,
		     uint32_t *line);

/* Write the name of what is at ADDRESS, such as "memcpy@plt" or "main+0x10".  False: no symbol. */
bool code_block_symbol(const struct code_block *block, uint64_t address, char *name, size_t size);

/* Return when the file of the mapping of the location INDEX was changed last; 0: unknown. */
int64_t code_files_modified(struct code_files *c, uint32_t index);

void code_files_release(struct code_files *c);
