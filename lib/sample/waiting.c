/* SPDX-License-Identifier: Apache-2.0 */
#include "sample/waiting.h"
#include "base/arena.h"
#include "linux/proc.h"

#include <stdlib.h>
#include <string.h>

enum {
	TRIES = 3,			/* to look at a thread while it does not run */
	SCANNED = 16384,		/* bytes of a stack that may have the first frame */
	COPIES_MAX = 64 << 20,		/* bytes of all copies of stacks */
	COPY_LEAST = 1024,		/* bytes of a copy when there are many */
};

/* Return whether a thread in STATE has no CPU and does not wait for one. */
static bool is_blocked(char state)
{
	return state && strchr("SDTt", state);
}

/* Copy at most SIZE bytes of the stack of T. */
static void copy_stack(const struct waiting_thread *t, struct buffer *stack, size_t size)
{
	stack->size = 0;
	ssize_t n = proc_read_memory(t->pid, t->registers.sp, buffer_end(stack, size), size);
	stack->size = n > 0 ? (size_t)n & ~(size_t)7 : 0;
}

/* Return the size of the next copy.  Copies get smaller when there is little room left. */
static size_t copy_size(const struct start_waits *w)
{
	size_t wanted = w->event->attr.sample_stack_user, left = COPIES_MAX - w->copied;

	if (w->copied >= COPIES_MAX || left / 16 < COPY_LEAST)
		left = 16 * COPY_LEAST;
	return (wanted < left / 16 ? wanted : left / 16) & ~(size_t)7;
}

/* Read where T waits in the program. */
static void read_program(struct start_waits *w, struct waiting_thread *t)
{
	const struct perf_event_attr *attr = &w->event->attr;
	struct buffer scanned = { 0 };

	thread_read_registers(t->pid, t->tid, &t->registers);
	if (!t->registers.is_known || t->registers.sp < WAITING_64_BITS)
		return;
	if (attr->sample_type & PERF_SAMPLE_STACK_USER)
		copy_stack(t, &t->stack, copy_size(w));
	if (attr->sample_type & PERF_SAMPLE_CALLCHAIN && !attr->exclude_callchain_user) {
		copy_stack(t, &scanned, SCANNED);
		waiting_find_callers(w, t, &scanned);
		free(scanned.at);
	}
}

/* Read where T waits in the kernel. */
static void read_kernel(struct waiting_thread *t)
{
	char text[THREAD_STACK_SIZE];

	thread_read_stack(t->pid, t->tid, text);
	free(t->kernel);
	t->kernel = *text ? mem_text(text) : NULL;
	thread_read_channel(t->pid, t->tid, t->channel);
}

static void forget_place(struct waiting_thread *t)
{
	free(t->kernel);
	t->kernel = NULL;
	*t->channel = '\0';
	t->registers = (struct thread_registers){ .is_known = false };
	t->stack.size = t->callers.size = 0;
}

/* Read where T waits, until it has not run meanwhile.  False: it has ended. */
static bool read_place(struct start_waits *w, struct waiting_thread *t)
{
	struct thread_state after;

	for (int i = 0; i < TRIES; i++) {
		if (!thread_read_state(t->pid, t->tid, &t->state))
			return false;
		if (!is_blocked(t->state.state))
			return true;
		read_program(w, t);
		read_kernel(t);
		if (!thread_read_state(t->pid, t->tid, &after))
			return false;
		if (after.turns == t->state.turns && after.state == t->state.state)
			return true;
		forget_place(t);
	}
	return true;
}

static void release_thread(struct waiting_thread *t)
{
	free(t->kernel);
	free(t->callers.at);
	free(t->stack.at);
}

static struct waiting_thread *find(const struct start_waits *w, pid_t tid)
{
	uint32_t id = TABLE_FIND(&w->table, hash_u64((uint32_t)tid), i, w->thread[i].tid == tid);

	return id == TABLE_NONE ? NULL : &w->thread[id];
}

void waiting_look(struct start_waits *w, pid_t pid, pid_t tid)
{
	struct waiting_thread t = { .pid = pid, .tid = tid };

	if (find(w, tid) || !read_place(w, &t) ||
	    !(is_blocked(t.state.state) || t.state.state == 'R')) {
		release_thread(&t);
		return;
	}
	w->copied += t.stack.size;
	w->thread = array_grow(w->thread, w->count, sizeof(t));
	w->thread[w->count] = t;
	table_add(&w->table, hash_u64((uint32_t)tid), (uint32_t)w->count++);
}

bool waiting_read_switch(const struct perf_event_header *record, const struct sample_layout *l,
			 pid_t *tid, uint64_t *time)
{
	const uint8_t *at = (const uint8_t *)record;
	bool is_sample = record->type == PERF_RECORD_SAMPLE;

	if (!is_sample && record->type != PERF_RECORD_SWITCH &&
	    record->type != PERF_RECORD_SWITCH_CPU_WIDE)
		return false;
	if (record->size < sizeof(*record) + (is_sample ? l->size : l->trailer_size))
		return false;
	/* the sample_id of a SWITCH record starts with u32 pid, tid, as these fields of a SAMPLE */
	at += is_sample ? sizeof(*record) + l->tid : (size_t)record->size - l->trailer_size;
	memcpy(tid, at + sizeof(uint32_t), sizeof(*tid));
	at = (const uint8_t *)record;
	at += is_sample ? sizeof(*record) + l->time
			: (size_t)record->size - l->trailer_size + l->trailer_time;
	memcpy(time, at, sizeof(*time));
	return true;
}

void waiting_follow(struct start_waits *w, const struct perf_event_header *record,
		    const struct sample_layout *layout)
{
	uint64_t time;
	pid_t tid;

	if (!waiting_read_switch(record, layout, &tid, &time))
		return;
	struct waiting_thread *t = find(w, tid);
	if (!t || (t->first != FIRST_NONE && t->first_time <= time))
		return;
	bool is_in = record->type != PERF_RECORD_SAMPLE && time >= w->since &&
		     !(record->misc & PERF_RECORD_MISC_SWITCH_OUT);
	t->first = is_in ? FIRST_IN : FIRST_OUT;
	t->first_time = time;
}

void waiting_release(struct start_waits *w)
{
	for (size_t i = 0; i < w->count; i++)
		release_thread(&w->thread[i]);
	free(w->thread);
	free(w->code.range);
	table_release(&w->table);
	*w = (struct start_waits){ .event = NULL };
}
