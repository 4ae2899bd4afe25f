/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of scan: what is known of registers and of words of the stack, what an instruction does
 * to that, and the rows that follow from it.
 */
#pragma once
#include "code/instruction.h"
#include "cfi/cfi.h"

enum {
	RBX = 3, RBP = 6, RSP = 7, RIP = 16, REGISTERS = 16,	/* DWARF's numbers of x86-64 */
	ALIGNED = REGISTERS,	/* a base: the stack pointer after it was aligned */
	WORD = 8,
	SLOTS = 32,		/* words of the stack whose value is known */
	SOFT_UNKNOWN = 1,
};

/* Registers that a function may change: rax rdx rcx rsi rdi r8 to r11. */
#define SCRATCH 0xf37ULL
/* Registers that it keeps for its caller: rbx rbp r12 to r15. */
#define KEPT 0xf048ULL

/*
 * What is known of a register or a word: it is what register BASE was at the start of the scan,
 * plus OFFSET; or the word that was there, plus MORE.
 */
enum scan_value_kind { UNKNOWN, SUM, LOADED };

struct scan_value {
	uint8_t kind;		/* enum scan_value_kind */
	uint8_t base;
	int32_t offset, more;
};

/* The word at BASE + OFFSET. */
struct scan_slot {
	uint8_t base;
	int32_t offset;
	struct scan_value value;
};

struct state {
	uint64_t at;
	struct scan_value reg[REGISTERS];
	struct scan_slot slot[SLOTS];
	uint8_t slots;
	bool has_aligned;
	bool is_after_call;	/* AT follows a call that may not return */
	/*
	 * The function that was called, if the way has passed a call after which another function
	 * may start; SOFT_UNKNOWN: unknown, or several; 0: none.
	 */
	uint64_t soft;
};

static inline bool scan_equal(struct scan_value a, struct scan_value b)
{
	return a.kind == b.kind && a.base == b.base && a.offset == b.offset && a.more == b.more;
}

/* Return what register BASE was at the start, plus OFFSET. */
struct scan_value scan_sum(unsigned base, int64_t offset);

/* Return V plus MORE. */
struct scan_value scan_add(struct scan_value v, int64_t more);

/* Return the word at PLACE. */
struct scan_value scan_load(const struct state *s, struct scan_value place);

/* Push the value V. */
void scan_push(struct state *s, struct scan_value v);

/* Do what instruction I does to registers and the stack. */
void scan_execute(struct state *s, const struct opcode *i);

/* --- rows (scan-row.c) --- */
/* Make ROW of END, the state at the function's return, from the row's address on. */
bool scan_row_from_return(struct cfi *c, const struct state *end, struct cfi_row *row);

/* Make ROW of END, the state at the row's address, from the function's start on. */
bool scan_row_from_start(struct cfi *c, const struct state *end, struct cfi_row *row);

/*
 * Return whether two scans do not contradict each other: from a function's start, with START at the
 * end, and from there to the function's return, with END.
 */
bool scan_agree(const struct state *start, const struct state *end);
