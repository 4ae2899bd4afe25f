/* SPDX-License-Identifier: Apache-2.0 */
#include "code/scan.h"
#include "base/arena.h"
#include "code/scan-state.h"
#include "elf/section.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum {
	PENDING = 256,		/* ways that are not followed yet */
	DEAD_ENDS = 32,		/* calls that do not return */
	ALIGNMENT = 16,		/* of most functions */
	SEEN = 1 << 14,		/* slots of the table of addresses; a power of two */
	STEPS = SEEN / 2,	/* instructions of a scan */
	SOFT_STEPS = 256,	/* of these, instructions in what may be other functions */
};

/* An address that a scan has reached, and what the stack pointer was there. */
struct seen {
	uint64_t at;
	uint32_t scan;
	bool is_after_call;	/* reached from the call before it */
	struct scan_value sp;
};

struct code_scan {
	const struct machine *machine;
	struct elf *elf;
	struct elf_bytes code;	/* from the address CODE_AT on */
	uint64_t code_at;
	const struct starts *starts;
	uint64_t *fuel;
	/* Ways to follow: the others from the start, and then the soft ones from the end. */
	struct state pending[PENDING];
	unsigned hard, soft;
	struct seen seen[SEEN];
	uint32_t scans;		/* number of the current scan */
	unsigned steps, soft_steps;
	bool follows_soft;	/* follow soft ways */
	bool has_failed;	/* two ways contradict each other, or there are too many */
	bool is_open;		/* a way leads to code that cannot be followed */
	uint64_t dead_end[DEAD_ENDS];	/* addresses after calls that do not return */
	unsigned dead_ends;
	bool has_dead_end;	/* one was found */
	uint64_t goal;		/* address where the scan ends; 0: at returns */
	bool is_found;
	bool returns;		/* a way ends at a return, not only at jumps to other functions */
	struct state end;	/* at the goal, or at the first return */
};

/* What a scan from a place has found. */
struct scan_end {
	bool is_found;
	bool is_sure;		/* all of it is code of one function */
	bool returns;		/* as in struct code_scan */
	struct state state;
};

struct code_scan *scan_new(void)
{
	return mem_zeroed(1, sizeof(struct code_scan));
}

void scan_free(struct code_scan *s)
{
	free(s);
}

/* Read the instruction at AT. */
static bool fetch(struct code_scan *s, uint64_t at, struct opcode *i)
{
	enum { AHEAD = 4096 };

	if (at < s->code_at || at - s->code_at + INSTRUCTION_ROOM > s->code.size) {
		s->code = elf_constant_at(s->elf, at, AHEAD);
		s->code_at = at;
	}
	uint64_t offset = at - s->code_at;
	if (offset >= s->code.size ||
	    !instruction_read(s->machine, s->code.at + offset, s->code.size - offset, at, i))
		return false;
	if (*s->fuel < i->size)
		return false;
	*s->fuel -= i->size;
	return true;
}

/*
 * Two ways come to the same address with different stack pointers.  If one of them comes from the
 * call before that address, that call does not return.  Else the code is not understood.
 */
static void contradict(struct code_scan *s, const struct seen *seen, const struct state *state)
{
	if (state->is_after_call || state->soft)
		return;
	if (!seen->is_after_call || s->dead_ends == DEAD_ENDS) {
		s->has_failed = true;
		return;
	}
	s->dead_end[s->dead_ends++] = seen->at;
	s->has_dead_end = true;
}

/* Return whether the scan comes to the address of STATE for the first time. */
static bool is_new(struct code_scan *s, const struct state *state)
{
	uint64_t slot = state->at * 0x9e3779b97f4a7c15ULL >> 50;
	struct scan_value sp = state->reg[RSP];

	for (;; slot++) {
		struct seen *seen = &s->seen[slot & (SEEN - 1)];
		if (seen->scan != s->scans) {
			*seen = (struct seen){ state->at, s->scans, state->is_after_call, sp };
			return true;
		}
		if (seen->at == state->at) {
			if (!scan_equal(seen->sp, sp))
				contradict(s, seen, state);
			return false;
		}
	}
}

/* Follow the way that starts with STATE later. */
static void postpone(struct code_scan *s, const struct state *state)
{
	if (s->hard + s->soft == PENDING)
		s->has_failed = true;
	else if (!state->soft)
		s->pending[s->hard++] = *state;
	else if (s->follows_soft && s->soft_steps < SOFT_STEPS)
		s->pending[PENDING - ++s->soft] = *state;
}

/* Follow the way to which STATE branches later. */
static void branch(struct code_scan *s, const struct state *state, uint64_t at)
{
	struct state later = *state;

	later.at = at;
	later.is_after_call = false;
	postpone(s, &later);
}

