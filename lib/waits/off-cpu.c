/* SPDX-License-Identifier: Apache-2.0 */
#include "waits/off-cpu.h"

#include <stdlib.h>

static struct off_cpu_wait *find(const struct off_cpu *w, pid_t tid)
{
	uint32_t id = TABLE_FIND(&w->table, hash_u64((uint32_t)tid), i, w->wait[i].tid == tid);

	return id == TABLE_NONE ? NULL : &w->wait[id];
}

static struct off_cpu_wait *find_or_add(struct off_cpu *w, pid_t tid)
{
	struct off_cpu_wait *wait = find(w, tid);

	if (wait)
		return wait;
	w->wait = array_grow(w->wait, w->count, sizeof(*w->wait));
	wait = &w->wait[w->count];
	*wait = (struct off_cpu_wait){ .tid = tid };
	table_add(&w->table, hash_u64((uint32_t)tid), w->count++);
	return wait;
}

static void set_waiting(struct off_cpu *w, struct off_cpu_wait *wait, bool is_waiting)
{
	w->waiting += is_waiting - wait->is_waiting;
	wait->is_waiting = is_waiting;
}

static void forget(struct off_cpu *w, struct off_cpu_wait *wait)
{
	uint32_t id = (uint32_t)(wait - w->wait), last = w->count - 1;

	w->waiting -= wait->is_waiting;
	w->room -= wait->capacity;
	free(wait->frame);
	table_remove(&w->table, hash_u64((uint32_t)wait->tid), id);
	w->count = last;
	if (id == last)
		return;
	table_remove(&w->table, hash_u64((uint32_t)w->wait[last].tid), last);
	*wait = w->wait[last];
	table_add(&w->table, hash_u64((uint32_t)wait->tid), id);
}

void off_cpu_forget(struct off_cpu *w, pid_t tid)
{
	struct off_cpu_wait *wait = find(w, tid);

	if (wait)
		forget(w, wait);
}

/* Return whether one more thread, with a stack of FRAMES frames, is within the limits. */
static bool is_room(const struct off_cpu *w, uint32_t frames)
{
	return w->count < OFF_CPU_THREADS_MAX && w->room + frames <= OFF_CPU_FRAMES_MAX;
}

/*
 * Make room for a thread with a stack of FRAMES frames.  Return false if all room is taken.
 * Threads that run are forgotten, but only if they are at least half: then the search costs little
 * for each wait.
 */
static bool make_room(struct off_cpu *w, uint32_t frames)
{
	if (!is_room(w, frames) && w->waiting <= w->count / 2)
		for (uint32_t i = w->count; i-- > 0;)
			if (!w->wait[i].is_waiting)
				forget(w, &w->wait[i]);
	return is_room(w, frames);
}

struct off_cpu_wait *off_cpu_begin(struct off_cpu *w, pid_t tid, uint64_t time,
				   const uint32_t *frame,
				   uint32_t frames)
{
	struct off_cpu_wait *wait = find(w, tid);
	uint32_t needed = 2 * frames + 2;	/* add_leaf, end_in: two more */

	if (!wait || frames + 2 > wait->capacity) {
		if (!make_room(w, needed)) {
			w->refused++;
			off_cpu_end(w, tid);	/* the wait that is known is an earlier one */
			return NULL;
		}
		wait = find_or_add(w, tid);
		w->room += needed - wait->capacity;
		wait->capacity = needed;
		wait->frame = mem_resize(wait->frame, wait->capacity * sizeof(*frame));
	}
	memcpy(wait->frame, frame, frames * sizeof(*frame));
	wait->frames = frames;
	wait->since = time;
	set_waiting(w, wait, true);
	wait->preempted = wait->is_out = wait->has_leaf = false;
	return wait;
}

struct off_cpu_wait *off_cpu_find(const struct off_cpu *w, pid_t tid)
{
	struct off_cpu_wait *wait = find(w, tid);

	return wait && wait->is_waiting ? wait : NULL;
}

void off_cpu_out(struct off_cpu *w, pid_t tid, uint64_t time, bool preempted)
{
	struct off_cpu_wait *wait = off_cpu_find(w, tid);

	if (!wait || wait->is_out)
		return;
	wait->since = time > wait->since ? time : wait->since;
	wait->preempted = preempted;
	wait->is_out = true;
}

struct off_cpu_wait *off_cpu_end(struct off_cpu *w, pid_t tid)
{
	struct off_cpu_wait *wait = off_cpu_find(w, tid);

	if (wait)
		set_waiting(w, wait, false);
	return wait;
}

void off_cpu_thread(struct off_cpu *w, pid_t tid, bool exited)
{
	struct off_cpu_wait *wait = find_or_add(w, tid);

	set_waiting(w, wait, false);
	wait->exited = exited;
}

void off_cpu_add_leaf(struct off_cpu_wait *w, uint32_t frame)
{
	memmove(w->frame + 1, w->frame, w->frames * sizeof(frame));
	w->frame[0] = frame;
	w->frames++;
	w->has_leaf = true;
}

void off_cpu_end_in(struct off_cpu_wait *w, uint32_t frame)
{
	w->frame[w->frames++] = frame;
}

void off_cpu_continue(struct off_cpu_wait *w, uint32_t frames, uint64_t time)
{
	if (w->has_leaf)
		memmove(w->frame, w->frame + 1, frames * sizeof(*w->frame));
	w->has_leaf = false;
	w->frames = frames;
	w->since = time;
}

void off_cpu_release(struct off_cpu *w)
{
	for (uint32_t i = 0; i < w->count; i++)
		free(w->wait[i].frame);
	free(w->wait);
	table_release(&w->table);
	*w = (struct off_cpu){ 0 };
}
