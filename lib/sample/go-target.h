/* SPDX-License-Identifier: Apache-2.0 */
/*
 * go-target - chooses how to record the stacks of Go programs, to unwind them.
 *
 * Go calls the vdso on another stack than the goroutine's, and the kernel copies only one.  But
 * Go's compiler keeps frame pointers, so the kernel's callchain, which follows them, has the
 * callers (lib/unwind/kernel-chain.c).  It also has those that are too far away for a short copy.
 */
#pragma once
#include "sample/settings.h"
#include "sample/target.h"

enum {
	/*
	 * To copy, where all code is Go's: as much as most goroutines have.  Where a function in
	 * assembly uses the frame pointer's register for other data, as those of crypto do, the
	 * kernel finds no caller, and the copy is all there is.
	 */
	GO_STACK_BYTES = 16384,
};

/*
 * Complete S, with CHAIN_DWARF, for the programs of T.  s->stack_bytes is only set if it is 0 and
 * all code in T is Go's.
 */
void go_target_complete(struct sample_settings *s, const struct target *t);
