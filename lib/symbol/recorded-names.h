/* SPDX-License-Identifier: Apache-2.0 */
/* recorded_names - the symbols that a stream has itself (stream/recorded.h), by file. */
#pragma once
#include "base/intern.h"
#include "record/recorded.h"

/* Zero-initialised: none. */
struct recorded_names {
	struct recorded_names_file {
		uint32_t path;		/* in STRINGS */
		uint32_t kind;		/* RECORDED_* */
		uint64_t least_address, least_offset;	/* as of recorded_file */
		struct recorded_symbol *symbol;	/* names are in STRINGS */
		size_t symbols;
		bool sorted;
	} *file;
	uint32_t files;
	struct table table;		/* by path */
	struct intern strings;
};

/* Take in a FILE feature.  False where it is damaged. */
bool recorded_names_add(struct recorded_names *names, struct cursor feature);

/* The index of the file of this path, or TABLE_NONE. */
uint32_t recorded_names_file(const struct recorded_names *names, const char *path);

/*
 * The address in FILE of what it has at OFFSET (bytes from its start), START bytes behind
 * the start of a mapping.
 */
uint64_t recorded_names_address(const struct recorded_names *names, uint32_t file,
				uint64_t offset, uint64_t start);

/* The symbol at ADDRESS of FILE, or NULL. */
const char *recorded_names_find(struct recorded_names *names, uint32_t file, uint64_t address);

void recorded_names_release(struct recorded_names *names);
