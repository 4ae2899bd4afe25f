/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan - rows for code that has no call frame information, from the code itself.
 *
 * A scan follows the instructions from one address along all ways that the code may take, and
 * knows at each of them which registers and words of the stack have a value that was in a register
 * at the start.  There are two scans, which must not contradict each other:
 *
 *   from the function's start, if that is known, up to the address: the stack pointer has moved
 *   by so many bytes since the call, and these words of the stack have registers of the caller;
 *
 *   from the address to the function's return: there the stack pointer is where the call left
 *   it, and the registers have the caller's values.
 *
 * A row is a guess until its result has been checked: the caller must check that the return address
 * follows a call that leads to this code.  Some rows need more than a call that may lead anywhere:
 * what looks like the start of a function may be a label inside, and what follows a call that never
 * returns is another function.
 */
#pragma once
#include "code/starts.h"
#include "elf/elf.h"

struct code_scan;

struct code_scan *scan_new(void);
void scan_free(struct code_scan *s);

/* An address of code, and what is known about its function. */
struct scan_request {
	const struct machine *machine;	/* only x86-64 is known */
	struct elf *elf;
	uint64_t own;		/* where the thread was interrupted, or the last byte of a call */
	bool is_exact;		/* OWN is where the thread was interrupted */
	uint64_t symbol;	/* start of the function by its symbol; 0: unknown */
	uint64_t label;		/* the same by a label, which may be inside it; 0: unknown */
	const struct starts *starts;	/* NULL: none are known */
	uint64_t *fuel;		/* bytes of code that may still be read */
};

enum scan_result {
	SCAN_NONE,		/* the code does not say, or the scans contradict each other */
	SCAN_WEAK,		/* the code that was followed may be that of two functions */
	SCAN_FOUND,
};

/* Find ROW at P.  Expressions of ROW are added to C. */
enum scan_result scan_row(struct code_scan *s, const struct scan_request *p, struct cfi *c,
			  struct cfi_row *row);
