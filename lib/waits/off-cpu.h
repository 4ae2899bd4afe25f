/* SPDX-License-Identifier: Apache-2.0 */
/* off-cpu - threads that wait (were switched out): on which stack, and since when. */
#pragma once
#include "base/arena.h"
#include "base/table.h"
#include "record/stack-end.h"

#include <stdbool.h>
#include <sys/types.h>

struct off_cpu_wait {
	pid_t tid;
	bool is_waiting;	/* it is switched out; false: it runs */
	bool exited;		/* it has exited: once switched out, it never runs again */
	bool is_out;		/* the record of its switch came: SINCE is exact */
	bool preempted;		/* it was still runnable: another thread took its CPU */
	bool has_leaf;		/* off_cpu_add_leaf() has added a frame */
	uint64_t since;		/* time it was switched out, in the stream's clock */
	uint32_t event, labels;
	uint32_t subject;	/* index of the collect_subject that counts the wait */
	enum stack_end end;	/* how its stack ends */
	uint32_t frames, capacity;
	uint32_t *frame;	/* frame ids, the leaf first */
};

/*
 * Limits of what is kept at a time: a stream may name any number of threads and never end one.
 * Threads that run are forgotten first; then further waits are refused.
 */
enum {
	OFF_CPU_THREADS_MAX = 1 << 17,
	OFF_CPU_FRAMES_MAX = 1 << 23,	/* room of all their stacks, in frames */
};

/* Zero-initialised: no threads. */
struct off_cpu {
	struct off_cpu_wait *wait;	/* one for each thread */
	uint32_t count;
	uint32_t waiting;	/* threads that wait */
	uint64_t room;		/* sum of their capacities */
	uint64_t refused;	/* waits that were not added because of the limits */
	struct table table;	/* over WAIT, by tid */
};

/*
 * TID waits from TIME on, with these FRAMES frames as its stack.  Return its entry, in
 * which the caller sets event, labels and subject.  Valid until the next call.  NULL: there
 * are too many.
 */
struct off_cpu_wait *off_cpu_begin(struct off_cpu *w, pid_t tid, uint64_t time,
				   const uint32_t *frame,
				   uint32_t frames);

/*
 * The record of a switch says that TID was switched out at TIME: its wait starts then, not at the
 * sample, after which the kernel wrote the callchain.  PREEMPTED: it was still runnable.
 */
void off_cpu_out(struct off_cpu *w, pid_t tid, uint64_t time, bool preempted);

/* Return the wait of TID, valid until the next call; NULL if TID runs or is unknown. */
struct off_cpu_wait *off_cpu_find(const struct off_cpu *w, pid_t tid);

/* End the wait of TID and return it, valid until the next call; NULL if TID did not wait. */
struct off_cpu_wait *off_cpu_end(struct off_cpu *w, pid_t tid);

/* TID has exited (EXITED) while it ran, or is a new thread. */
void off_cpu_thread(struct off_cpu *w, pid_t tid, bool exited);

/* Forget TID. */
void off_cpu_forget(struct off_cpu *w, pid_t tid);

/* Make FRAME the new leaf of W's stack: at most once, after the wait has ended. */
void off_cpu_add_leaf(struct off_cpu_wait *w, uint32_t frame);

/* Make FRAME the new root of W's stack: at most once, after the wait has ended. */
void off_cpu_end_in(struct off_cpu_wait *w, uint32_t frame);

/* W, which was counted up to TIME, goes on from there with the FRAMES frames that it had before. */
void off_cpu_continue(struct off_cpu_wait *w, uint32_t frames, uint64_t time);

void off_cpu_release(struct off_cpu *w);
