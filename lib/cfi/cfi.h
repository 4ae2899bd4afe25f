/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfi - call frame information of an object: for an address of code, where the caller's
 * registers are (DWARF 5, section 6.4).
 *
 * A section of call frame information has a frame description entry (FDE) per function, and
 * common information entries (CIE) that FDEs share.  Their instructions build a table with a
 * row per range of addresses.  A row says how to compute the canonical frame address (CFA)
 * and, from that, each register of the caller.  Rows are not stored: cfi_row_at() finds the
 * FDE and runs its instructions up to the address, so the caller should cache rows.  In a long
 * program it starts near the address: every few hundred instructions, the state is kept.
 *
 * Work is counted in steps: an instruction, or a byte that is kept.  An object has 32 steps for
 * each byte of a section, and copies of a section share them.  All objects with one budget share
 * what it has left.
 *
 * Sources, in this order: .eh_frame, by .eh_frame_hdr or sorted once; .debug_frame; and
 * .debug_frame of a separate debug file.  Everything is checked before use: a damaged entry
 * costs the rows of its function.
 */
#pragma once
#include "base/span.h"
#include "elf/elf.h"

/*
 * Registers have DWARF's numbers.  x86-64: 0..15, and 16 is the return address, which is the
 * pc of a frame itself.  arm64: 0..30, and 31 is sp.  Rules of other registers are left out.
 */
enum { CFI_REGISTERS = 34 };

/*
 * How to compute a register of the caller:
 *   CFI_SAME               it is unchanged
 *   CFI_UNDEFINED          it is lost; of the return address: there is no caller
 *   CFI_OFFSET             it is stored at CFA + value
 *   CFI_VALUE_OFFSET       it is CFA + value
 *   CFI_REGISTER           it is in register VALUE
 *   CFI_EXPRESSION         it is stored at the address that expression VALUE gives
 *   CFI_VALUE_EXPRESSION   it is what expression VALUE gives
 */
enum cfi_kind {
	CFI_SAME, CFI_UNDEFINED, CFI_OFFSET, CFI_VALUE_OFFSET, CFI_REGISTER, CFI_EXPRESSION,
	CFI_VALUE_EXPRESSION,
};

/* The rule of a register. */
struct cfi_save {
	uint8_t reg;		/* number */
	uint8_t kind;		/* enum cfi_kind, but never CFI_SAME */
	uint16_t zero;		/* padding, so that rows compare by their bytes */
	int32_t value;		/* bytes from the CFA, register, or expression; see enum cfi_kind */
};

/*
 * A row.  A register without a rule in SAVE is unchanged, as far as the ABI lets callers rely
 * on it.  Two rows of one object are equal if cfi_row_size() of their bytes are equal.
 */
struct cfi_row {
	bool is_signal;		/* a signal handler's caller: the pc of its caller is exact */
	bool signs_return;	/* arm64: the return address is signed at this address */
	uint8_t ra_reg;		/* the return address's register; its rule is in SAVE */
	uint8_t saves;		/* number of rules in SAVE */
	/*
	 * CFI_OFFSET: the CFA is register CFA_REG + CFA_VALUE.  CFI_VALUE_EXPRESSION: it is what
	 * expression CFA_VALUE gives.  CFI_UNDEFINED: no rule (there should be no caller).
	 */
	uint8_t cfa_kind, cfa_reg;
	bool is_debug;		/* from .debug_frame, not .eh_frame */
	uint8_t zero;		/* padding */
	int32_t cfa_value;
	struct cfi_save save[CFI_REGISTERS];	/* by ascending register */
};

/* Add the rule of REG, the next one of ROW: KIND is an enum cfi_kind. */
static inline void cfi_row_save(struct cfi_row *row, unsigned reg, unsigned kind, int32_t value)
{
	row->save[row->saves++] = (struct cfi_save){ .reg = (uint8_t)reg, .kind = (uint8_t)kind,
						     .value = value };
}

/* Return the number of bytes of ROW that are in use.  The rest is not set. */
static inline size_t cfi_row_size(const struct cfi_row *row)
{
	return offsetof(struct cfi_row, save) + row->saves * sizeof(row->save[0]);
}

enum cfi_result {
	CFI_FOUND,
	CFI_NONE,		/* no information for this address */
	CFI_DAMAGED,		/* there is information, but it is damaged, or beyond a limit */
	CFI_COSTLY,		/* the information takes more steps than the object has */
	CFI_LATER,		/* the budget has no steps left: a later try may find the row */
};

