/* SPDX-License-Identifier: Apache-2.0 */
#include "waits/running.h"
#include "base/arena.h"

#include <stdlib.h>

enum {
	CPUS_MAX = 1 << 16,
	THREADS_MAX = CPUS_MAX,		/* each runs on a CPU */
};

static uint64_t hash_of(pid_t tid)
{
	return hash_u64((uint32_t)tid);
}

static uint32_t find(const struct running *r, pid_t tid)
{
	return TABLE_FIND(&r->table, hash_of(tid), i, r->thread[i].tid == tid);
}

void running_reach(struct running *r, uint64_t time)
{
	if (time <= r->time)
		return;
	if (r->time && r->count)
		r->ran += time - r->time;
	r->time = time;
}

static void drop(struct running *r, uint32_t id)
{
	struct running_thread *t = &r->thread[id], *last = &r->thread[r->count - 1];

	if (t->cpu < r->cpus && r->on_cpu[t->cpu] == t->tid)
		r->on_cpu[t->cpu] = 0;
	r->unseen -= t->losses != r->losses;
	table_remove(&r->table, hash_of(t->tid), id);
	if (t != last) {
		table_remove(&r->table, hash_of(last->tid), r->count - 1);
		*t = *last;
		table_add(&r->table, hash_of(t->tid), id);
	}
	r->count--;
}

/* TID (0: none) runs on CPU now: the previous thread has left it. */
static void take_cpu(struct running *r, pid_t tid, uint32_t cpu)
{
	if (cpu >= CPUS_MAX)
		return;
	if (cpu >= r->cpus) {
		r->on_cpu = mem_resize(r->on_cpu, ((size_t)cpu + 1) * sizeof(*r->on_cpu));
		memset(r->on_cpu + r->cpus, 0, (cpu + 1 - r->cpus) * sizeof(*r->on_cpu));
		r->cpus = cpu + 1;
	}
	if (r->on_cpu[cpu] && r->on_cpu[cpu] != tid) {
		uint32_t id = find(r, r->on_cpu[cpu]);
		if (id != TABLE_NONE && r->thread[id].cpu == cpu)
			drop(r, id);
	}
	r->on_cpu[cpu] = tid;
}

void running_in(struct running *r, pid_t tid, uint32_t cpu, uint64_t time)
{
	running_reach(r, time);
	take_cpu(r, tid > 0 ? tid : 0, cpu);
	if (tid <= 0)
		return;
	uint32_t id = find(r, tid);
	if (id == TABLE_NONE) {
		if (r->count == THREADS_MAX)
			return;
		r->thread = array_grow(r->thread, r->count, sizeof(*r->thread));
		r->thread[r->count] = (struct running_thread){ .tid = tid, .losses = r->losses };
		table_add(&r->table, hash_of(tid), id = r->count++);
	}
	struct running_thread *t = &r->thread[id];
	t->cpu = cpu;
	r->unseen -= t->losses != r->losses;
	t->losses = r->losses;
}

void running_out(struct running *r, pid_t tid, uint32_t cpu, uint64_t time)
{
	running_reach(r, time);
	take_cpu(r, 0, cpu);
	uint32_t id = tid > 0 ? find(r, tid) : TABLE_NONE;
	if (id != TABLE_NONE)
		drop(r, id);
}

uint32_t running_sample(struct running *r, pid_t tid, uint32_t cpu, uint64_t time)
{
	running_in(r, tid, cpu, time);
	if (tid <= 0)
		return 0;
	r->uncertain += r->unseen > 0;
	return r->count;
}

void running_lost(struct running *r)
{
	r->losses++;
	r->unseen = r->count;
}

void running_restart(struct running *r)
{
	r->ran = r->uncertain = 0;
}

void running_release(struct running *r)
{
	free(r->thread);
	free(r->on_cpu);
	table_release(&r->table);
	*r = (struct running){ 0 };
}
