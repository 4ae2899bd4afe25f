/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row-split - finds the values of a row, which is a line of JSON (pmu-rows(5)), without a copy.
 *
 * Most rows have a stack that an earlier row had.  Its text is compared, not scanned: where to look
 * says the row's hash, which comes before the stack.  A wrong hash costs time, and nothing else.
 */
#pragma once
#include "base/byte-ids.h"

enum row_key {
	ROW_TIME, ROW_TIME_NS, ROW_DURATION, ROW_HOST, ROW_SERVICE, ROW_TYPE, ROW_UNIT, ROW_VALUE,
	ROW_SAMPLES, ROW_HASH, ROW_STACK, ROW_LABELS, ROW_UNITS, ROW_FILE, ROW_LINE, ROW_BUILD_ID,
	ROW_KEYS
};

/* The text of a value, such as "f" in quotes, or [ "main", "f" ]. */
struct row_value {
	const char *at;
	size_t size;		/* bytes; 0: the row does not have it, or it is null */
};

struct row_line {
	struct row_value value[ROW_KEYS];	/* by enum row_key */
	uint32_t stack;		/* id of the stack's text in row_stacks.texts; or TABLE_NONE */
};

/* The texts of all stacks so far, and where to find them. */
struct row_stacks {
	struct byte_ids texts, hashes;
	uint32_t *of_hash;	/* by id of the hash: id of the stack's text */
};

/*
 * Find the values of the row in the SIZE bytes at LINE.  Other keys are skipped.  Return NULL, or
 * what is wrong with the line.  The values are not checked, but each ends where it must.
 */
const char *row_split(struct row_line *row, const char *line, size_t size,
		      const struct row_stacks *known);

/*
 * Set *NUMBER to V, a whole number that may be in quotes, and may be written as 12.0 or 1.5e3.
 * Return false if V is not a whole number, or does not fit.
 */
bool row_number(struct row_value v, int64_t *number);

/* Return whether V is a number of JSON, of any size. */
bool row_is_number(struct row_value v);

/* The same as row_number() for one from 0 to MOST.  A value that the row does not have is 0. */
bool row_number_to(struct row_value v, int64_t most, int64_t *number);
