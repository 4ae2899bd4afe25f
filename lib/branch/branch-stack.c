/* SPDX-License-Identifier: Apache-2.0 */
#include "branch/branch-stack.h"

/*
 * Return whether the newest entry, E, is an interrupt.  Arm's BRBE records it as it stops for the
 * sample: as an exception (PERF_BR_EXTEND_ABI: a type of its own), or without the target, which is
 * in the kernel.
 */
static bool is_interrupt(const struct branch_entry *e)
{
	unsigned type = branch_type(e->flags);

	return type == PERF_BR_EXTEND_ABI ||
	       ((type == PERF_BR_IRQ || type == PERF_BR_ERET) && e->to == 0);
}

uint32_t branch_stack_take(struct words words, struct branch_entry out[BRANCH_DEPTH_MAX],
			   struct branch_drops *drops)
{
	bool is_newest = true;
	uint32_t count = 0;

	for (uint64_t i = 0; i + 2 < words.count && count < BRANCH_DEPTH_MAX; i += 3) {
		struct branch_entry e = { .from = word_at(words, i), .to = word_at(words, i + 1),
					  .flags = word_at(words, i + 2) };
		if (e.from == 0 && e.to == 0) {
			drops->empty++;
			continue;
		}
		if ((e.flags >> 24 & 3) == PERF_BR_SPEC_WRONG_PATH) {
			drops->wrong_path++;
			continue;
		}
		bool is_dropped = is_newest && is_interrupt(&e);
		is_newest = false;
		if (is_dropped)
			drops->interrupts++;
		else
			out[count++] = e;
	}
	return count;
}

/*
 * Return whether entries A and B are one branch that was recorded twice.  Two equal entries may
 * also be two rounds of a short loop, so only a jump that cannot be a short loop counts.  For a
 * jump forward, the difference wraps around.
 */
static bool is_duplicate(const struct branch_entry *a, const struct branch_entry *b)
{
	const uint64_t short_loop = 0x1000;	/* bytes */

	return a->from == b->from && a->to == b->to && a->from - a->to > short_loop;
}

bool branch_stack_range(const struct branch_entry *e, uint32_t i, struct branch_drops *drops)
{
	uint64_t start = e[i].to, end = e[i - 1].from;

	if (i == 1 && is_duplicate(&e[0], &e[1]))
		drops->duplicates++;
	else if (end < start)
		drops->backward++;
	else if (end - start > BRANCH_RANGE_MAX)
		drops->longer++;
	else
		return true;
	return false;
}

enum branch_content branch_content(const struct perf_event_attr *attr)
{
	uint64_t kinds = attr->branch_sample_type;

	if (!(attr->sample_type & PERF_SAMPLE_BRANCH_STACK))
		return BRANCH_NOTHING;
	if (kinds & PERF_SAMPLE_BRANCH_CALL_STACK)
		return BRANCH_CALL_STACK;
	return kinds & PERF_SAMPLE_BRANCH_ANY ? BRANCH_ALL : BRANCH_SOME;
}
