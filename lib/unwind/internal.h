/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of unwind, shared by the samples (unwind.c, unwind-write.c), the loop over frames
 * (walk.c), the rules at addresses and their caches (rule.c), the objects that they come from
 * (code.c), the frame pointers that can be trusted (frame-pointer.c), 32-bit programs (walk-32.c),
 * the earlier stacks of threads (joiner.c, generation.c), the kernel's own callchains
 * (kernel-chain.c, leaf.c), what unwinding costs (spending.c, cpu-budget.c), and the report at the
 * end (unwind-report.c).
 */
#pragma once
#include "base/arena.h"
#include "base/recent.h"
#include "code/machine.h"
#include "code/scan.h"
#include "locate/image.h"
#include "process/space.h"
#include "record/stack-end.h"
#include "symbol/gotable.h"
#include "unwind/caller.h"
#include "unwind/code-bytes.h"
#include "unwind/code-flow.h"
#include "unwind/cpu-budget.h"
#include "unwind/joiner.h"
#include "unwind/judge.h"
#include "unwind/unwind.h"

/* How the caller of an address is found. */
enum rule_kind {
	RULE_ROW,		/* a row: of CFI, or of code that is always the same */
	RULE_END,		/* the start of a program: there is no caller */
	RULE_NO_CFI,		/* the code has no CFI */
	RULE_NO_CODE,		/* the address is not in code */
	RULE_COSTLY,		/* a limit of work was reached: see struct cfi_budget */
};

enum {
	RULES_FIXED = 5,	/* ids of the rules without a row */
	RULE_MAX = 1 << 18,	/* distinct rules; more are RULE_NO_CFI */
	KNOWN_MAX = 1 << 19,	/* addresses in objects whose rule is kept */
};

/* How to find the caller from a frame.  Rules of one object with equal bytes have one id. */
struct rule {
	uint32_t object;	/* object of the expressions; TABLE_NONE: the rule has none */
	uint8_t kind;		/* enum rule_kind */
	bool is_signal;		/* the caller was interrupted by a signal: its pc is exact */
	bool is_pushed;		/* no call pushed the frame's return address: it is exact, too */
	/*
	 * The CFA is a register and an offset, all rules are CFI_OFFSET, and none is of the
	 * stack pointer: nearly all rules.
	 */
	bool is_plain;
	/*
	 * The function's frame pointer points to its caller's, and the return address follows it.
	 * False: it may have another value.
	 */
	bool keeps_pointer;
	/*
	 * enum scan_result.  Not SCAN_NONE: the row is from the code itself, and the return address
	 * counts only if it follows a call that leads to the function.
	 */
	uint8_t scan;
	uint8_t cfa_kind, cfa_reg;	/* as in struct cfi_row */
	uint8_t ra_kind;	/* enum cfi_kind of the return address */
	uint8_t ra_reg;
	uint8_t saves;		/* number of rules in SAVE, without the return address's */
	int32_t cfa_value, ra_value;
	struct cfi_save save[CFI_REGISTERS];
};

/* The rule at an address of an object. */
struct known_rule {
	uint64_t address;	/* the object's own; bit 63: exact */
	uint32_t object, rule;
};

struct rules {
	struct arena arena;
	struct rule **rule;	/* by id */
	uint32_t count;
	struct table table;	/* over RULE */
	struct known_rule *known;
	uint32_t knowns;
	struct table known_table;	/* over KNOWN */
	struct recent recent;	/* rules by generation and address */
	uint64_t misses;	/* of RECENT, since it was made */
};

/* The file of an object, and what was read from it. */
struct code {
	struct image image;
	bool is_opened;		/* CFI is set */
	bool costs_reported;	/* COSTS was reported */
	bool debug_tried;	/* its debug file was looked for */
	struct elf *debug;	/* NULL: not found */
	struct cfi *cfi;	/* NULL: none */
	struct gotable *go;	/* of a Go program, once it was needed */
	bool go_tried;
	bool scan_tried;	/* its code was scanned */
	uint64_t scan_fuel;	/* bytes of code that scans may still read */
	struct starts *starts;	/* of its functions; NULL: not needed yet, or too many */
	uint64_t entry, entry_end;	/* address range of the code at its entry point */
	uint64_t ends;		/* number of stacks that ended here because CFI is missing */
	uint64_t costs;		/* number of stacks that ended here at a limit of work */
	unsigned damaged;	/* bit per section of its CFI: damage was reported */
};

/* A frame that was found. */
struct frame {
	uint64_t pc, sp;	/* SP: before the call to the frame's callee */
	uint32_t words;		/* hash of the first words at SP; 0: they are not in the dump */
	/*
	 * Registers that functions keep for their callers, by place in machine.kept: a hash of
	 * the value.  0: unknown; even: the value may differ between calls of a function, because
	 * it is neither a small number nor an address of the stack.
	 */
	uint16_t kept[MACHINE_KEPT];
	bool is_exact;		/* PC is not a return address */
};

