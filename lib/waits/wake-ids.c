/* SPDX-License-Identifier: Apache-2.0 */
#include "waits/wake-ids.h"
#include "base/arena.h"

#include <stdlib.h>

static struct wake_id *find(const struct wake_ids *w, pid_t is)
{
	uint32_t at = TABLE_FIND(&w->table, hash_u64((uint32_t)is), i, w->id[i].is == is);

	return at == TABLE_NONE ? NULL : &w->id[at];
}

void wake_ids_learn(struct wake_ids *w, pid_t tid, pid_t by)
{
	w->is_inside |= by > 0 && tid > 0 && by != tid;
	if (!w->is_inside || by <= 0 || tid <= 0)
		return;
	struct wake_id *known = find(w, by);
	if (known) {
		known->means = tid;	/* ids are used again */
	} else if (w->ids < WAKE_IDS_MAX) {
		w->id = array_grow(w->id, w->ids, sizeof(*w->id));
		w->id[w->ids] = (struct wake_id){ by, tid };
		table_add(&w->table, hash_u64((uint32_t)by), w->ids++);
	}
}

pid_t wake_ids_thread(struct wake_ids *w, pid_t woken)
{
	if (!w->is_inside)
		return woken;
	const struct wake_id *known = find(w, woken);
	*(known ? &w->known : &w->unknown) += 1;
	return known ? known->means : 0;
}

pid_t wake_ids_memory(const struct wake_ids *w, pid_t pid)
{
	for (uint32_t i = 0; i < w->memories; i++)
		if (w->memory[i].is == pid)
			return w->memory[i].means;
	return pid;
}

void wake_ids_share(struct wake_ids *w, pid_t a, pid_t b)
{
	pid_t first = wake_ids_memory(w, a), other = wake_ids_memory(w, b);

	if (first == other || w->memories >= WAKE_MEMORIES_MAX)
		return;
	for (uint32_t i = 0; i < w->memories; i++)
		if (w->memory[i].means == other)
			w->memory[i].means = first;
	w->memory = array_grow(w->memory, w->memories, sizeof(*w->memory));
	w->memory[w->memories++] = (struct wake_id){ other, first };
}

void wake_ids_release(struct wake_ids *w)
{
	free(w->id);
	free(w->memory);
	table_release(&w->table);
	*w = (struct wake_ids){ .ids = 0 };
}
