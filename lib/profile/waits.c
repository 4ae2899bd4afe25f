/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/waits.h"

#include <stdlib.h>

static struct wait *find(const struct waits *w, pid_t tid)
{
	uint32_t id = TABLE_FIND(&w->table, hash_u64((uint32_t)tid), i, w->wait[i].tid == tid);

	return id == TABLE_NONE ? NULL : &w->wait[id];
}

static struct wait *find_or_add(struct waits *w, pid_t tid)
{
	struct wait *wait = find(w, tid);

	if (wait)
		return wait;
	w->wait = array_grow(w->wait, w->count, sizeof(*w->wait));
	wait = &w->wait[w->count];
	*wait = (struct wait){ .tid = tid };
	table_add(&w->table, hash_u64((uint32_t)tid), w->count++);
	return wait;
}

struct wait *waits_begin(struct waits *w, pid_t tid, uint64_t time, const uint32_t *frame,
			 uint32_t frames)
{
	struct wait *wait = find_or_add(w, tid);

	if (frames + 2 > wait->capacity) {	/* two more: waits_lead() and waits_end_in() */
		wait->capacity = 2 * frames + 2;
		wait->frame = mem_resize(wait->frame, wait->capacity * sizeof(*frame));
	}
	memcpy(wait->frame, frame, frames * sizeof(*frame));
	wait->frames = frames;
	wait->since = time;
	wait->waits = true;
	wait->preempted = false;
	return wait;
}

struct wait *waits_find(const struct waits *w, pid_t tid)
{
	struct wait *wait = find(w, tid);

	return wait && wait->waits ? wait : NULL;
}

struct wait *waits_end(struct waits *w, pid_t tid)
{
	struct wait *wait = waits_find(w, tid);

	if (wait)
		wait->waits = false;
	return wait;
}

void waits_thread(struct waits *w, pid_t tid, bool exited)
{
	struct wait *wait = find_or_add(w, tid);

	wait->waits = false;
	wait->exited = exited;
}

void waits_forget(struct waits *w, pid_t tid)
{
	struct wait *wait = find(w, tid);
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

void waits_lead(struct wait *w, uint32_t frame)
{
	memmove(w->frame + 1, w->frame, w->frames * sizeof(frame));
	w->frame[0] = frame;
	w->frames++;
}

void waits_end_in(struct wait *w, uint32_t frame)
{
	w->frame[w->frames++] = frame;
}

void waits_release(struct waits *w)
{
	for (uint32_t i = 0; i < w->count; i++)
		free(w->wait[i].frame);
	free(w->wait);
	table_release(&w->table);
	*w = (struct waits){ 0 };
}