/* Keep in END only what holds for both. */
static void meet(struct state *end, const struct state *other)
{
	for (unsigned r = 0; r < REGISTERS; r++)
		if (!scan_equal(end->reg[r], other->reg[r]))
			end->reg[r] = (struct scan_value){ 0 };
}

/* A way ends at a return. */
static void end_way(struct code_scan *s, const struct state *state)
{
	bool is_same = !s->is_found || scan_equal(s->end.reg[RSP], state->reg[RSP]);

	if (state->reg[RSP].kind == UNKNOWN)	/* as in longjmp() */
		s->is_open = true;
	if (s->goal || state->reg[RSP].kind == UNKNOWN ||
	    (!is_same && state->soft))	/* perhaps another function's end */
		return;
	s->has_failed |= !is_same;
	if (!s->is_found)
		s->end = *state;
	else
		meet(&s->end, state);
	s->is_found = true;
}

/* Return whether the bytes at AT look like those that fill the space between functions. */
static bool is_padding(const struct code_scan *s, uint64_t at)
{
	struct elf_bytes b = elf_constant_at(s->elf, at, 2);

	if (b.size < 2)
		return true;
	return b.at[0] == 0xcc || b.at[0] == 0x90 || (b.at[0] == 0x0f && b.at[1] == 0x1f) ||
	       (b.at[0] == 0x66 && (b.at[1] == 0x90 || b.at[1] == 0x0f || b.at[1] == 0x2e ||
				    b.at[1] == 0x66));
}

/* Return whether I is what many functions start with. */
static bool makes_frame(const struct opcode *i)
{
	return (i->kind == INSTRUCTION_PUSH && i->reg < REGISTERS) ||
	       i->kind == INSTRUCTION_ENTER ||
	       (i->kind == INSTRUCTION_ADJUST && i->reg == RSP && i->value < 0);
}

/*
 * Return whether another function may start at AT, after a call: functions often start as the code
 * there does, or it fills space.
 */
static bool may_be_start(const struct code_scan *s, uint64_t at)
{
	enum { ENDBR64_BYTES = 4 };
	static const uint8_t endbr64[ENDBR64_BYTES] = { 0xf3, 0x0f, 0x1e, 0xfa };
	struct elf_bytes b = elf_constant_at(s->elf, at, INSTRUCTION_ROOM);
	struct opcode i;

	if (at % ALIGNMENT == 0 || is_padding(s, at) ||
	    !instruction_read(s->machine, b.at, b.size, at, &i))
		return true;
	return makes_frame(&i) ||
	       (i.size == ENDBR64_BYTES && !memcmp(b.at, endbr64, ENDBR64_BYTES));
}

/* Return whether the function at ADDRESS, or of this entry of the PLT, never returns. */
static bool never_returns(const struct code_scan *s, uint64_t address)
{
	static const char *const name[] = {
		"abort", "exit", "_exit", "_Exit", "quick_exit", "__assert_fail", "__assert",
		"__stack_chk_fail", "__chk_fail", "__fortify_fail", "longjmp", "_longjmp",
		"siglongjmp", "__longjmp_chk", "pthread_exit", "_Unwind_Resume", "__cxa_throw",
		"__cxa_rethrow", "__cxa_bad_cast",
	};
	struct elf_symbol symbol;

	if (!elf_symbol(s->elf, address, &symbol) || symbol.address != address)
		return false;
	size_t size = strcspn(symbol.name, "@");
	for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++)
		if (strlen(name[i]) == size && !memcmp(symbol.name, name[i], size))
			return true;
	return false;
}

/* Return whether call I, which is before AT, does not return. */
static bool is_dead_end(const struct code_scan *s, const struct opcode *i, uint64_t at)
{
	for (unsigned n = 0; n < s->dead_ends; n++)
		if (s->dead_end[n] == at)
			return true;
	return starts_called_before(s->starts, at) == at ||
	       (i->kind == INSTRUCTION_CALL && never_returns(s, i->target));
}

