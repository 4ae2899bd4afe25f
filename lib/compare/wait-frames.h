/* SPDX-License-Identifier: Apache-2.0 */
/* wait-frames - the kernel's frames in which a thread waits, as one frame: "[waits: futex]". */
#pragma once
#include "pprof/decode.h"

/*
 * Return how many locations at the leaf of STACK are frames of the kernel, and write one NAME for
 * all of them, of at most SIZE bytes: the system call in which the thread waited; "[waits]" if
 * there is none; or the name in brackets that the leaf has already, such as "[preempted]".
 */
size_t wait_frames(const struct decoded *d, const struct decoded_sample *stack, char *name,
		   size_t size);
