/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine - describes x86-64 and arm64 to the unwinder: registers, and code that is always the
 * same but has no call frame information.
 */
#pragma once
#include "cfi/cfi.h"

enum {
	MACHINE_BITS = 64,	/* in attr.sample_regs_user */
	MACHINE_KEPT = 11,	/* registers at most that functions keep for their callers */
};

struct machine {
	const char *name;		/* as uname -m prints it */
	uint16_t elf;			/* EM_* */
	uint8_t pc, sp, fp;		/* registers, by DWARF's numbers */
	uint8_t lr;			/* register of the return address at a function's start;
					   NO_REGISTER: the return address is on the stack */
	uint8_t kept[MACHINE_KEPT + 1];	/* registers that functions keep for callers, then 0 */
	/* by bit of attr.sample_regs_user: DWARF's number of the register, or NO_REGISTER */
	uint8_t number[MACHINE_BITS];
};

enum {
	NO_REGISTER = 0xff,
	ARM64_PC = 32,		/* our number for arm64's pc: DWARF has none */
};

/* Return the machine that uname -m calls NAME, or NULL if it is unknown. */
const struct machine *machine_find(const char *name);

/* Return ADDRESS without the signature that arm64 puts into return addresses (PAC). */
uint64_t machine_strip(const struct machine *m, uint64_t address, bool is_52_bits);

enum { MACHINE_BEFORE = 160 };	/* bytes before an address that these functions look at */

/*
 * The bytes of code around an address: AT is the address's own byte, and the code has BEFORE
 * bytes before it and AFTER bytes from it on.
 */
struct machine_code {
	const uint8_t *at;
	uint64_t before, after;
};

/*
 * Set *ROW to the row of the trampoline to which a signal handler returns, if CODE is in one.
 * IS_EXACT: the address is where the thread was interrupted; else CODE is at a return address.
 */
bool machine_signal_row(const struct machine *m, struct machine_code code, bool is_exact,
			struct cfi_row *row);

/*
 * Return whether the call before the return address CODE runs on another stack, from its first
 * byte on, as Go's runtime.systemstack, mcall, morestack and asmcgocall do: the words further up
 * on that stack are old.
 */
bool machine_changes_stack(const struct machine *m, struct machine_code code);

/*
 * Return whether CODE ends the program for the first function of a context, to which
 * make_fcontext() of Boost and of others lets it return: a stack starts there.
 */
bool machine_ends_context(const struct machine *m, struct machine_code code);

/*
 * Return the register that has the function's stack pointer at CODE, a return address or (IS_EXACT)
 * where the thread was interrupted.  It is not M->sp where Go calls the vdso: on another stack if
 * need be.
 */
uint8_t machine_saved_sp(const struct machine *m, struct machine_code code, bool is_exact);

/*
 * Return whether CODE, which is exact, is in the code that GCC puts on the stack to call a nested
 * function: it leaves the stack pointer as it was at the call.
 */
bool machine_is_trampoline(const struct machine *m, struct machine_code code);

/*
 * Return whether a return address was put on the stack by hand, as Go does for runtime.goexit: it
 * is after the first byte of a function, where no call fits.  The byte before it is AT bytes after
 * the start of ROW.  On arm64 it is not known: a call may be the first instruction.
 */
bool machine_is_first(const struct machine *m, const struct cfi_row *row, uint64_t at);

/* Set *ROW to the row of a Go function that has BYTES on the stack below its return address. */
void machine_go_row(const struct machine *m, uint32_t bytes, struct cfi_row *row);

/* Set *ROW to the row at CODE, which is AT bytes after the start of a procedure linkage table. */
void machine_plt_row(const struct machine *m, struct machine_code code, uint64_t at,
		     struct cfi_row *row);

/*
 * Set *ROW to the row at CODE, if it is at the system call of clone() or clone3(), or shortly after
 * it, where glibc has no call frame information: the new thread goes on there, too, and has no
 * caller.  CODE must be exact.  ROW's expression is added to C.  Only x86-64 needs this.
 */
bool machine_clone_row(const struct machine *m, struct machine_code code, struct cfi *c,
		       struct cfi_row *row);

/*
 * Set *ROW to the row at CODE, if it is in the first instructions of a function that keeps
 * frame pointers, before its frame pointer is set, or at its return.  CODE must be exact.
 */
bool machine_edge_row(const struct machine *m, struct machine_code code, struct cfi_row *row);
