/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorded - reads symbols that the recorder put into the stream: simpleperf's FILE feature.
 *
 * A phone's files are not available where its recording is read, so simpleperf records
 * the symbols that its samples need.  Each FEATURE record has one file with some of its
 * symbols:
 *
 *	u32 size of what follows; string path; u32 kind; u64 least address; u32 symbols;
 *	each: u64 address; u32 bytes; string name
 *	kind 3 (dex file): u32 count; u64 offset[count]
 *	other kinds: u64 file offset of the least address (missing in old recordings)
 *
 * (simpleperf/record_file_format.h.)  FILE2 has the same contents as protocol buffers; the
 * reader converts it to FILE, and splits a file that is too large for one record.
 */
#pragma once
#include "base/cursor.h"

enum recorded_kind { RECORDED_KERNEL, RECORDED_MODULE, RECORDED_ELF, RECORDED_DEX };

struct recorded_file {
	const char *path;
	uint32_t kind;			/* enum recorded_kind, or an unknown kind */
	uint64_t least_address;		/* ELF address of its executable segment */
	uint64_t least_offset;		/* file offset of that segment; UINT64_MAX: unknown */
	uint32_t symbols;		/* number of symbols that are still unread */
	struct cursor list;		/* unread symbols */
};

struct recorded_symbol {
	uint64_t address;
	uint32_t size;			/* bytes; 0: up to the next symbol */
	const char *name;
};

/* Read the next file at C.  Return false at the end, or (with c->failed) if it is damaged. */
bool recorded_next(struct cursor *c, struct recorded_file *file);

/* Read the next symbol of FILE.  Return false after the last symbol, or if it is truncated. */
bool recorded_symbol(struct recorded_file *file, struct recorded_symbol *symbol);

/*
 * Return FILE2 converted to a FILE feature of *SIZE bytes; the caller frees.  If FILE2 is
 * damaged, only the part before the damage is converted.
 */
uint8_t *recorded_decode(struct cursor file2, size_t *size);

/*
 * Write the next symbols of FILE to TO, as a FILE feature of at most MAX bytes with this
 * one file.  Return its size in bytes; 0: no symbols are left.
 */
size_t recorded_split(struct recorded_file *file, uint8_t *to, size_t max);
