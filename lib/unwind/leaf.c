/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/leaf.h"
#include "code/instruction.h"
#include "unwind/internal.h"

#include <stdlib.h>

/* The bit of LR in attr.sample_regs_user: PERF_REG_ARM64_LR, arch/arm64/.../asm/perf_regs.h. */
#define LR (1ULL << 30)

/* Return whether samples of events with ATTR have callchains by frame pointers, and LR. */
static bool is_wanted(const struct perf_event_attr *attr)
{
	const uint64_t wanted = PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER;

	return (attr->sample_type & (wanted | PERF_SAMPLE_STACK_USER)) == wanted &&
	       attr->sample_regs_user & LR && !attr->exclude_callchain_user;
}

static void start(struct leaf_callers *l, const struct stream_reader *in)
{
	const struct unwind_options options = {
		.where = *l->where, .no_join = true, .is_swapped = stream_is_swapped(in),
	};

	l->quiet = mem_zeroed(1, sizeof(*l->quiet));
	*l->quiet = (struct report){ .tool = "", .quiet = true };
	l->unwind = unwind_new(&options, stream_origin(in), l->quiet);
}

void leaf_callers_follow(struct leaf_callers *l, const struct stream_reader *in,
			 const struct record *rec)
{
	const struct stream_events *events = stream_events(in);

	for (; !l->unwind && l->events < events->count; l->events++)
		if (is_wanted(&events->event[l->events].attr))
			start(l, in);
	if (l->unwind)
		unwind_follow(l->unwind, rec);
}

/* Return the index of the first user address in CHAIN, or CHAIN.count if it has none. */
static uint64_t first_user(struct words chain)
{
	uint64_t i = 0;

	while (i < chain.count && word_at(chain, i) != (uint64_t)PERF_CONTEXT_USER)
		i++;
	return i + 1 < chain.count && word_at(chain, i + 1) < (uint64_t)PERF_CONTEXT_MAX
		       ? i + 1 : chain.count;
}

/* Return whether a function with RULE has changed its frame pointer, or saved it in order to. */
static bool saves_pointer(const struct rule *rule, const struct machine *m)
{
	for (unsigned i = 0; i < rule->saves; i++)
		if (rule->save[i].reg == m->fp)
			return true;
	return false;
}

/*
 * Return whether the code from PC on sets the frame pointer before control can go elsewhere: then
 * PC is in the first instructions of a function, and no loop leads back to PC.
 */
static bool is_before_frame(struct unwind *u, const struct walk_process *process, uint64_t pc)
{
	enum { INSTRUCTIONS = 16, SIZE = 4 };
	const struct machine *m = process->machine;
	uint8_t bytes[SIZE];
	struct opcode i;
	bool is_live;

	for (int n = 0; n < INSTRUCTIONS; n++, pc += SIZE) {
		if (!code_bytes_copy(u, process, pc, bytes, SIZE, &is_live) ||
		    !instruction_read(m, bytes, SIZE, pc, &i))
			return false;
		if (i.kind == INSTRUCTION_MOVE && i.reg == m->fp)
			return i.base == m->sp;
		if (i.kind != INSTRUCTION_OTHER && i.kind < INSTRUCTION_ADJUST)
			return false;
	}
	return false;
}

/*
 * Return whether the return address of the function at PC is still ADDRESS, the value of LR.  The
 * code at PC has RULE; NEXT is the next word of the callchain.
 *
 * Call frame information is trusted, unless the code before ADDRESS, or the code from the start of
 * the function to PC, contradicts it.  Without it, LR must be unchanged on that way.
 *
 * If LR was saved, it must be unchanged, and the frame pointer not set yet.
 *
 * If the frame pointer is the function's own, the kernel has found the caller.  This may be so
 * after LR is restored, and before the frame pointer is: then NEXT is ADDRESS, too.
 */
static bool is_return(struct unwind *u, const struct walk_process *process, const struct rule *rule,
		      uint64_t pc, uint64_t address, uint64_t next)
{
	const struct machine *m = process->machine;
	bool has_row = rule->kind == RULE_ROW && !rule->scan;
	bool is_saved = has_row && (rule->ra_kind != CFI_SAME || rule->ra_reg != m->lr);

	if (rule->kind == RULE_END || rule->kind == RULE_NO_CODE || rule->is_signal)
		return false;
	if (has_row && !is_saved && saves_pointer(rule, m) && next == address)
		return false;
	struct caller c = caller_check(u, process, pc, address);
	bool is_unchanged = c.kind == CALLER_CERTAIN && c.has_depth && c.is_in_register &&
			    c.frame != CALLER_FRAME_OWN;
	if (is_saved)
		return is_unchanged && is_before_frame(u, process, pc);
	if (has_row)
		return caller_is_possible(&c) &&
		       (!c.has_depth || c.is_in_register || c.is_restored);
	return is_unchanged && c.depth == 0;
}

/*
 * Return the caller of the function at PC, where S was interrupted, if the callchain, which goes on
 * with NEXT, lacks it; or 0.
 */
static uint64_t find_caller(struct unwind *u, const struct perf_event_attr *attr,
			    const struct sample *s, uint64_t pc, uint64_t next)
{
	const uint64_t most = 1ULL << 48;
	struct walk_process process = { .pid = s->pid, .machine = unwind_machine(u) };
	uint64_t at = (uint64_t)__builtin_popcountll(attr->sample_regs_user & (LR - 1));

	if (!process.machine || process.machine->lr == NO_REGISTER || u->options.is_swapped ||
	    s->user_regs_abi != ABI_64 || at >= s->user_regs.count)
		return 0;
	unwind_begin(u, attr, s);
	process.space = spaces_find(&u->spaces, s->pid);
	bool is_large = mappings_from(&process.space->code, most);
	uint64_t address = machine_strip(process.machine, word_at(s->user_regs, at), is_large);
	next = machine_strip(process.machine, next, is_large);
	if (!address || !space_find(process.space, address - 1))
		return 0;
	uint32_t id = rule_find(u, process.space, s->pid, pc, true);
	return is_return(u, &process, u->rules.rule[id], pc, address, next) ? address : 0;
}

void leaf_callers_add(struct leaf_callers *l, const struct stream_reader *in, struct sample *s)
{
	const struct perf_event_attr *attr = &stream_events(in)->event[s->event].attr;
	struct words chain = s->callchain;

	if (!l->unwind || !is_wanted(attr))
		return;
	uint64_t leaf = first_user(chain);
	if (leaf == chain.count)
		return;
	uint64_t next = leaf + 1 < chain.count ? word_at(chain, leaf + 1) : 0;
	uint64_t caller = find_caller(l->unwind, attr, s, word_at(chain, leaf), next);
	if (!caller)
		return;
	if (l->room <= chain.count) {
		l->room = 2 * chain.count + 2;
		l->chain = mem_resize(l->chain, 8 * l->room);
	}
	uint64_t before = 8 * (leaf + 1), after = 8 * chain.count - before;
	memcpy(l->chain, chain.at, before);
	memcpy(l->chain + before, &caller, 8);
	memcpy(l->chain + before + 8, chain.at + before, after);
	s->callchain = (struct words){ .at = l->chain, .count = chain.count + 1 };
}

void leaf_callers_release(struct leaf_callers *l)
{
	unwind_free(l->unwind);
	free(l->quiet);
	free(l->chain);
	*l = (struct leaf_callers){ 0 };
}
