/* SPDX-License-Identifier: Apache-2.0 */
/*
 * joiner - remembers the stacks of threads, to extend later ones that the dump's size cut.
 *
 * A deep part of a stack often stays the same from one sample to the next.  If the last two
 * frames of a cut stack were seen not long ago, at the same addresses of the same stack, and what
 * the stack and the registers have there shows that they are the same calls, their callers then
 * are taken for their callers now, as far as all stacks that were seen agree.
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
 * is what is known of the next frame: its SP and registers; SP is 0: nothing.  Return the new
 * number of frames, and set *IS_WHOLE if the last one is the start of a thread.
 */
uint32_t joiner_extend(struct joiner *j, pid_t tid, struct frame *frame, uint32_t frames,
		       const struct frame *caller, uint32_t frames_max, bool *is_whole);

/* Remember a stack.  IS_WHOLE: its last frame is the start of a thread. */
void joiner_add(struct joiner *j, pid_t tid, const struct frame *frame, uint32_t frames,
		bool is_whole);

/* Thread TID has ended, or runs another program: forget its stacks. */
void joiner_end(struct joiner *j, pid_t tid);

/* Thread TID will not be seen any more: forget it. */
void joiner_forget(struct joiner *j, pid_t tid);

void joiner_free(struct joiner *j);
