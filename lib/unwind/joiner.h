/* SPDX-License-Identifier: Apache-2.0 */
/*
 * joiner - remembers the stacks of threads, to extend later stacks that the dump's size cut.
 *
 * The deep part of a stack often stays the same from one sample to the next.  If the last frame of
 * a cut stack was seen earlier, at the same addresses of the same stack, and the stack's words or
 * the registers show that it is the same call, then the cut stack gets the callers that the frame
 * had, up to the first one that another caller could replace.
 *
 * The same addresses alone do not suffice: the thread may have returned below these frames and
 * called the same functions again from elsewhere, as recursive programs do all the time.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct frame;
struct joiner;

struct joiner *joiner_new(void);

/*
 * Extend the FRAMES frames in FRAME of thread TID, the leaf first, to at most FRAMES_MAX.  CALLER
 * has the known SP and registers of the next frame; SP 0: they are unknown.  Return the new
 * number of frames, and set *IS_WHOLE if the last one is the start of a thread.
 */
uint32_t joiner_extend(struct joiner *j, pid_t tid, struct frame *frame, uint32_t frames,
		       const struct frame *caller, uint32_t frames_max, bool *is_whole);

/*
 * Remember a stack.  The first COPIED of its frames were found in its copy; the rest comes from
 * earlier stacks.  IS_WHOLE: its last frame is the start of a thread.
 */
void joiner_add(struct joiner *j, pid_t tid, const struct frame *frame, uint32_t frames,
		uint32_t copied, bool is_whole);

/* Thread TID has ended, or runs another program: forget its stacks. */
void joiner_end(struct joiner *j, pid_t tid);

/* Thread TID will not be seen any more: forget it. */
void joiner_forget(struct joiner *j, pid_t tid);

void joiner_free(struct joiner *j);
