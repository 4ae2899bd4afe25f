/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/caller.h"
#include "code/instruction.h"
#include "unwind/code-bytes.h"
#include "unwind/code-flow.h"
#include "unwind/internal.h"

enum {
	CALL_MAX = 10,		/* bytes of a call, with its prefixes */
	SEARCHED = 8192,	/* bytes before an address where its frame pointer is looked for */
	SEARCHED_LIVE = 2048,	/* the same in a living process, whose memory is slower to read */
	FRESH = 8,		/* rounds for which an answer about living code is kept */
	FRAMES_TRIED = 4,	/* how many instructions that set it are tried, the nearest first */
};

/* A question about the caller of a function, and the process in which it is asked. */
struct question {
	struct unwind *u;
	const struct walk_process *process;
	uint64_t callee;	/* address in the function */
	bool is_live;		/* code of the living process was read */
};

/* The state at the first instruction of a function. */
static const struct flow_state first = { .has_depth = true, .is_in_register = true };

/* Copy SIZE bytes of code at ADDRESS.  Return false if they are unknown. */
static bool read_code(struct question *q, uint64_t address, uint8_t *to, size_t size)
{
	return code_bytes_copy(q->u, q->process, address, to, size, &q->is_live);
}

/* The calls that may end at an address.  The start of an instruction of x86-64 is not certain. */
struct calls {
	bool is_known;		/* the bytes there could be read */
	bool is_indirect;	/* a call of an unknown address */
	uint64_t direct;	/* the address that is called; 0: none */
	uint64_t slot;		/* address of the word that has the address of the called function;
				   0: none */
};

static struct calls find_calls(struct question *q, uint64_t end)
{
	const struct machine *m = q->process->machine;
	const unsigned least = m->lr == NO_REGISTER ? 2 : 4, most = m->lr == NO_REGISTER ? CALL_MAX
											 : 4;
	struct calls c = { 0 };
	struct opcode i;
	uint8_t bytes[CALL_MAX];

	for (unsigned size = least; size <= most; size++) {
		uint8_t *at = bytes + CALL_MAX - size;
		if (!read_code(q, end - size, at, size))
			break;
		c.is_known = true;
		if (!instruction_read(m, at, size, end - size, &i) || i.size != size)
			continue;
		if (i.kind == INSTRUCTION_CALL && space_find(q->process->space, i.target))
			c.direct = i.target;
		else if (i.kind == INSTRUCTION_CALL_INDIRECT && i.target && !c.is_indirect)
			c.slot = i.target;
		else if (i.kind == INSTRUCTION_CALL_INDIRECT)
			c.is_indirect = true;
	}
	return c;
}

/*
 * Return the function with ADDRESS by the symbols of its file: its own addresses, moved to where
 * the process has them.  An empty range: unknown.
 */
static struct extent function_at(struct question *q, uint64_t address)
{
	const struct mapping *m = space_find(q->process->space, address);
	struct extent none = { 0, 0 };
	struct elf_symbol symbol;
	uint64_t own;

	if (!m)
		return none;
	struct code *code = code_of(q->u, m->object, m, q->process->pid);
	if (!code->image.elf || !locate_address(code->image.elf, m, address, NULL, &own) ||
	    !elf_symbol(code->image.elf, own, &symbol) || symbol.address > own)
		return none;
	/* The part of a function that is rarely run has its frame. */
	if (strstr(symbol.name, ".cold"))
		return none;
	uint64_t bias = address - own;
	return (struct extent){ symbol.address + bias, symbol.same.end + bias };
}

/* Return whether the function of CALLEE is called if the function at TARGET is. */
static struct caller check_target(struct question *q, uint64_t target)
{
	struct flow_state state = first;
	struct caller c = { .kind = CALLER_OTHER };

	enum flow_result flow = flow_find(q->u, q->process, target, q->callee, &state, &q->is_live);
	if (flow == FLOW_NOT)
		return c;
	if (flow == FLOW_REACHED)
		return (struct caller){
			.kind = CALLER_CERTAIN, .start = target, .has_depth = state.has_depth,
			.depth = state.depth, .is_in_register = state.is_in_register,
			.is_restored = state.is_restored,
			.frame = state.has_frame ? CALLER_FRAME_OWN : CALLER_FRAME_OTHER,
		};
	struct extent function = function_at(q, q->callee);
	if (target >= function.start && target < function.end) {
		c.kind = CALLER_CERTAIN;
		c.start = target;
	} else if (flow == FLOW_OPEN || !function.end) {
		c.kind = CALLER_POSSIBLE;
		c.start = target;
	}
	return c;
}

