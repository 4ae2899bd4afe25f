/* SPDX-License-Identifier: Apache-2.0 */
#include "waits/on-cpu.h"

#include <stdlib.h>

static uint32_t index_of(const struct on_cpu *o, pid_t tid)
{
	return TABLE_FIND(&o->table, hash_u64((uint32_t)tid), i, o->thread[i].tid == tid);
}

static struct on_cpu_thread *find(const struct on_cpu *o, pid_t tid)
{
	uint32_t id = index_of(o, tid);

	return id == TABLE_NONE ? NULL : &o->thread[id];
}

/* Return the entry of TID, a new one if necessary; NULL: there are too many. */
static struct on_cpu_thread *find_or_add(struct on_cpu *o, pid_t tid)
{
	struct on_cpu_thread *t = find(o, tid);

	if (t || o->count == ON_CPU_THREADS_MAX)
		return t;
	o->thread = array_grow(o->thread, o->count, sizeof(*o->thread));
	o->thread[o->count] = (struct on_cpu_thread){ .tid = tid };
	table_add(&o->table, hash_u64((uint32_t)tid), o->count);
	return &o->thread[o->count++];
}

/* Count the time up to TIME. */
static void reach(struct on_cpu_thread *t, uint64_t time)
{
	if (t->runs && time > t->since)
		t->pending += time - t->since;
	t->since = time > t->since ? time : t->since;
}

void on_cpu_runs(struct on_cpu *o, pid_t tid, uint64_t time, bool is_switch)
{
	struct on_cpu_thread *t = tid > 0 && time ? find_or_add(o, tid) : NULL;

	/* if it runs already, and is switched in, then the record of a switch out was lost */
	if (!t || (t->runs && !is_switch))
		return;
	t->runs = true;
	t->since = time;
}

void on_cpu_out(struct on_cpu *o, pid_t tid, uint64_t time)
{
	struct on_cpu_thread *t = find(o, tid);

	if (!t)
		return;
	reach(t, time);
	t->runs = false;
}

bool on_cpu_sample(struct on_cpu *o, pid_t tid, uint64_t time, uint64_t *ns)
{
	struct on_cpu_thread *t = find(o, tid);

	if (!t) {
		on_cpu_runs(o, tid, time, false);
		return false;
	}
	reach(t, time);
	*ns = t->pending;
	t->pending = 0;
	return true;
}

void on_cpu_forget(struct on_cpu *o, pid_t tid)
{
	uint32_t id = index_of(o, tid), last = o->count - 1;

	if (id == TABLE_NONE)
		return;
	table_remove(&o->table, hash_u64((uint32_t)tid), id);
	o->count = last;
	if (id == last)
		return;
	table_remove(&o->table, hash_u64((uint32_t)o->thread[last].tid), last);
	o->thread[id] = o->thread[last];
	table_add(&o->table, hash_u64((uint32_t)o->thread[id].tid), id);
}

void on_cpu_release(struct on_cpu *o)
{
	free(o->thread);
	table_release(&o->table);
	*o = (struct on_cpu){ 0 };
}
