/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top - the cost of each function of profiles, itself (flat) and with its callees (cumulative);
 * or of each object, source file, line, whole stack, or value of a label.
 *
 *	struct top top = { .how = { .by = FRAMES_BY_FUNCTION } };
 *
 *	top_add(&top, profile, type);		for one profile or several
 *	top_sort(&top, false);
 *	use top.row[top.order[0]] to top.row[top.order[top.count - 1]]
 *	top_release(&top);
 */
#pragma once
#include "base/intern.h"
#include "compare/bars.h"
#include "pprof/frames.h"

struct top_row {
	const char *name;	/* function, or "[libfoo.so: 6,570 addresses]"; set by top_sort() */
	int64_t flat;		/* value of samples in which it is the leaf */
	int64_t cumulative;	/* value of samples that have it anywhere, each once */
	uint32_t object;	/* in OBJECTS; 0: unknown */
	uint64_t addresses;	/* of an object, without a function; 0: a function */
	uint64_t seen_in;	/* private: last sample counted in CUMULATIVE */
};

/* A call of one row by another, directly or through inlined calls. */
struct top_call {
	uint32_t caller, callee;	/* rows */
	int64_t value;		/* of samples with this call, each once */
	uint64_t seen_in;	/* private: last sample counted in VALUE */
};

struct top_how {
	enum frames_by by;
	bool stacks;		/* a row for each stack of functions instead, leaf first */
	const char *label;	/* a row for each value of this label instead; NULL: by BY */
	bool leaves;		/* flat values only: the callers in a stack are not looked at */
	bool calls;		/* collect calls, too */
	bool objects;		/* find the object of each row */
	bool waits;		/* the kernel's frames of a wait are one row, "[waits: futex]";
				   functions without a value get no row */
};

/* Zero-initialised except for HOW: empty. */
struct top {
	struct top_how how;
	struct intern names;	/* ids are rows */
	struct top_row *row;	/* row 0 is unused */
	uint32_t rows;
	struct intern objects;	/* base names of objects */
	struct intern frames;	/* names of functions and objects in stacks, if HOW.stacks */
	size_t stack_bytes;	/* in the names of stacks */
	struct top_call *call;
	uint32_t calls;
	struct table call_table;	/* over CALL */
	int64_t total;		/* value of all samples; in a difference, the growth */
	uint64_t all, base;	/* sums of absolute values: of all samples, of the base's */
	bool is_difference;	/* some samples have the label PROFILE_BASE */
	bool has_functions;	/* some address has a name */
	bool has_label;		/* some sample has HOW.label */
	uint64_t samples;	/* stacks that were added; stamps SEEN_IN */
	struct bars *bars;	/* error bars of the rows, owned by the caller; NULL: none */
	/* set by top_sort(): */
	uint32_t *order;	/* rows, the largest first, whatever their sign */
	uint32_t count;		/* of ORDER */
	struct arena shown;	/* names of objects */
};

/*
 * Add the values of the sample type of D with index TYPE.  All addresses of an object that
 * have no function are one row.  T does not refer to D afterwards.
 */
void top_add(struct top *t, const struct decoded *d, size_t type);

/*
 * Add the same of a single profile, and make BARS, which the caller releases after T.  The
 * samples that stand for lost ones are left out if there are bars.  RUN: as for bars_init().
 */
void top_add_with_bars(struct top *t, const struct decoded *d, size_t type, struct bars *bars,
		       const struct bars_run *run);

/* Add FROM, which was made with the same HOW, to T. */
void top_merge(struct top *t, const struct top *from);

/* If T has more than MOST rows, keep the larger half; the others become the row "[other]". */
void top_limit(struct top *t, uint32_t most);

/* Return whether a sample type with this NAME is of threads that waited. */
bool top_is_of_waits(const char *name);

/* Return what a row is called: "function", "object", "stack", "value" (of a label). */
const char *top_row_kind(const struct top_how *how);

/* Return 100 %: the sum of all absolute values, or of the base's in a difference. */
uint64_t top_whole(const struct top *t);

/* Write the name, before sorting, of the row of an object's addresses.  PATH: its path. */
void top_name_object(const char *path, char *name, size_t size);

/* Return whether ROW stands for the addresses of OBJECT, a base name, that are in no function. */
bool top_is_object(const struct top_row *row, const char *object);

/* Return the object of a row: "libc.so.6"; "[several]" if the name is in several; or "". */
const char *top_object(const struct top *t, uint32_t row);

/* Sort and name the rows that samples have: by flat, or if BY_CUMULATIVE by cumulative value. */
void top_sort(struct top *t, bool by_cumulative);

/* Return the absolute value. */
static inline uint64_t top_size(int64_t value)
{
	return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

/* Free all that T holds.  It is empty again, with the same HOW. */
void top_release(struct top *t);
