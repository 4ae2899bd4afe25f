/* SPDX-License-Identifier: Apache-2.0 */
/*
 * branch-stack - the entries of a sample's branch stack, and what they say about executed code.
 *
 * The newest entry comes first.  Entry I is a taken branch.  From the target of entry I to the
 * branch instruction of entry I - 1 the CPU executed straight-line code, both included: that is
 * range I.  A stack of D entries has D branches and D - 1 ranges.  The code from the target of the
 * newest entry to the sampled address is not a range, because of skid.
 */
#pragma once
#include "record/sample.h"

enum {
	/* a record has no room for more */
	BRANCH_DEPTH_MAX = RECORD_MAX_SIZE / 24,
	BRANCH_RANGE_MAX = 1 << 20,	/* bytes; no function has a longer run without a branch */
};

/* struct perf_branch_entry (linux/perf_event.h). */
struct branch_entry {
	uint64_t from, to;	/* addresses of the branch instruction and of its target */
	uint64_t flags;
};

/* What was left out of all stacks so far, by reason. */
struct branch_drops {
	/* entries */
	uint64_t empty;		/* both addresses are 0 */
	uint64_t wrong_path;	/* the CPU took the branch speculatively, and undid it */
	uint64_t interrupts;	/* the newest entry is an interrupt, not a branch */
	uint64_t kernel;	/* one end is in the kernel: it ends what is known of the program */
	/* ranges */
	uint64_t duplicates;	/* the newest entry was recorded twice */
	uint64_t backward;	/* the end is before the start */
	uint64_t longer;	/* longer than BRANCH_RANGE_MAX */
	uint64_t broken;	/* the start and the end are in different functions */
	/* counts that found no room */
	uint64_t cells;		/* of branches and ranges, see branch-cells.h */
};

static inline bool branch_is_mispredicted(uint64_t flags)
{
	return flags & 1;
}

static inline bool branch_is_predicted(uint64_t flags)
{
	return flags >> 1 & 1;
}

/* Return the cycles since the branch before it; 0: unknown. */
static inline uint64_t branch_cycles(uint64_t flags)
{
	return flags >> 4 & 0xffff;
}

/* Return its type, PERF_BR_*; 0: unknown. */
static inline unsigned branch_type(uint64_t flags)
{
	return flags >> 20 & 15;
}

static inline bool branch_address_is_kernel(uint64_t address)
{
	return address >> 63;
}

/* Store the entries of WORDS that are branches in OUT, and return their number. */
uint32_t branch_stack_take(struct words words, struct branch_entry out[BRANCH_DEPTH_MAX],
			   struct branch_drops *drops);

/*
 * Return whether range I of the COUNT entries E can be true.  The same object must have both of its
 * ends.
 */
bool branch_stack_range(const struct branch_entry *e, uint32_t i, struct branch_drops *drops);

/* What the samples of an event have. */
enum branch_content {
	BRANCH_NOTHING,		/* no branch stack */
	BRANCH_CALL_STACK,	/* calls that have not returned: a callchain, not branches */
	BRANCH_SOME,		/* branches of some kinds: there are no ranges between them */
	BRANCH_ALL,		/* every taken branch */
};

enum branch_content branch_content(const struct perf_event_attr *attr);
