/* SPDX-License-Identifier: Apache-2.0 */
#include "target/process-set.h"
#include "base/arena.h"

#include <stdlib.h>

static pid_t *find(const struct process_set *processes, pid_t pid)
{
	uint32_t id = TABLE_FIND(&processes->table, hash_u64((uint32_t)pid), i,
				 processes->pid[i] == pid);

	return id == TABLE_NONE ? NULL : &processes->pid[id];
}

void process_set_add(struct process_set *processes, pid_t pid)
{
	processes->on = true;
	if (find(processes, pid))
		return;
	processes->pid = array_grow(processes->pid, processes->pids, sizeof(pid));
	processes->pid[processes->pids] = pid;
	table_add(&processes->table, hash_u64((uint32_t)pid), (uint32_t)processes->pids++);
}

bool process_set_has(const struct process_set *processes, pid_t pid)
{
	return find(processes, pid) != NULL;
}

/* A process or thread starts.  A new process may have the pid of a selected one that ended. */
static bool selects_fork(struct process_set *processes, pid_t pid, pid_t parent)
{
	if (pid == parent)	/* a thread */
		return find(processes, pid);
	if (processes->children && find(processes, parent)) {
		process_set_add(processes, pid);
		return true;
	}
	pid_t *former = find(processes, pid);
	if (former)
		*former = 0;
	return false;
}

/* Return the offset in RECORD of the u32 pid of its process; 0: it has no process. */
static size_t pid_offset(const struct perf_event_header *record,
			   const struct sample_layout *layout)
{
	switch (record->type) {
	case PERF_RECORD_SAMPLE:
		return sizeof(*record) + layout->tid;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_COMM:
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
	case PERF_RECORD_NAMESPACES:
		return sizeof(*record);
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:	/* first field of the sample_id */
		return record->size - layout->trailer_size;
	default:
		return 0;
	}
}

bool process_set_selects(struct process_set *processes, const struct perf_event_header *record,
			 const struct sample_layout *layout)
{
	size_t at = processes->on ? pid_offset(record, layout) : 0;
	pid_t pid[2];	/* in a FORK record, the second is the parent */

	if (at == 0)
		return true;
	memcpy(pid, (const uint8_t *)record + at, sizeof(pid));
	bool selects = record->type == PERF_RECORD_FORK ? selects_fork(processes, pid[0], pid[1])
		    : pid[0] == -1 ? record->type != PERF_RECORD_SAMPLE	/* the kernel */
		    : find(processes, pid[0]) != NULL;
	processes->dropped += !selects;
	return selects;
}

void process_set_release(struct process_set *processes)
{
	free(processes->pid);
	table_release(&processes->table);
	*processes = (struct process_set){ 0 };
}
