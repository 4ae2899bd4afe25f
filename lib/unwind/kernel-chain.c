/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Continues stacks by the kernel's callchain.  If the kernel has followed the user's frame
 * pointers, its callchain was made from memory itself, so it may have frames that the dump lacks:
 * the rest of a long stack, or the frames of another stack, from which the thread has switched.
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

/* Return the return address WORD without a signature. */
static uint64_t strip(const struct walk_process *at, uint64_t word)
{
	const uint64_t most = 1ULL << 48;

	return word < most ? word : machine_strip(at->machine, word,
						  mappings_from(&at->space->code, most));
}

/* Return word I of CHAIN as a return address. */
static uint64_t address_at(const struct walk_process *at, struct words chain, uint64_t i)
{
	return strip(at, word_at(chain, i));
}

/*
 * Return how many words of CHAIN the kernel had written when it came to the frame pointer
 * u->last_pointer: the next word is the last frame's caller.  0: the kernel may have followed other
 * frames.
 */
static uint64_t follow_pointers(const struct unwind *u, const struct walk_process *at,
				const struct dump *dump, struct words chain)
{
	unsigned fp = at->machine->fp;
	uint64_t pointer = dump->registers.value[fp], next, address, count = 1;

	if (!u->last_pointer || !(dump->registers.known >> fp & 1))
		return 0;
	while (pointer != u->last_pointer) {
		if (count >= chain.count || !dump_load(dump, pointer, &next) ||
		    !dump_load(dump, pointer + 8, &address) ||
		    strip(at, address) != address_at(at, chain, count))
			return 0;
		pointer = next;
		count++;
	}
	/* At the first instruction of a function, a uprobe's callchain has one caller more. */
	if (count == 1 && u->frames > 1 && chain.count > 1 &&
	    address_at(at, chain, 1) == u->frame[1].pc)
		return 0;
	return count;
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
static uint64_t find_callers(const struct unwind *u, const struct walk_process *at,
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

/* Return whether a function with RULE keeps a frame pointer.  Code without CFI is assumed to. */
static bool keeps_pointer(const struct rule *rule)
{
	return rule->kind == RULE_NO_CFI || (rule->kind == RULE_ROW && rule->keeps_pointer);
}

static const struct rule *rule_of(struct unwind *u, const struct walk_process *at,
				  const struct frame *f)
{
	uint32_t id = rule_find(u, at->space, at->pid, f->is_exact ? f->pc : f->pc - 1,
				f->is_exact);

	return u->rules.rule[id];	/* rule_find() may have moved the table */
}

/*
 * The kernel follows the frame pointer register, whatever its value.  So a word of the callchain
 * is a caller only if all functions since the last frame keep one: others may have any address
 * there.  But the first word is certain if the kernel took it from the place of the return
 * address.
 */
bool unwind_by_kernel(struct unwind *u, const struct walk_process *at, const struct dump *dump,
		      enum unwind_outcome outcome, struct words chain)
{
	struct words user = user_words(chain);
	uint64_t i = follow_pointers(u, at, dump, user);
	bool keeps = keeps_pointer(rule_of(u, at, &u->frame[u->frames - 1]));
	bool is_sure = i > 0;

	if (!i && (outcome == UNWIND_CUT || outcome == UNWIND_HOLE)) {
		i = find_callers(u, at, user);
		is_sure = i > 0 && keeps;
	}
	while (is_sure && i < user.count && u->frames < u->frames_max) {
		uint64_t address = address_at(at, user, i++);
		if (!address || !space_find(at->space, address - 1))
			return false;
		struct frame *f = &u->frame[u->frames++];
		*f = (struct frame){ .pc = address };
		const struct rule *rule = rule_of(u, at, f);
		f->is_exact = rule->is_pushed;
		if (rule->kind == RULE_END ||
		    (rule->kind == RULE_ROW && rule->ra_kind == CFI_UNDEFINED))
			return true;
		keeps = keeps && keeps_pointer(rule);
		is_sure = keeps;
	}
	return false;
}

bool chain_lacks_callers(const struct unwind *u, const struct walk_process *at, struct words chain)
{
	enum { START = 2 };	/* frames of a C library that call the code with frame pointers */
	struct words user = user_words(chain);
	uint32_t same = 0;

	while (same < user.count && same < u->frames &&
	       address_at(at, user, same) == u->frame[same].pc)
		same++;
	return u->frames - same > (same > 1 ? START : 0);
}