/* How unwinding a sample ended. */
enum unwind_outcome {
	UNWIND_WHOLE,		/* at the start of the thread */
	UNWIND_JOINED,		/* the dump was too short, but an earlier stack had the rest */
	UNWIND_CUT,		/* the dump is too short */
	UNWIND_HOLE,		/* the dump ended early, at a page that was not in memory */
	UNWIND_HOLE_JOINED,	/* the same, but an earlier stack had the rest */
	UNWIND_NO_CFI,		/* in code without unwind information or frame pointers */
	UNWIND_NO_CODE,		/* at a return address that is not in code */
	UNWIND_LOST,		/* otherwise: a register is not known, the stack does not grow */
	UNWIND_LIMIT,		/* at the limit of frames that are followed */
	UNWIND_COSTLY,		/* at a limit of work */
	UNWIND_FOREIGN,		/* not unwound: 32-bit code, another byte order, no registers */
	UNWIND_BEFORE,		/* unwound already, by an earlier program */
	UNWIND_OUTCOMES
};

enum { CALLER_SLOTS = 1 << 12 };

enum { ABI_64 = 2 };	/* PERF_SAMPLE_REGS_ABI_64 */

/* An answer of caller_check(). */
struct caller_slot {
	uint64_t generation;	/* of the space; 0: the slot is empty */
	uint64_t address, return_address;
	uint32_t round;		/* when code of the living process was read, if IS_LIVE */
	bool is_live;
	struct caller answer;
};

struct unwind_counts {
	uint64_t samples[UNWIND_OUTCOMES];
	uint64_t frames;	/* user frames that were written */
};

struct unwind {
	struct unwind_options options;
	struct report *report;
	struct spaces spaces;
	struct images images;	/* by object of lib/process; each is that of a struct code */
	struct rules rules;
	struct code_blocks blocks;
	struct flow_visited visited;
	struct caller_slot callers[CALLER_SLOTS];
	uint32_t rounds;	/* rounds of the stream so far */
	uint64_t java_generation;	/* of the space that IS_JAVA is about; 0: none */
	bool is_java;
	bool java_steps;	/* the current stack has a frame pointer of code that Java made */
	pid_t java_pid;		/* process that JAVA_KEEPS is about; 0: none */
	bool java_keeps;	/* its command line says that Java keeps frame pointers */
	/*
	 * stacks that ended in such code of other processes, and stacks with such code that ended
	 * elsewhere
	 */
	uint64_t java_ends, java_others;
	struct cfi_budget budget;	/* what all stacks together may cost */
	uint64_t flow_left;		/* instructions that flow_find() may still follow */
	struct code_scan *scan;	/* NULL: not needed yet */
	struct joiner *joiner;	/* NULL: stacks are not joined */
	/* number of stacks to remember from now on; 0: the last cut stack was long ago */
	uint32_t joins_left;
	struct frame *frame;	/* of the current stack: FRAMES_MAX */
	uint32_t frames, frames_max;
	struct frame caller;	/* known part of a cut stack's next frame; SP 0: nothing is known */
	/* address before the last frame's return address: of a saved frame pointer; 0: unknown */
	uint64_t last_pointer;
	/* registers of the last event: its mask, and per register its number (machine.h) */
	uint64_t mask;
	const struct machine *mask_machine;
	uint8_t number[MACHINE_BITS];
	struct unwind_counts counts;
	struct judge judge;
	struct cpu_budget cpu;		/* if options.budget is set: */
	uint64_t cpu_charged;		/* CPU time of this process that CPU knows, ns */
	uint64_t memory_due;		/* when to look at the memory of this process again, ns */
	bool is_over_memory;		/* this process has too much memory */
	uint64_t sample_time;		/* of the current sample, in the stream's clock, or 0 */
	uint64_t sample_monotonic;	/* the same, if that is CLOCK_MONOTONIC; else 0 */
	uint64_t full_size;	/* requested bytes of the last stack that was cut */
	enum stack_end end;	/* end of the last unwound stack */
	uint64_t left_out;	/* samples with frames that were left out in the middle */
	uint64_t too_long;	/* samples that were cut to fit a record */
	uint64_t stacks_32;	/* of 32-bit programs, which unwind_walk_32() followed */
	uint64_t foreign_32;	/* ... or which were not unwound, and have no other callers */
	const char *foreign;	/* why the last skipped sample was not unwound */
};

/* Prepare for S, of an event with ATTR: allow it the work of a stack. */
void unwind_begin(struct unwind *u, const struct perf_event_attr *attr, const struct sample *s);

/* Return whether samples keep the fields of a dump. */
static inline bool unwind_keeps_fields(const struct unwind *u)
{
	return u->options.keep_fields || u->options.keep_dumps;
}

/*
 * Write to OUT the record of sample S, which is REC, and return its size in bytes; 0: there is no
 * room.  IS_UNWOUND: its user words are those in u->frame.
 */