/* Do instruction I of STATE, and go on.  Return false if the way ends. */
static bool go_on(struct code_scan *s, struct state *state, const struct opcode *i)
{
	uint64_t next = state->at + i->size;

	switch (i->kind) {
	case INSTRUCTION_RETURN:
		s->returns = true;
		if (i->value == 0)
			end_way(s, state);
		return false;
	case INSTRUCTION_JUMP_INDIRECT:
		if (i->target)	/* another function's */
			end_way(s, state);
		s->is_open |= !i->target;
		return false;
	case INSTRUCTION_TRAP:
		return false;
	case INSTRUCTION_JUMP:
		state->at = i->target;
		state->is_after_call = false;
		return true;
	case INSTRUCTION_BRANCH:
		branch(s, state, i->target);
		break;
	case INSTRUCTION_CALL:
		if (i->target == next)	/* it is only used to get its own address */
			scan_push(state, (struct scan_value){ 0 });
		/* fallthrough */
	default:
		scan_execute(state, i);
	}
	state->at = next;
	state->is_after_call = i->kind == INSTRUCTION_CALL || i->kind == INSTRUCTION_CALL_INDIRECT;
	if (!state->is_after_call)
		return true;
	if (is_dead_end(s, i, next))
		return false;
	if (!may_be_start(s, next))
		return true;
	bool is_first = !state->soft;
	state->soft = is_first && i->kind == INSTRUCTION_CALL ? i->target : SOFT_UNKNOWN;
	if (is_first)
		postpone(s, state);
	return !is_first;
}

/* Follow one way, up to an instruction that was seen. */
static void follow_way(struct code_scan *s, struct state *state)
{
	struct opcode i;

	do {
		if (!is_new(s, state))
			return;
		if (s->steps++ == STEPS)
			s->has_failed = true;
		if (s->has_failed)
			return;
		bool is_too_long = state->soft && s->soft_steps++ >= SOFT_STEPS;
		if (is_too_long || !fetch(s, state->at, &i)) {
			s->is_open = true;
			return;
		}
		if (s->goal && s->goal - state->at < i.size) {
			s->end = *state;
			s->is_found = true;
		}
	} while (go_on(s, state, &i));
}

/* Follow the code from STATE on, along all ways. */
static void follow(struct code_scan *s, const struct state *first)
{
	s->dead_ends = 0;
	do {
		s->scans++;
		s->steps = s->soft_steps = s->hard = s->soft = 0;
		s->is_found = s->has_failed = s->has_dead_end = s->is_open = s->returns = false;
		postpone(s, first);
		while ((s->hard || (s->soft && !s->is_found)) && !s->has_failed &&
		       !s->has_dead_end) {
			struct state state = s->hard ? s->pending[--s->hard]
						     : s->pending[PENDING - s->soft--];
			follow_way(s, &state);
		}
	} while (s->has_dead_end && !s->has_failed);
}

/* Follow the code from FIRST on to GOAL; 0: to returns. */
static struct scan_end follow_to(struct code_scan *s, const struct state *first, uint64_t goal)
{
	s->goal = goal;
	follow(s, first);
	return (struct scan_end){ .is_found = s->is_found && !s->has_failed,
				  .is_sure = !s->end.soft, .returns = s->returns,
				  .state = s->end };
}

/* Follow the code from ADDRESS on to GOAL; 0: to returns. */
static struct scan_end follow_from(struct code_scan *s, uint64_t address, uint64_t goal)
{
	struct state first = { .at = address };

	for (unsigned r = 0; r < REGISTERS; r++)
		first.reg[r] = scan_sum(r, 0);
	return follow_to(s, &first, goal);
}

/* How a call may end, according to the code of the called function. */
enum call_end { CALL_RETURNS, CALL_MAY_RETURN, CALL_NEVER_RETURNS };

static enum call_end end_of_call(struct code_scan *s, uint64_t target)
{
	enum { CALLS = 3 };

	/* If it returns only after a call, it returns if that call does. */
	for (int i = 0; i < CALLS && target != SOFT_UNKNOWN; i++) {
		if (never_returns(s, target))
			return CALL_NEVER_RETURNS;
		struct scan_end end = follow_from(s, target, 0);
		if (!end.is_found && !s->has_failed && !s->is_open)
			return CALL_NEVER_RETURNS;
		if (!end.is_found || !scan_equal(end.state.reg[RSP], scan_sum(RSP, 0)))
			break;
		if (end.is_sure)
			return CALL_RETURNS;
		target = end.state.soft;
	}
	return CALL_MAY_RETURN;
}

/* Return the function that is called by the call whose last byte is at OWN; SOFT_UNKNOWN. */
static uint64_t called_at(const struct code_scan *s, uint64_t own)
{
	enum { CALL_BYTES = 5 };
	uint64_t at = own - CALL_BYTES + 1;
	struct elf_bytes b = elf_constant_at(s->elf, at, INSTRUCTION_ROOM);
	struct opcode i;
	bool is_call = b.size >= CALL_BYTES &&
		       instruction_read(s->machine, b.at, b.size, at, &i) &&
		       i.kind == INSTRUCTION_CALL;

	return is_call ? i.target : SOFT_UNKNOWN;
}

