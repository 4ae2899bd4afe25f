/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Continues cut stacks by the kernel's callchain.  If the kernel has followed the user's frame
 * pointers, its callchain may be longer than the dump, because it was made from the stack itself.
 */
#include "unwind/internal.h"

/* Return the words after the first marker of the user in CHAIN, up to the next marker. */
static struct words user_words(struct words chain)
{
	struct words user = { .at = chain.at };

	while (chain.count && word_at(chain, 0) != (uint64_t)PERF_CONTEXT_USER) {
		chain.at += 8;
		chain.count--;
	}
	if (!chain.count)
		return user;
	user = (struct words){ .at = chain.at + 8 };
	while (user.count < chain.count - 1 &&
	       word_at(user, user.count) < (uint64_t)PERF_CONTEXT_MAX)
		user.count++;
	return user;
}

/* Return word I of CHAIN as a return address. */
static uint64_t address_at(const struct walk_place *at, struct words chain, uint64_t i)
{
	const uint64_t most = 1ULL << 48;
	uint64_t word = word_at(chain, i);

	return word < most ? word : machine_strip(at->machine, word,
						  mappings_from(&at->space->code, most));
}

/* Return whether all callers that were found are at one address, as in a recursion. */
static bool is_one_call(const struct unwind *u)
{
	for (uint32_t i = 2; i < u->frames; i++)
		if (u->frame[i].pc != u->frame[1].pc)
			return false;
	return true;
}

/*
 * Return how many words of CHAIN belong to the frames that were found; the callers of the last
 * frame follow.  0: unknown.
 *
 * The caller of the first frame may be missing in CHAIN, as that function may have no frame yet.
 * A function that calls itself has many frames at one address.  So with one caller, or several at
 * one address, it is unknown whether the first word with that address belongs to the first or the
 * second of them.
 */
static uint64_t find_callers(const struct unwind *u, const struct walk_place *at,
			     struct words chain)
{
	uint64_t last = u->frame[u->frames - 1].pc, found = 0, times = 0, same = 0;

	if (is_one_call(u))
		return 0;
	while (same < chain.count && same < u->frames &&
	       address_at(at, chain, same) == u->frame[same].pc)
		same++;
	if (same == u->frames)
		return same;
	for (uint64_t i = 0; i < chain.count; i++) {
		if (address_at(at, chain, i) != last)
			continue;
		found = i + 1;
		times++;
	}
	return times == 1 ? found : 0;
}

bool unwind_by_kernel(struct unwind *u, const struct walk_place *at, struct words chain)
{
	struct words user = user_words(chain);
	uint64_t i = find_callers(u, at, user);

	while (i > 0 && i < user.count && u->frames < u->options.stack_max) {
		uint64_t address = address_at(at, user, i++);
		if (!address || !space_find(at->space, address - 1))
			return false;
		u->frame[u->frames++] = (struct frame){ .pc = address };
		uint32_t id = rule_find(u, at->space, at->pid, address - 1, false);
		const struct rule *rule = u->rules.rule[id];
		if (rule->kind == RULE_END ||
		    (rule->kind == RULE_ROW && rule->ra_kind == CFI_UNDEFINED))
			return true;
	}
	return false;
}
