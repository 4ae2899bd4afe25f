/* SPDX-License-Identifier: Apache-2.0 */
/* recorded_names - the symbols that the stream itself carries (record/recorded.h), by file. */
#pragma once
#include "base/intern.h"
#include "record/recorded.h"

enum { RECORDED_RUNS = 24 };

/* Zero-initialised: empty. */
struct recorded_names {
	struct recorded_names_file {
		uint32_t path;		/* id in STRINGS */
		uint32_t kind;		/* RECORDED_* */
		uint64_t least_address, least_offset;	/* as in struct recorded_file */
		struct recorded_symbol *symbol;	/* their names are in STRINGS */
		size_t symbols;
		size_t limit;		/* more symbols than this may have equal ones; 0: none */
		size_t run_end[RECORDED_RUNS];	/* SYMBOL consists of sorted runs: their ends */
		uint32_t runs;
	} *file;
	uint32_t files;
	struct table table;		/* indexes of FILE by path */
	struct intern strings;
	size_t symbols;			/* of all files */
	bool is_full;			/* symbols were dropped because of the limits */
};

/*
 * Add the symbols of a FILE feature; equal ones once. Beyond 2 million symbols of all files, or 64
 * MiB of names, they are dropped. Returns false if the feature is damaged.
 */
bool recorded_names_add(struct recorded_names *names, struct cursor feature);

/* Return the index of the file PATH, or TABLE_NONE. */
uint32_t recorded_names_file(const struct recorded_names *names, const char *path);

/*
 * Return the address that FILE's symbols use for the byte at file offset OFFSET, which is
 * mapped START bytes after the start of its mapping.
 */
uint64_t recorded_names_address(const struct recorded_names *names, uint32_t file,
				uint64_t offset, uint64_t start);

/* Return the name of the symbol at ADDRESS of FILE, or NULL. */
const char *recorded_names_find(struct recorded_names *names, uint32_t file, uint64_t address);

void recorded_names_release(struct recorded_names *names);
