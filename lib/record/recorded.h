/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorded - symbols that the recorder put into the stream: simpleperf's FILE feature.
 *
 * The files of a phone are not at hand where its recording is read, so simpleperf
 * writes down those symbols that its samples need.  Each FEATURE record holds one file
 * with some of its symbols:
 *
 *	u32 size of what follows; string path; u32 kind; u64 least address; u32 symbols;
 *	each: u64 address; u32 bytes; string name
 *	kind 3, dex files: u32 count; u64 offset[count]; else:
 *	u64 file offset of the least address (not in old ones)
 *
 * (simpleperf/record_file_format.h.)  FILE2 says the same in protocol buffers; the
 * reader makes FILE of it, and of what is too large for a record, several.
 */
#pragma once
#include "base/cursor.h"

enum recorded_kind { RECORDED_KERNEL, RECORDED_MODULE, RECORDED_ELF, RECORDED_DEX };

struct recorded_file {
	const char *path;
	uint32_t kind;			/* RECORDED_*, or one that we do not know */
	uint64_t least_address;		/* of its executable segment, in the ELF file, and */
	uint64_t least_offset;		/* in the file; UINT64_MAX: not told */
	uint32_t symbols;
	struct cursor list;		/* of symbols */
};

struct recorded_symbol {
	uint64_t address;
	uint32_t size;			/* bytes; 0: up to the next one */
	const char *name;
};

/* The next file at C; false at its end, or (c->failed) where it is damaged. */
bool recorded_next(struct cursor *c, struct recorded_file *file);

/* The next symbol of FILE; false where there is none, or no whole one. */
bool recorded_symbol(struct recorded_file *file, struct recorded_symbol *symbol);

/*
 * FILE2, decoded: the bytes of a FILE feature, of *SIZE, for the caller to free.  Of
 * damaged ones what comes before the damage.
 */
uint8_t *recorded_decode(struct cursor file2, size_t *size);

/* FILE, of one file each with at most MAX bytes: the next to TO; returns its size, 0: none. */
size_t recorded_split(struct recorded_file *file, uint8_t *to, size_t max);
