/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings - translates the wanted fields of samples, and how to open events, into the events'
 * attrs, without features that this kernel lacks.  struct event says which fields of an attr
 * lib/event sets; this file sets all others.
 */
#pragma once
#include "base/report.h"
#include "event/event.h"

enum callchain_kind { CHAIN_NONE, CHAIN_FP, CHAIN_DWARF, CHAIN_LBR };

/* Fields of samples.  Zero-initialised: address, process, thread and time. */
struct sample_settings {
	enum callchain_kind callchain;
	bool callchain_given;		/* the user has named the kind */
	uint32_t stack_bytes;		/* bytes of stack to copy for CHAIN_DWARF, a multiple of 8;
					   0: the user named no size */
	uint16_t max_stack;		/* frames; 0: kernel.perf_event_max_stack */
	bool no_kernel_stack, no_user_stack;	/* leave this part out of callchains */
	bool user_frames;		/* with CHAIN_DWARF: follow frame pointers, too */
	uint64_t sample_type;		/* PERF_SAMPLE_* bits of further fields */
	uint64_t branch_type;		/* PERF_SAMPLE_BRANCH_*, with PERF_SAMPLE_BRANCH_STACK */
	uint64_t user_regs, intr_regs;	/* masks of registers */
	bool user;			/* do not sample the kernel's own code */
	bool switches;			/* record context switches */
	bool waits;			/* the last event samples them: where threads wait */
	bool wakes;			/* the event before it samples who ends waits */
	bool periods;			/* put the period in each sample, because it changes */
	int clock;			/* CLOCK_* of the records' times */
};

/* How to open events. */
struct open_settings {
	bool on_exec;			/* enable counting when the child execs */
	bool delayed;			/* do not count until events are enabled */
	bool overwritten;		/* overwrite rings, except that of the dummy event */
	bool inherit;			/* follow the tasks that a task creates ... */
	bool threads_only;		/* ... but only threads */
	uint32_t wakeup;		/* bytes in a ring that wake us up */
};

/*
 * Complete the attrs of EVENTS, and try them on this process.  The last event is a dummy event: it
 * takes no samples, and records mappings, names and threads.  Features that this kernel lacks
 * are removed, with a note if that changes the result.  False (reported): an event cannot be
 * opened.
 */
bool settings_apply(const struct sample_settings *settings, const struct open_settings *opening,
		 struct event_list *events, struct report *report);

/*
 * Return the mask, for sample_regs_user, of the registers that unwinding needs on this machine
 * (arch/x86/include/uapi/asm/perf_regs.h, arch/arm64/...).
 */
uint64_t settings_unwind_regs(void);

/*
 * Return the mask of the register that has the caller of a leaf function, which callchains by frame
 * pointers lack: LR on arm64 (see unwind/leaf.h).  0: they do not lack it on this machine.
 */
uint64_t settings_leaf_regs(void);

/*
 * Return the mask of the stack pointer, which shows what addresses are in stacks of threads.
 * 0: the registers of this machine are unknown.
 */
uint64_t settings_stack_regs(void);

/*
 * Return the mask of the register that has the first argument of a system call, while it runs: a
 * lock's address, if threads wait for a lock.  0: the registers of this machine are unknown.
 */
uint64_t settings_argument_regs(void);

/*
 * Parse the arguments of options: for command_option.parse.  Each returns NULL, or the first wrong
 * word.
 *
 * Kinds of branches such as "any_call,u", into a uint64_t of PERF_SAMPLE_BRANCH_* bits; if no
 * kind is named, all kinds.
 */
const char *settings_parse_branches(const char *list, void *type);

/* Registers such as "ip,sp" or "all", into a uint64_t, the mask of this machine's registers. */
const char *settings_parse_registers(const char *list, void *mask);

#define SETTINGS_REGISTERS_TAKES "all, or names of this machine's registers, such as ip,sp"

/*
 * A list of the kinds "fp", "dwarf", "dwarf,BYTES", "lbr" and "none", and of "user", "kernel" (only
 * this part of callchains) and "max=COUNT" (frames), into a struct sample_settings.  "auto" names
 * no kind.
 */
const char *settings_parse_callgraph(const char *text, void *settings);

/* Return the name of KIND, as above. */
const char *settings_callchain_name(enum callchain_kind kind);

/* What settings_parse_callgraph() takes, for messages. */
#define SETTINGS_CALLGRAPH_TAKES \
	"some of fp, dwarf, lbr, none, auto, user, kernel, or dwarf,BYTES with a multiple of 8 " \
	"up to 65528, or max=COUNT with a number from 1 to 65535"
