/* SPDX-License-Identifier: Apache-2.0 */
/* internal - what only this module uses; the files are named. */
#pragma once
#include "pprof/decode.h"

/* wait-frames - the kernel's frames in which a thread waits, as one frame: "[waits: futex]". */

/*
 * Return how many locations at the leaf of STACK are frames of the kernel.  Write one NAME for all
 * of them, of at most SIZE bytes.  If the leaf has a name in brackets, such as "[preempted]", this
 * is the name.  Otherwise it is the system call in which the thread waited, or "[waits]" if no
 * frame is a system call.
 */
size_t wait_frames(const struct decoded *d, const struct decoded_sample *stack, char *name,
		   size_t size);
