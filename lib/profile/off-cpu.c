/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/off-cpu.h"

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

struct off_cpu_wait *off_cpu_begin(struct off_cpu *w, pid_t tid, uint64_t time,
				   const uint32_t *frame,
				   uint32_t frames)
{
	struct off_cpu_wait *wait = find_or_add(w, tid);

	if (frames + 2 > wait->capacity) {	/* add_leaf, end_in: two more */
		wait->capacity = 2 * frames + 2;
		wait->frame = mem_resize(wait->frame, wait->capacity * sizeof(*frame));
	}
	memcpy(wait->frame, frame, frames * sizeof(*frame));
	wait->frames = frames;
	wait->since = time;
	wait->is_waiting = true;
	wait->preempted = false;
	return wait;
}

struct off_cpu_wait *off_cpu_find(const struct off_cpu *w, pid_t tid)
{
	struct off_cpu_wait *wait = find(w, tid);

	return wait && wait->is_waiting ? wait : NULL;
}

struct off_cpu_wait *off_cpu_end(struct off_cpu *w, pid_t tid)
{
	struct off_cpu_wait *wait = off_cpu_find(w, tid);

	if (wait)
		wait->is_waiting = false;
	return wait;
}

void off_cpu_thread(struct off_cpu *w, pid_t tid, bool exited)
{
	struct off_cpu_wait *wait = find_or_add(w, tid);

	wait->is_waiting = false;
	wait->exited = exited;
}

void off_cpu_forget(struct off_cpu *w, pid_t tid)
{
	struct off_cpu_wait *wait = find(w, tid);
	uint32_t last = w->count - 1;

	if (!wait)
		return;
	free(wait->frame);
	uint32_t id = (uint32_t)(wait - w->wait);
	table_remove(&w->table, hash_u64((uint32_t)tid), id);
	w->count = last;
	if (id == last)
		return;
	table_remove(&w->table, hash_u64((uint32_t)w->wait[last].tid), last);
	*wait = w->wait[last];
	table_add(&w->table, hash_u64((uint32_t)wait->tid), id);
}

void off_cpu_add_leaf(struct off_cpu_wait *w, uint32_t frame)
{
	memmove(w->frame + 1, w->frame, w->frames * sizeof(frame));
	w->frame[0] = frame;
	w->frames++;
}

void off_cpu_end_in(struct off_cpu_wait *w, uint32_t frame)
{
	w->frame[w->frames++] = frame;
}

void off_cpu_release(struct off_cpu *w)
{
	for (uint32_t i = 0; i < w->count; i++)
		free(w->wait[i].frame);
	free(w->wait);
	table_release(&w->table);
	*w = (struct off_cpu){ 0 };
}