size_t unwind_write_sample(struct unwind *u, const struct stream_event *event,
			   const struct record *rec, const struct sample *s, bool is_unwound,
			   uint8_t *out);

/* Return the threads of the records that unwind_follow() has followed. */
const struct tasks *unwind_tasks(const struct unwind *u);

/* Write the counts to TEXT of SIZE bytes, as "120 stacks, 31.2 frames: 98.6 % whole, ...". */
void unwind_describe(const struct unwind *u, char *text, size_t size);

/* Return the machine of the stream, or NULL if it is unknown. */
const struct machine *unwind_machine(const struct unwind *u);

static inline struct code *code_find(const struct unwind *u, uint32_t object)
{
	return (struct code *)image_find(&u->images, object);
}

/* Return the code of OBJECT, which M maps in PID; its file is looked for at the first call. */
struct code *code_of(struct unwind *u, uint32_t object, const struct mapping *m, pid_t pid);

/* If there are many objects, forget the code of those that are mapped nowhere any more. */
void code_remove_unmapped(struct unwind *u);

/* Report the damage of OBJECT's CFI, once. */
void unwind_report_damage(struct unwind *u, uint32_t object);

/* Release what was read from IMAGE's file. */
void code_forget(struct image *image);

/* Close all files, and forget the rules from them.  Do not call this inside a walk. */
void code_close_all(struct unwind *u);

/*
 * Call images_make_room(), and if it has closed any file, forget the rules.  Do not call this
 * inside a walk.
 */
void code_make_room(struct unwind *u);

/* Return the id of the rule at ADDRESS of SPACE. */
uint32_t rule_find(struct unwind *u, const struct space *space, pid_t pid, uint64_t address,
		   bool is_exact);

void rules_init(struct rules *r);
void rules_release(struct rules *r);

/* Forget all rules that refer to objects: their files were closed. */
void rules_forget(struct rules *r);

/* A dump: the registers, and the SIZE bytes at BASE of the stack. */
struct dump {
	const struct machine *machine;
	struct cfi_registers registers;
	const uint8_t *at;
	uint64_t base, size;
	bool is_full;		/* the stack may have more bytes than the dump */
};

/* Read the word at ADDRESS of D's stack.  Return false if D does not have it. */
static inline bool dump_load(const struct dump *d, uint64_t address, uint64_t *value)
{
	uint64_t offset = address - d->base;

	if (d->size < 8 || offset > d->size - 8)
		return false;
	memcpy(value, d->at + offset, 8);
	return true;
}

/* The process that a stack belongs to. */
struct walk_process {
	const struct space *space;
	pid_t pid;
	const struct machine *machine;
};

/*
 * Continue the stack of DUMP, which ended with OUTCOME, by the user's part of CHAIN, which the
 * kernel made by frame pointers.  Return whether the stack is whole then.
 */
bool unwind_by_kernel(struct unwind *u, const struct walk_process *at, const struct dump *dump,
		      enum unwind_outcome outcome, struct words chain);

/*
 * Return whether the frame pointer FP is that of the function at ADDRESS, as in caller_check(),
 * which has no CFI and the stack pointer SP: whether the word after FP is its return address.
 */
bool frame_pointer_is_own(struct unwind *u, const struct walk_process *process,
			  const struct dump *dump, uint64_t address, uint64_t sp, uint64_t fp);

/*
 * Count a stack for the advice about Java: it ended at ADDRESS, because there was no information
 * (IS_END), or otherwise.
 */
void unwind_note_java(struct unwind *u, const struct walk_process *process, uint64_t address,
		      bool is_end);

/*
 * Return whether CHAIN, which the kernel made by frame pointers, lacks callers that are in
 * u->frame.  The outermost frames are not missed: they belong to the start of the program or
 * thread.
 */
bool chain_lacks_callers(const struct unwind *u, const struct walk_process *at, struct words chain);

/* The CPU time from now on counts. */
void spending_begin(struct unwind *u);

/* Return whether the budget has room for a stack of process PID, whose time counts from now on. */
bool spending_allows(struct unwind *u, pid_t pid);

/* Charge the CPU time since then to PID. */
void spending_charge(struct unwind *u, pid_t pid);

/* If this process has too much memory, release what can be found again. */
void spending_check_memory(struct unwind *u);

/* Find the frames of a thread of PID with DUMP.  They are in u->frame. */
enum unwind_outcome unwind_walk(struct unwind *u, const struct space *space, pid_t pid,
				const struct dump *dump);

/* The same for a 32-bit program on x86-64: DUMP has the low halves of the registers. */
enum unwind_outcome unwind_walk_32(struct unwind *u, const struct walk_process *process,
				   const struct dump *dump);

/* Remember for the report in which object a stack ended with HOW, in the code at ADDRESS. */
void unwind_note_end(struct unwind *u, const struct walk_process *process, uint64_t address,
		     int how);