static struct caller check_calls(struct question *q, uint64_t return_address)
{
	struct calls calls = find_calls(q, return_address);
	struct caller c = { .kind = calls.is_known ? CALLER_NO_CALL : CALLER_UNREADABLE };
	uint64_t value;

	if (calls.direct)
		c = check_target(q, calls.direct);
	if (calls.slot && code_bytes_slot(q->u, q->process, return_address - 1, calls.slot, &value))
		c = check_target(q, value);
	else if (calls.slot)
		calls.is_indirect = true;
	if (calls.is_indirect && c.kind < CALLER_POSSIBLE)
		c = (struct caller){ .kind = CALLER_POSSIBLE };
	return c;
}

/*
 * Return the end of the instruction at AT, in SIZE bytes, if it sets the frame pointer; otherwise
 * 0.
 */
static unsigned sets_frame(const struct machine *m, const uint8_t *at, size_t size)
{
	struct opcode i;

	if (m->lr == NO_REGISTER ? at[0] != 0x48 : at[0] != 0xfd)
		return 0;
	return instruction_read(m, at, size, 0, &i) && i.kind == INSTRUCTION_MOVE &&
	       i.reg == m->fp && i.base == m->sp ? i.size : 0;
}

/*
 * Look for an instruction that sets the frame pointer, and from which control reaches the callee's
 * address while the register keeps that value.
 */
static bool has_own_frame(struct question *q)
{
	const struct machine *m = q->process->machine;
	const unsigned step = m->lr == NO_REGISTER ? 1 : 4, most = 15;
	uint8_t window[256 + 16] = { 0 };
	unsigned tried = 0;

	for (uint64_t back = 256; back < q->callee; back += 256) {
		if (back > (q->is_live ? SEARCHED_LIVE : SEARCHED))
			return false;
		uint64_t start = (q->callee & ~3ULL) - back;
		if (!read_code(q, start, window, 256))
			return false;
		for (int at = 256 - (int)step; at >= 0; at -= (int)step) {
			unsigned size = sets_frame(m, window + at, most);
			if (!size || start + (unsigned)at + size > q->callee)
				continue;
			struct flow_state state = { .has_frame = true };
			if (flow_find(q->u, q->process, start + (unsigned)at + size, q->callee,
				      &state, &q->is_live) == FLOW_REACHED && state.has_frame)
				return true;
			if (++tried == FRAMES_TRIED)
				return false;
		}
		memcpy(window + 256, window, 16);
	}
	return false;
}

/* Return whether the callee's frame pointer is its own, whoever called it. */
static uint8_t frame_of(struct question *q)
{
	struct flow_state state = first;

	if (has_own_frame(q))
		return CALLER_FRAME_OWN;
	struct extent function = function_at(q, q->callee);
	if (function.start && flow_find(q->u, q->process, function.start, q->callee, &state,
					&q->is_live) == FLOW_REACHED)
		return state.has_frame ? CALLER_FRAME_OWN : CALLER_FRAME_OTHER;
	return CALLER_FRAME_UNKNOWN;
}

struct caller caller_check(struct unwind *u, const struct walk_process *process, uint64_t address,
			   uint64_t return_address)
{
	/* All unknown spaces have generation 0: their answers are not cached. */
	uint64_t generation = process->space->generation;
	uint64_t hash = hash_more(hash_more(generation, address), return_address);
	struct caller_slot *slot = &u->callers[hash % CALLER_SLOTS];

	if (slot->generation == generation && generation && slot->address == address &&
	    slot->return_address == return_address &&
	    (!slot->is_live || u->rounds - slot->round < FRESH))
		return slot->answer;
	if (u->flow_left < FLOW_LEAST)
		return (struct caller){ .kind = CALLER_OTHER };
	struct question q = { .u = u, .process = process, .callee = address };
	struct caller answer = check_calls(&q, return_address);
	if (caller_is_possible(&answer) && answer.frame == CALLER_FRAME_UNKNOWN)
		answer.frame = frame_of(&q);
	*slot = (struct caller_slot){ .generation = generation, .address = address,
				      .return_address = return_address, .is_live = q.is_live,
				      .round = u->rounds, .answer = answer };
	return answer;
}
