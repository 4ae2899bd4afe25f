/* SPDX-License-Identifier: Apache-2.0 */
#include "target/descendants.h"
#include "base/arena.h"
#include "linux/proc.h"

#include <stdlib.h>
#include <string.h>

static uint32_t find(const struct descendants *d, pid_t pid)
{
	return TABLE_FIND(&d->table, hash_u64((uint32_t)pid), i, d->pid[i] == pid);
}

static void add(struct descendants *d, pid_t pid)
{
	if (find(d, pid) != TABLE_NONE)
		return;
	d->pid = array_grow(d->pid, d->count, sizeof(pid));
	d->pid[d->count] = pid;
	table_add(&d->table, hash_u64((uint32_t)pid), d->count++);
}

/* Remove the process with index I: the last one takes its place. */
static void remove_at(struct descendants *d, uint32_t i)
{
	uint32_t last = d->count - 1;

	table_remove(&d->table, hash_u64((uint32_t)d->pid[i]), i);
	d->count = last;
	if (i == last)
		return;
	table_remove(&d->table, hash_u64((uint32_t)d->pid[last]), last);
	d->pid[i] = d->pid[last];
	table_add(&d->table, hash_u64((uint32_t)d->pid[i]), i);
}

/* FORK, EXIT: u32 pid, ppid, tid, ptid.  Of a thread, PID is its process, as is PPID of a FORK. */
void descendants_follow(struct descendants *d, const struct perf_event_header *record)
{
	uint32_t task[4];

	if (!d->on || (record->type != PERF_RECORD_FORK && record->type != PERF_RECORD_EXIT) ||
	    record->size < sizeof(*record) + sizeof(task))
		return;
	memcpy(task, record + 1, sizeof(task));
	uint32_t known = find(d, (pid_t)task[0]);
	if (record->type == PERF_RECORD_FORK && task[0] != task[1])
		add(d, (pid_t)task[0]);
	else if (record->type == PERF_RECORD_EXIT && task[0] == task[2] && known != TABLE_NONE)
		remove_at(d, known);
}

void descendants_prune(struct descendants *d)
{
	for (uint32_t i = d->count; i-- > 0;)
		if (proc_has_ended(d->pid[i]))
			remove_at(d, i);
}

void descendants_release(struct descendants *d)
{
	free(d->pid);
	table_release(&d->table);
	*d = (struct descendants){ .on = false };
}