struct cfi;

enum { CFI_SHARES = 64 };	/* sections that take many steps, whose copies are recognised */
#define CFI_BUDGET_MOST (8ULL << 20)	/* steps: about a tenth of a second */

/* The steps that all objects together may take now.  The owner adds to LEFT from time to time. */
struct cfi_budget {
	uint64_t left;		/* at most CFI_BUDGET_MOST */
	uint32_t shares;	/* shares made so far; a new one replaces the oldest */
	struct cfi_share {
		uint64_t hash;	/* of the section's bytes */
		uint64_t left;	/* steps */
	} share[CFI_SHARES];
};

/*
 * Open the call frame information of ELF, which must outlive the result.  Only one thread at a
 * time may use the result.  Return NULL if ELF is not 64-bit code of x86-64 or arm64 with
 * segments.  An object without call frame information is opened, too: it has no rows.
 */
struct cfi *cfi_open(struct elf *elf);
void cfi_close(struct cfi *c);

/*
 * From now on, also use .debug_frame of DEBUG, the object's separate debug file, which must
 * outlive C.  It is used only for addresses that ELF says nothing about, so the caller may
 * look for that file when a row is missing.  Call this at most once.
 */
void cfi_add_debug(struct cfi *c, struct elf *debug);

/* From now on, take all steps also from BUDGET, which must outlive C.  C may be NULL. */
void cfi_use_budget(struct cfi *c, struct cfi_budget *budget);

/*
 * Store the row at ADDRESS, one of the object's own, and set *SAME to a range around ADDRESS
 * with the same row (CFI_FOUND) or without any (else).  The first call may read a whole
 * section.  C may be NULL.
 */
enum cfi_result cfi_row_at(struct cfi *c, uint64_t address, struct cfi_row *row,
			   struct extent *same);

/* The limits that a section may exceed. */
enum cfi_limit {
	CFI_NO_LIMIT,		/* it is damaged */
	CFI_LIMIT_SIZE,		/* it is too large, and not used at all */
	CFI_LIMIT_STEPS,	/* an entry takes more steps than the object has */
	CFI_LIMIT_DEPTH,	/* an entry remembers too many states at once */
	CFI_LIMIT_EXPRESSIONS,	/* an expression is too long, or there are too many */
};

/* What is wrong with the object's call frame information. */
struct cfi_damage {
	const char *section;	/* ".eh_frame", ".eh_frame_hdr" or ".debug_frame" */
	uint64_t offset;	/* in that section, of the entry */
	enum cfi_limit limit;	/* that the entry, or the section, exceeds */
};

/* Return the words for LIMIT, after "SECTION ": "remembers more than 64 states", for example. */
const char *cfi_limit_text(enum cfi_limit limit);

enum { CFI_SECTIONS = 3 };	/* .eh_frame, .debug_frame, .debug_frame of the debug file */

/* Return the first damage that was found so far in SECTION, from 0, or NULL. */
const struct cfi_damage *cfi_damage_in(const struct cfi *c, unsigned section);

/* Return the same of the first damaged section, or NULL.  C may be NULL. */
const struct cfi_damage *cfi_damage(const struct cfi *c);

/* The registers of a frame. */
struct cfi_registers {
	uint64_t value[CFI_REGISTERS];	/* 0 if not known */
	uint64_t known;			/* bit per register: its value is known */
};

/* Copy SIZE bytes (1 to 8) at ADDRESS of the process's memory.  False: unknown. */
typedef bool cfi_read(void *context, uint64_t address, void *bytes, size_t size);

/* The memory of a process. */
struct cfi_memory {
	cfi_read *read;
	void *context;		/* for READ */
	uint64_t bias;		/* address of the object in the process, minus its own address */
};

/*
 * Return an id for the expression of SIZE bytes at BYTES, of which a copy is made, for rows that
 * the caller makes.  -1: there are too many.
 */
int32_t cfi_add_expression(struct cfi *c, const uint8_t *bytes, size_t size);

/*
 * Evaluate EXPRESSION, an id from a row of C.  CFA: the frame's CFA, which is on the stack at
 * the start; NULL for the expression of the CFA itself.  False: it needs a register or memory
 * that is not known, or it is damaged, or too long, or the budget has no steps left.
 */
bool cfi_evaluate(const struct cfi *c, int32_t expression, const struct cfi_registers *registers,
		  const struct cfi_memory *memory, const uint64_t *cfa, uint64_t *value);
