/* SPDX-License-Identifier: Apache-2.0 */
/* wait-frames - the kernel's frames in which a thread waits, as one frame: "[waits: futex]". */
#pragma once
#include "pprof/decode.h"

/*
 * Return how many locations of STACK, from index FIRST on, are frames of the kernel.  Write one
 * NAME for all of them, of at most SIZE bytes.  If the first has a name in brackets, such as
 * "[preempted]", this is the name.  Otherwise it is the system call in which the thread waited, or
 * "[waits]" if no frame is a system call.
 */
size_t wait_frames(const struct decoded *d, const struct decoded_sample *stack, size_t first,
		   char *name, size_t size);

/*
 * Return whether the frame NAME is between the stacks of two threads, "[waits for]".  After it, the
 * stack of the waiting thread may begin with frames of the kernel, too.
 */
bool wait_frames_divided_by(const char *name);
