/* SPDX-License-Identifier: Apache-2.0 */
#include "sample/filter.h"
#include "base/arena.h"

#include <stdlib.h>

static pid_t *find(const struct filter *filter, pid_t pid)
{
	uint32_t id = TABLE_FIND(&filter->table, hash_u64((uint32_t)pid), i,
				 filter->pid[i] == pid);

	return id == TABLE_NONE ? NULL : &filter->pid[id];
}

void filter_add(struct filter *filter, pid_t pid)
{
	filter->on = true;
	if (find(filter, pid))
		return;
	filter->pid = array_grow(filter->pid, filter->pids, sizeof(pid));
	filter->pid[filter->pids] = pid;
	table_add(&filter->table, hash_u64((uint32_t)pid), (uint32_t)filter->pids++);
}

/* A process or thread starts.  A new process may have the pid of a selected one that ended. */
static bool passes_fork(struct filter *filter, pid_t pid, pid_t parent)
{
	if (pid == parent)	/* a thread */
		return find(filter, pid);
	if (filter->children && find(filter, parent)) {
		filter_add(filter, pid);
		return true;
	}
	pid_t *former = find(filter, pid);
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

bool filter_passes(struct filter *filter, const struct perf_event_header *record,
		   const struct sample_layout *layout)
{
	size_t at = filter->on ? pid_offset(record, layout) : 0;
	pid_t pid[2];	/* in a FORK record, the second is the parent */

	if (at == 0)
		return true;
	memcpy(pid, (const uint8_t *)record + at, sizeof(pid));
	bool passes = record->type == PERF_RECORD_FORK ? passes_fork(filter, pid[0], pid[1])
		    : pid[0] == -1 ? record->type != PERF_RECORD_SAMPLE	/* the kernel */
		    : find(filter, pid[0]) != NULL;
	filter->dropped += !passes;
	return passes;
}

void filter_release(struct filter *filter)
{
	free(filter->pid);
	table_release(&filter->table);
	*filter = (struct filter){ 0 };
}
