/* SPDX-License-Identifier: Apache-2.0 */
/*
 * branch-spool - whole branch stacks, kept in a file without a name until the binary is known.
 */
#pragma once
#include "base/report.h"
#include "branch/branch-stack.h"

struct branches;
struct branch_spool;

/* A stack as it was kept. */
struct branch_stack {
	uint32_t count;		/* branches, the newest first */
	struct kept_branch {
		uint64_t from, to;	/* places */
		uint64_t flags;
		bool has_range;		/* between it and the branch before it in this array */
	} branch[BRANCH_DEPTH_MAX];
};

struct branch_spool *branch_spool_new(struct report *report);

/* Add the COUNT branches whose entries and places B has.  Failure is reported once. */
void branch_spool_add(struct branch_spool *s, struct branches *b, uint32_t count);

/* Read from the first stack on. */
void branch_spool_rewind(struct branch_spool *s);

/* Read the next stack.  False: the end, or a failure (reported). */
bool branch_spool_next(struct branch_spool *s, struct branch_stack *out);

/* Return whether stacks are missing (reported). */
bool branch_spool_failed(const struct branch_spool *s);

void branch_spool_free(struct branch_spool *s);