/* If END is not sure because of a call, find out whether that call returns. */
static void make_sure(struct code_scan *s, struct scan_end *end)
{
	if (end->is_found && end->state.soft > SOFT_UNKNOWN)
		end->is_sure |= end_of_call(s, end->state.soft) == CALL_RETURNS;
}

/*
 * Return whether a function starts at ADDRESS, which no call names.  From a label in a function,
 * code returns with another stack pointer, or jumps to other labels.
 */
static bool is_function(struct code_scan *s, uint64_t address)
{
	struct scan_end end = follow_from(s, address, 0);
	struct elf_bytes b = elf_constant_at(s->elf, address, INSTRUCTION_ROOM);
	struct opcode i;

	if (end.is_found)
		return end.is_sure && scan_equal(end.state.reg[RSP], scan_sum(RSP, 0));
	return !s->has_failed && !s->is_open &&
	       instruction_read(s->machine, b.at, b.size, address, &i) && makes_frame(&i);
}

/* Follow the code from one of the starts before P to P. */
static struct scan_end follow_from_start(struct code_scan *s, const struct scan_request *p)
{
	enum { TRIES = 3 };
	uint64_t at = p->own, symbol = p->symbol;
	struct scan_end end = { 0 };

	for (int i = 0; i < TRIES && !end.is_found; i++) {
		bool is_called;
		uint64_t start = starts_before(p->starts, at, &is_called);
		if (symbol >= start && symbol <= at) {
			start = symbol;
			is_called = true;
		}
		if (!start)
			break;
		end = follow_from(s, start, p->own);
		make_sure(s, &end);
		if (end.is_found && end.is_sure && !is_called)
			end.is_sure = is_function(s, start);
		at = start - 1;
	}
	if (!end.is_found && p->label && p->label <= p->own) {
		end = follow_from(s, p->label, p->own);
		make_sure(s, &end);
		end.is_sure = end.is_found && end.is_sure && is_function(s, p->label);
	}
	return end;
}

/*
 * Follow the code from P to the function's return.  A call that does not return may be the last
 * thing in a function: then the next function would follow, at its start.
 */
static struct scan_end follow_to_return(struct code_scan *s, const struct scan_request *p,
					bool is_start_sure)
{
	struct state first = { .at = p->own + 1 };
	struct scan_end end = { 0 };

	if (p->is_exact) {
		end = follow_from(s, p->own, 0);
		make_sure(s, &end);
		return end;
	}
	uint64_t called = called_at(s, p->own);
	enum call_end call = is_start_sure ? CALL_RETURNS : end_of_call(s, called);
	if (call == CALL_NEVER_RETURNS || starts_called_before(s->starts, first.at) == first.at ||
	    (is_start_sure && may_be_start(s, first.at)))
		return end;
	for (unsigned r = 0; r < REGISTERS; r++)
		if (!(SCRATCH >> r & 1))
			first.reg[r] = scan_sum(r, 0);
	if (call == CALL_MAY_RETURN && (called > SOFT_UNKNOWN || may_be_start(s, first.at)))
		first.soft = SOFT_UNKNOWN;
	end = follow_to(s, &first, 0);
	/* Where a function starts, the stack pointer is where it will be at the return. */
	if (is_start_sure || call != CALL_RETURNS)
		end.is_found &= !scan_equal(end.state.reg[RSP], scan_sum(RSP, 0));
	make_sure(s, &end);
	return end;
}

enum scan_result scan_row(struct code_scan *s, const struct scan_request *p, struct cfi *c,
			  struct cfi_row *row)
{
	if (p->machine->elf != EM_X86_64)
		return SCAN_NONE;
	s->machine = p->machine;
	s->elf = p->elf;
	s->fuel = p->fuel;
	s->starts = p->starts;
	s->code.size = 0;
	s->follows_soft = true;
	struct scan_end start = follow_from_start(s, p);
	bool is_sure = start.is_found && start.is_sure;
	s->follows_soft = !is_sure;
	struct scan_end end = follow_to_return(s, p, is_sure);
	/* Code that puts another stack in place, as longjmp() does, may jump without a return. */
	end.is_sure &= end.returns;
	bool agree = start.is_found && end.is_found && scan_agree(&start.state, &end.state);
	if (start.is_found && end.is_found && !agree) {
		if (is_sure == end.is_sure)
			return SCAN_NONE;
		start.is_found = is_sure;
		end.is_found = end.is_sure;
	}
	is_sure |= end.is_found && end.is_sure && (agree || !start.is_found);
	if ((start.is_found && scan_row_from_start(c, &start.state, row)) ||
	    (end.is_found && scan_row_from_return(c, &end.state, row)))
		return is_sure ? SCAN_FOUND : SCAN_WEAK;
	return SCAN_NONE;
}
