/* SPDX-License-Identifier: Apache-2.0 */
/*
 * caller - whether a word of the stack can be the return address of a function, by the code before
 * that address.
 *
 * A return address follows a call.  If that call is direct, the function that it names must be the
 * one that returns, or lead to it by jumps: through a procedure linkage table, by a tail call, to a
 * part of a function that lies elsewhere.  So code without call frame information can be unwound by
 * guesses that are checked: a frame pointer is followed only if the callers that it leads to can be
 * callers.
 *
 * The code of files is read from files.  Code that was made at run time, or whose file is missing,
 * is read from the memory of the process while that lives.
 */
#pragma once
#include "code/machine.h"

struct unwind;
struct walk_process;

enum caller_kind {
	CALLER_OTHER,		/* not a caller: a call of another function */
	CALLER_NO_CALL,		/* not a caller, unless it was put on the stack by hand */
	CALLER_UNREADABLE,		/* the code there cannot be read */
	CALLER_POSSIBLE,	/* a call of an unknown function, or of one that may lead there */
	CALLER_CERTAIN,		/* a direct call of a function that leads there */
};

/* Whether the frame pointer at an address is that of the function there. */
enum caller_frame {
	CALLER_FRAME_UNKNOWN,
	CALLER_FRAME_OTHER,	/* no: the register still has a caller's frame pointer */
	CALLER_FRAME_OWN,
};

struct caller {
	uint8_t kind;		/* enum caller_kind */
	uint8_t frame;		/* enum caller_frame, at the function's address */
	/*
	 * With CALLER_CERTAIN: whether DEPTH is known, the bytes between the stack pointer and the
	 * return address at the function's address (arm64: the stack pointer at its start).
	 */
	bool has_depth;
	bool is_in_register;	/* arm64: the register of the return address still has it */
	bool is_restored;	/* ... or has been loaded with it from the stack again */
	int32_t depth;
	uint64_t start;		/* the function that was called; 0: unknown */
};

/*
 * Return what the code before RETURN_ADDRESS says about a call of the function at ADDRESS: where a
 * thread was interrupted, or the last byte of a call that it has made.  Answers are cached.  If
 * the stack has cost too much, the answer is CALLER_OTHER.
 */
struct caller caller_check(struct unwind *u, const struct walk_process *process, uint64_t address,
			   uint64_t return_address);

/* Return whether a function with the answer C may return there. */
static inline bool caller_is_possible(const struct caller *c)
{
	return c->kind >= CALLER_UNREADABLE;
}
