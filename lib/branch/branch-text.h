/* SPDX-License-Identifier: Apache-2.0 */
/*
 * branch-text - branches and ranges as the texts that tools of compilers read (pmu-branch(1)).
 *
 * The lines are sorted, so equal counts give equal bytes.  A range ends with the address of its
 * last instruction, not after it.
 */
#pragma once
#include "branch/branches.h"
#include "base/output.h"

enum branch_text {
	BRANCH_AUTOFDO,		/* create_llvm_prof, create_gcov: offsets in the file */
	BRANCH_LLVM,		/* llvm-profgen --unsymbolized-profile */
	BRANCH_BOLT,		/* perf2bolt -pa */
	BRANCH_PERFSCRIPT,	/* llvm-profgen --perfscript */
};

/*
 * Write what branches_choose() has left of B to OUT.  Return the number of ranges.  If the file of
 * the binary is needed and missing, report that, and discard OUT.
 */
uint64_t branch_text_write(struct branches *b, enum branch_text form, struct output *out);

/* The same for BRANCH_PERFSCRIPT, from B's spool. */
uint64_t branch_script_write(struct branches *b, struct output *out);

/* Write the text that FORMAT makes, of at most 256 bytes. */
void branch_print(struct output *out, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
