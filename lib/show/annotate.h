/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotate - the cost of each source line and each instruction of the functions of a profile.
 *
 *	struct annotate a = { .d = profile, ... };
 *
 *	annotate_choose(&a, &filter, type, 10);
 *	annotate_count(&a, type);
 *	annotate_show(&a, &sink);
 *	annotate_release(&a);
 *
 * A function here is a name and a source file, as in go tool pprof -list.  Functions, lines and
 * instructions that have samples are rows, each with a sum of flat and of cumulative values.
 */
#pragma once
#include "compare/bars.h"
#include "compare/ratios.h"
#include "listing/object-code.h"
#include "listing/source-text.h"
#include "names/name-filter.h"
#include "pprof/decode.h"

enum annotate_what { ANNOTATE_SOURCE, ANNOTATE_CODE, ANNOTATE_BOTH };

struct annotate_row {
	int64_t value[BARS_KINDS];
	uint64_t seen_in;	/* private: last sample counted in the cumulative value */
};

/* A line of a function that has samples. */
struct annotate_number {
	int64_t line;		/* 0: unknown */
	uint32_t row;
};

/* A piece of a function's code. */
struct annotate_block {
	struct code_block block;
	struct disassembly code;
	uint32_t *row;		/* by instruction; 0: no sample */
};

struct annotate_function {
	const char *name, *file;	/* FILE "": unknown */
	uint32_t row;
	int64_t value[BARS_KINDS];	/* of all samples, to choose by */
	struct annotate_number *number;	/* sorted by line */
	uint32_t numbers;
	struct annotate_block *block;	/* sorted by address, if code is shown */
	uint32_t blocks;
	uint32_t first;		/* a location in it; TABLE_NONE: it is only inlined */
	uint32_t inlined_into;	/* function of the profile that it is inlined into, or TABLE_NONE */
	bool is_scattered;	/* it has more blocks, which are left out */
};

/* Zero-initialised except for the first fields. */
struct annotate {
	const struct decoded *d;
	struct code_files *code;
	struct source_texts *texts;
	struct report *report;
	enum annotate_what what;
	uint64_t context;	/* lines, or instructions, around each that has samples */
	bool no_bars;
	struct disassembler disassembler;	/* its STOP ends this, too */
	/* the result: */
	struct annotate_function *function;	/* those chosen, by flat value */
	uint32_t functions, matches;	/* chosen; all that match */
	struct annotate_row *row;	/* 0 is unused */
	uint32_t rows;
	int64_t total;		/* of all samples */
	uint64_t whole;		/* 100 %: sum of absolute values */
	struct bars bars;	/* of the rows, if they are made */
	bool has_bars;
	/* private: */
	uint64_t samples;
	uint32_t *function_of;	/* by function of the profile; TABLE_NONE: it does not match */
	struct annotate_location {
		uint32_t first, count;	/* its entries, innermost first */
		uint32_t outermost;	/* chosen function, or TABLE_NONE */
		uint32_t code;		/* row of its instruction; 0: none */
	} *location;			/* by location of the profile */
	struct annotate_entry {
		uint32_t function, line;	/* rows */
		bool is_leaf;		/* the innermost of its location */
	} *entry;
	uint32_t entries;
};

/*
 * Choose the functions whose names match FILTER; of the ways to match, the surest that finds a
 * function counts.  Of those found, at most MOST are kept, those with the largest values of sample
 * type TYPE.  Return false if no function matches.
 */
bool annotate_choose(struct annotate *a, const struct name_filter *filter, size_t type,
		     uint64_t most);

/* Find lines and instructions, and count the values of sample type TYPE, with error bars. */
void annotate_count(struct annotate *a, size_t type);

/* Add the ratio of two sample types in the same rows.  Return false if one has no error bars. */
bool annotate_add_ratio(struct annotate *a, struct ratio_column *c, size_t x, size_t y);

/* Something to print. */
struct annotate_line {
	bool is_code;
	bool is_hot;		/* it has a large part of the function's cost */
	uint64_t number;	/* of the line; or address of the instruction */
	uint32_t row;		/* 0: no samples */
	const char *file;	/* of a source line among instructions; else NULL */
	const char *text;	/* safe to print; "": unknown */
};

/* The number that annotate_line.row stands for, as a share of the whole. */
double annotate_share(const struct annotate *a, uint32_t row, enum bars_of kind);

/* Where annotate_show() prints to. */
struct annotate_sink {
	void *context;
	void (*function)(void *context, const struct annotate_function *f);
	/* lines of this FILE, or instructions of this object, follow */
	void (*begin)(void *context, const char *file, bool is_code);
	void (*line)(void *context, const struct annotate_line *line);
	void (*gap)(void *context);	/* some lines are left out here */
	void (*note)(void *context, const char *text);
	void (*end)(void *context);
};

/* Print all functions to SINK. */
void annotate_show(struct annotate *a, const struct annotate_sink *sink);

void annotate_release(struct annotate *a);
