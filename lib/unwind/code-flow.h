/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow - whether control gets from one address of code to another by jumps, without a return, and
 * what has happened to the stack pointer and the frame pointer on the way.
 */
#pragma once
#include "elf/elf.h"

struct unwind;
struct walk_process;

/* What is known at an instruction. */
struct flow_state {
	/* bytes between the stack pointer and where it was at the start; HAS_DEPTH: it is known */
	int32_t depth;
	int32_t frame_depth;	/* the same of the frame pointer, if HAS_FRAME and HAS_DEPTH */
	int32_t saved_depth;	/* the same of the place of the caller's frame pointer */
	bool has_depth;
	bool has_frame;		/* the frame pointer was set by the stack pointer */
	bool is_in_register;	/* the register of the return address (arm64) was not changed */
	bool is_restored;	/* that register was last loaded from the stack */
	bool is_soft;		/* see FLOW_MAYBE */
};

enum flow_result {
	FLOW_NOT,		/* control does not get there */
	/*
	 * Control gets there only if a call returns that perhaps never does: the code after that
	 * call looks like the start of another function.
	 */
	FLOW_MAYBE,
	FLOW_OPEN,		/* unknown: there are jumps to unknown places, or much code */
	FLOW_REACHED,
};

enum {
	FLOW_VISITED = 1 << 13,	/* slots; a power of two */
	FLOW_STACK = 1 << 16,	/* instructions that each stack adds to what may be followed */
	FLOW_MOST = 1 << 23,	/* instructions that may be followed for one stack */
	FLOW_LEAST = 1 << 15,	/* instructions that must be left to ask about a caller */
};

/* The instructions that a search has seen.  Zero-initialised. */
struct flow_visited {
	uint64_t address[FLOW_VISITED];
	uint32_t search[FLOW_VISITED];	/* number of the search that set the slot */
	uint32_t searches;
};

/*
 * Follow the code from FROM, where *AT is the state, to the instruction that contains TO, and set
 * *AT to the state before that.  Its has_frame is only set if the caller's frame pointer is where
 * the frame pointer points.  *IS_LIVE is set if code was read from the living process.
 */
enum flow_result flow_find(struct unwind *u, const struct walk_process *process, uint64_t from,
			   uint64_t to, struct flow_state *at, bool *is_live);
