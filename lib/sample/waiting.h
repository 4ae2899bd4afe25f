/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waiting - threads that wait already when recording starts.
 *
 * The kernel samples a thread when it stops running.  A thread that waits at the start, perhaps
 * until the end, has no such sample.  So we look into /proc to find where it waits, without
 * stopping it, and write a sample like the kernel's, with the time of the start.  One look is
 * enough: as long as a thread does not run, it waits at the same place.
 *
 *	waiting_look(w, pid, tid);		for each thread, right after the start
 *	waiting_follow(w, record, layout);	for each record before the first round
 *	waiting_write(w, flow);			before the first record after the start
 *
 * The first record of a thread says whether it waited at the start: then it is switched in.
 */
#pragma once
#include "base/buffer.h"
#include "base/table.h"
#include "linux/thread.h"
#include "record/events.h"

struct flow;

struct waiting_thread {
	pid_t pid, tid;
	struct thread_state state;
	/* What its first record says: it was switched in, and so waited; or it ran before. */
	enum { FIRST_NONE, FIRST_IN, FIRST_OUT } first;
	uint64_t first_time;	/* of that record */
	struct thread_registers registers;
	char channel[THREAD_CHANNEL_SIZE];
	char *kernel;		/* its stack in the kernel, as text; NULL: unknown */
	struct buffer callers;	/* u64 return addresses, by frame pointers */
	struct buffer stack;	/* copy of the program's stack, if the event has copies */
};

/* Zero-initialised: nothing is looked at. */
struct start_waits {
	const struct stream_event *event;	/* which samples waits */
	uint32_t index;		/* of EVENT */
	uint64_t since;		/* time of the start, in ns of the records' clock */
	struct waiting_thread *thread;
	size_t count;
	struct table table;	/* over THREAD, by tid */
	size_t copied;		/* bytes of all copies of stacks */
	size_t left_out;	/* threads that were not looked at */
	struct waiting_code {	/* executable addresses of process PID */
		pid_t pid;
		struct waiting_range { uint64_t start, end; } *range;
		size_t count;
	} code;
};

/* The stack of a 32-bit program is below this address, and is not read. */
#define WAITING_64_BITS (1ULL << 32)

enum { WAITING_MAX = 10000 };	/* threads to look at, which takes about a second of CPU time */

/* Look at thread TID of process PID. */
void waiting_look(struct start_waits *w, pid_t pid, pid_t tid);

/* Find the callers of T, which waits with these registers, by frame pointers on its STACK. */
void waiting_find_callers(struct start_waits *w, struct waiting_thread *t,
			  const struct buffer *stack);

/*
 * Learn from RECORD, of any time.  LAYOUT: of all records.  If a thread has a record before the
 * start and then waits, the kernel has sampled its wait.
 */
void waiting_follow(struct start_waits *w, const struct perf_event_header *record,
		    const struct sample_layout *layout);

/*
 * Read from RECORD, a SAMPLE or a switch, the thread that it is about, and its time.  LAYOUT: of
 * all records.  False: it is neither.
 */
bool waiting_read_switch(const struct perf_event_header *record,
			 const struct sample_layout *layout, pid_t *tid, uint64_t *time);

/*
 * Write the samples of the threads that waited at the start to FLOW, and forget all threads.
 * Return how many samples.
 */
uint64_t waiting_write(struct start_waits *w, struct flow *flow);

/* Forget all threads. */
void waiting_release(struct start_waits *w);
