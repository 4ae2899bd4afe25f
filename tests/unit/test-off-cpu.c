/* SPDX-License-Identifier: Apache-2.0 */
/* Waits of threads that a stream names and never ends: they stay within limits. */
#include "tests/unit/tap.h"
#include "waits/off-cpu.h"

#include <stdlib.h>

enum { FRAMES = 30 };

static struct off_cpu_wait *begin(struct off_cpu *w, pid_t tid, uint32_t frames)
{
	static uint32_t frame[OFF_CPU_FRAMES_MAX];

	return off_cpu_begin(w, tid, (uint64_t)tid, frame, frames);
}

static void many_threads(void)
{
	struct off_cpu w = { 0 };
	bool added = true, kept = true;

	for (pid_t tid = 1; tid <= OFF_CPU_THREADS_MAX; tid++)
		added &= begin(&w, tid, FRAMES) != NULL;
	tap(added, "as many threads as the limit wait");
	tap(!begin(&w, OFF_CPU_THREADS_MAX + 1, FRAMES) && w.refused == 1, "one more does not");
	tap(begin(&w, 7, FRAMES) && w.refused == 1, "a thread that is known waits again");
	for (pid_t tid = 1; tid <= OFF_CPU_THREADS_MAX / 2; tid++)
		added &= off_cpu_end(&w, tid) != NULL;
	tap(added && begin(&w, OFF_CPU_THREADS_MAX + 1, FRAMES), "threads that run make room");
	tap(w.count == OFF_CPU_THREADS_MAX / 2 + 1 && w.count == w.waiting &&
	    w.room == (uint64_t)w.count * (2 * FRAMES + 2), "by being forgotten");
	for (pid_t tid = OFF_CPU_THREADS_MAX / 2 + 1; tid <= OFF_CPU_THREADS_MAX + 1; tid++) {
		struct off_cpu_wait *wait = off_cpu_find(&w, tid);
		kept &= wait && wait->since == (uint64_t)tid;
	}
	tap(kept, "those that wait are kept");
	off_cpu_release(&w);
}

static void deep_stacks(void)
{
	struct off_cpu w = { 0 };

	tap(begin(&w, 1, 10) && !begin(&w, 2, OFF_CPU_FRAMES_MAX / 2) && w.refused == 1,
	    "a stack that is deeper than all may be is refused");
	tap(!begin(&w, 1, OFF_CPU_FRAMES_MAX / 2) && !off_cpu_find(&w, 1) && w.waiting == 0,
	    "and ends the wait before");
	off_cpu_thread(&w, 3, true);
	tap(begin(&w, 1, OFF_CPU_FRAMES_MAX / 2 - 1) && w.count == 1, "the limit itself is not");
	off_cpu_forget(&w, 1);
	tap(w.count == 0 && w.room == 0 && w.waiting == 0, "and leaves nothing");
	off_cpu_release(&w);
}

int main(void)
{
	many_threads();
	deep_stacks();
	return tap_done();
}
