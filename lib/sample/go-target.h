/* SPDX-License-Identifier: Apache-2.0 */
/*
 * go-target - chooses how to record the stacks of Go programs, to unwind them.
 *
 * Go does not call the vdso on the goroutine's stack, and the kernel copies only the current
 * stack.  But Go's compiler keeps frame pointers, so the kernel's callchain, which follows them,
 * has the callers (lib/unwind/kernel-chain.c).  It also has callers that are outside of a short
 * copy.
 */
#pragma once
#include "counters/settings.h"
#include "target/target.h"

enum {
	/*
	 * Bytes of stack to copy if all code is Go's: few goroutines have larger stacks.  The copy
	 * is needed where a function in assembly uses the frame pointer's register for other data,
	 * as in crypto: the kernel then finds no caller.
	 */
	GO_STACK_BYTES = 16384,
};

/*
 * Complete S, with CHAIN_DWARF, for the programs of T.  s->stack_bytes is only set if it is 0 and
 * all code in T is Go's.
 */
void go_target_complete(struct sample_settings *s, const struct target *t);
