/* SPDX-License-Identifier: Apache-2.0 */
/*
 * branches - counts the branches and ranges in the branch stacks of a stream.
 *
 *	struct branches *b = branches_new(&how, &report);
 *
 *	branches_read(b, in);
 *	if (branches_choose(b))
 *		use b->cells
 *	branches_free(b);
 */
#pragma once
#include "branch/branch-objects.h"
#include "branch/branch-stack.h"
#include "stream/selection.h"

#include <signal.h>

/* What is kept of a stack. */
enum branch_rule {
	/* each branch with an end in the binary, and each range between two of them */
	BRANCH_BY_END,
	/*
	 * As AutoFDO counts: of branches only those that start and end in the binary, and have a
	 * range after them (the newest needs none); stubs (PLT) are code; sampled addresses, too.
	 */
	BRANCH_BY_RANGE,
	BRANCH_STACKS,		/* whole stacks, in their order: see branch-spool.h */
};

struct branches_how {
	struct locate_options where;	/* of the objects' files */
	struct branch_wanted wanted;
	const struct selection *selection;
	enum branch_rule rule;
	bool needs_ranges;	/* samples without ranges are left out */
	bool counts_ranges;	/* by BRANCH_BY_END: count those that there are */
	/*
	 * All objects are of interest if none is asked for; branches have their types, and stubs
	 * (PLT) are code: they are functions.
	 */
	bool is_for_people;
	uint32_t most_cells;
};

/* Counts of the samples that were selected. */
struct branch_counts {
	uint64_t samples;	/* all */
	uint64_t stacks;	/* with branches */
	uint64_t unsuited;	/* without ranges, though ranges are needed */
	uint64_t calls;		/* with call stacks, which are not branches */
	uint64_t entries;	/* branches, without the entries that struct branch_drops counts */
	uint64_t inside;	/* branches with an end in an object that may be the binary */
	uint64_t timed;		/* stacks of events that count time or cycles, not branches */
	const char *timed_event;	/* name of the first of these events; NULL: none */
	const char *unsuited_event;	/* name of the first event without ranges; NULL: none */
	bool is_resolved;	/* the stream is resolved already: its samples have no branches */
};

struct branches {
	struct report *report;
	struct branches_how how;
	struct spaces spaces;
	struct sources sources;
	struct branch_objects objects;
	struct branch_cells cells;
	struct branch_counts counts;
	struct branch_drops drops;
	struct branch_spool *spool;	/* of BRANCH_STACKS; NULL: none */
	/* private: */
	struct branch_recent {
		uint64_t generation;	/* of the space; 0: unused */
		uint64_t start, end;	/* addresses of the mapping */
		uint64_t file_offset;	/* of START */
		uint32_t object;	/* UINT32_MAX: not counted */
	} recent[64];
	struct branch_entry entry[BRANCH_DEPTH_MAX];
	uint64_t from[BRANCH_DEPTH_MAX], to[BRANCH_DEPTH_MAX];	/* places of the entries */
};

/* Return whether stubs (PLT) of the binary are outside of it. */
static inline bool branches_omit_stubs(const struct branches *b)
{
	return b->how.rule != BRANCH_BY_RANGE && !b->how.is_for_people;
}

/* HOW->wanted.elf is closed by branches_free(). */
struct branches *branches_new(const struct branches_how *how, struct report *report);

/* Read all of IN. */
void branches_read(struct branches *b, struct stream_reader *in);

/*
 * After the end of the stream: choose the binary, and leave in b->cells only what is in it.  False:
 * there is nothing to write (reported).
 */
bool branches_choose(struct branches *b, const struct stream_reader *in);

/* Return how many branches have an end in what was chosen. */
uint64_t branches_inside(const struct branches *b);

/* Return the file of the binary; NULL: not found (reported). */
struct elf *branches_elf(struct branches *b);

/*
 * Report at the end how many branches and ranges (RANGES) of the stream are in the binary, and with
 * -v what was left out.
 */
void branches_report(struct branches *b, uint64_t ranges);

void branches_free(struct branches *b);
