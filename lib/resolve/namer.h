/* SPDX-License-Identifier: Apache-2.0 */
/*
 * namer - the names and lines of a place, and the strings and functions that define them in the
 * resolved stream.
 *
 * The names depend on the place alone: it says in which file or table they are looked up.  No
 * answer is kept, so each place should be looked up once (frame-index.h).  Equal strings have one
 * id, and so have equal functions.
 */
#pragma once
#include "base/byte-ids.h"
#include "base/intern.h"
#include "base/pointers.h"
#include "base/report.h"
#include "base/table.h"
#include "names/demangle.h"
#include "resolved/resolved.h"

struct kernel_code;
struct place;
struct recorded_names;

enum { NAMER_LINES_MAX = 512 };	/* lines of one place: a function and its inlined calls */

/* The source of a name. */
enum name_source { BY_DEBUG, BY_GO, BY_SYMBOLS, BY_KERNEL, BY_JIT, BY_NOTHING, NAME_SOURCES };

/* The lines of a place, innermost first. */
struct named_lines {
	const struct resolved_line *line;	/* valid until the next lines */
	uint32_t count;		/* 0: no name is known */
	enum name_source by;
};

struct namer {
	/* The owner sets these; all others are zero at first. */
	struct resolved *definitions;	/* strings and functions are defined here */
	const struct kernel_code *kernel;
	struct recorded_names *recorded;	/* that the stream carries */
	struct pointers *source_strings;	/* ids of sources' strings, by their addresses */
	struct report *report;
	enum demangle_style demangle;
	bool no_inlines;		/* only functions, without the calls inlined into them */
	bool no_lines;			/* no files and lines */
	/* private: */
	struct intern strings;		/* same ids as definitions->string */
	struct table functions;		/* over definitions->function */
	size_t long_names;		/* bytes of long names from sources */
	struct byte_ids long_seen;	/* hashes of these names */
	uint32_t *readable;		/* string to its demangled string; 0: not demangled yet */
	uint32_t readables;		/* elements of READABLE */
	struct resolved_line line[NAMER_LINES_MAX];	/* the last lines that were returned */
};

/* Return the definitions' id of string TEXT. */
uint32_t namer_string(struct namer *n, const char *text);

/*
 * Return the id of TEXT, a name from a file. Names in a file may overlap, so all names together
 * may be far longer than the file. Beyond a total of LONG_NAMES_MAX bytes long names are cut.
 * A name that is defined again after a restart counts once.
 */
uint32_t namer_file_string(struct namer *n, const char *text);

/* Look up PLACE. */
struct named_lines namer_find(struct namer *n, const struct place *place);

/* Return the id of the function that stands for the variable SYMBOL, a string of a source. */
uint32_t namer_variable(struct namer *n, const char *symbol);

/* Return a line named NAME, which stands for addresses that are not known one by one. */
struct named_lines namer_fixed(struct namer *n, const char *name);

/* Forget all ids, because there are new definitions. */
void namer_restart(struct namer *n);

void namer_release(struct namer *n);
