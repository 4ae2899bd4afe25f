/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wants - what a sample should have, put into the events' attrs; less of it
 * where this kernel is too old for something.
 */
#pragma once
#include "base/report.h"
#include "event/event.h"

enum callchain_kind { CHAIN_NONE, CHAIN_FP, CHAIN_DWARF, CHAIN_LBR };

/* Zero-initialised: where, who and when. */
struct wants {
	enum callchain_kind callchain;
	uint32_t stack_bytes;		/* of user stack, with CHAIN_DWARF; a multiple of 8 */
	uint16_t max_stack;		/* frames; 0: as kernel.perf_event_max_stack says */
	bool no_kernel_stack, no_user_stack;	/* in callchains */
	uint64_t sample_type;		/* PERF_SAMPLE_* of further fields */
	uint64_t branch_type;		/* PERF_SAMPLE_BRANCH_*, with PERF_SAMPLE_BRANCH_STACK */
	uint64_t user_regs, intr_regs;	/* masks of registers */
	bool user;			/* leave the kernel's own code out */
	bool kernel;			/* fail where it may not be sampled */
	bool switches;			/* SWITCH records */
	bool periods;			/* the period in each sample: it will change */
	int clock;			/* CLOCK_* of the records' times */
};

/* How the events are opened. */
struct wants_opening {
	bool on_exec;			/* count from the exec of the opening process's child on */
	bool tracking_apart;		/* the last event tells of mappings and threads, whatever
					   the others do; else the first does, too */
	bool delayed;			/* do not count before they are enabled */
	bool overwritten;		/* into rings that are overwritten, but the last */
	bool inherit;			/* follow what the task creates ... */
	bool threads_only;		/* ... if it is a thread */
	bool ids;			/* a sample says by whose event it was taken */
	uint32_t wakeup;		/* bytes in a ring that wake us */
};

/*
 * Fill in the attrs of EVENTS, and try them out on ourselves: what this kernel
 * does not know is left out, with a line in REPORT where that changes the
 * result.  False (reported) where an event cannot be opened at all.
 */
bool wants_apply(const struct wants *wants, const struct wants_opening *opening,
		 struct event_list *events, struct report *report);

/*
 * Registers that a debugger needs to unwind: for sample_regs_user, on this
 * machine (arch/x86/include/uapi/asm/perf_regs.h, arch/arm64/...).
 */
uint64_t wants_unwind_regs(void);

/*
 * What LIST, such as "any_call,u", says as PERF_SAMPLE_BRANCH_* bits; without
 * a kind of branch all kinds.  Returns NULL, or the word that is not known.
 */
const char *wants_parse_branches(const char *list, uint64_t *type);

/* What LIST, "all" or such as "ip,sp", says as a mask of this machine's registers; likewise. */
const char *wants_parse_registers(const char *list, uint64_t *mask);
