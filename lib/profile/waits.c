/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/waits.h"

#include <stdlib.h>

static struct wait *find(const struct waits *w, pid_t tid)
{
	struct table_probe probe = table_probe(&w->table, hash_u64((uint32_t)tid));
	uint32_t id;

	while ((id = table_next(&w->table, &probe)) != TABLE_NONE)
		if (w->wait[id].tid == tid)
			return &w->wait[id];
	return NULL;
}

struct wait *waits_begin(struct waits *w, pid_t tid, uint64_t time, const uint32_t *frame,
			 uint32_t frames)
{
	struct wait *wait = find(w, tid);

	if (!wait) {
		w->wait = array_grow(w->wait, w->count, sizeof(*w->wait));
		wait = &w->wait[w->count];
		*wait = (struct wait){ .tid = tid };
		table_add(&w->table, hash_u64((uint32_t)tid), w->count++);
	}
	if (frames > wait->capacity) {
		wait->capacity = 2 * frames;
		wait->frame = mem_resize(wait->frame, wait->capacity * sizeof(*frame));
	}
	memcpy(wait->frame, frame, frames * sizeof(*frame));
	wait->frames = frames;
	wait->since = time;
	wait->waits = true;
	return wait;
}

struct wait *waits_end(struct waits *w, pid_t tid)
{
	struct wait *wait = find(w, tid);

	if (!wait || !wait->waits)
		return NULL;
	wait->waits = false;
	return wait;
}

void waits_release(struct waits *w)
{
	for (uint32_t i = 0; i < w->count; i++)
		free(w->wait[i].frame);
	free(w->wait);
	table_release(&w->table);
	*w = (struct waits){ 0 };
}
