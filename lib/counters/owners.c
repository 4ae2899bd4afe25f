/* SPDX-License-Identifier: Apache-2.0 */
#include "counters/owners.h"
#include "base/arena.h"

#include <stdlib.h>

static struct owner *find(const struct owners *owners, pid_t tid)
{
	uint32_t id = TABLE_FIND(&owners->table, hash_u64((uint32_t)tid), i,
				 owners->owner[i].tid == tid);

	return id == TABLE_NONE ? NULL : &owners->owner[id];
}

void owners_set(struct owners *owners, pid_t tid, uint32_t task, uint64_t time)
{
	struct owner *known = find(owners, tid);

	if (known) {
		known->task = task;
		known->since = time;
	} else if (task != OWNER_ANY) {
		owners->owner = array_grow(owners->owner, owners->count, sizeof(*owners->owner));
		owners->owner[owners->count] = (struct owner){ tid, task, time };
		table_add(&owners->table, hash_u64((uint32_t)tid), (uint32_t)owners->count++);
	}
}

/* A sample showed that the threads of TASK have EVENT, one of EVENTS, twice. */
static void drop(struct owners *owners, uint32_t task, uint32_t event, size_t events)
{
	if (!owners->dropped)
		owners->dropped = mem_zeroed(events, sizeof(*owners->dropped));
	owners->dropped[event]++;
	if (task >= owners->tasks) {
		uint32_t tasks = 2 * task + 1;
		owners->twice = mem_resize(owners->twice, tasks * events);
		memset(owners->twice + owners->tasks * events, 0,
		       (tasks - owners->tasks) * events);
		owners->tasks = tasks;
	}
	owners->twice[task * events + event] = true;
}

/* Return whether a sample counts.  At layout->tid it has u32 pid, tid. */
static bool sample_passes(struct owners *owners, const struct counters *counters,
			  const uint8_t *body, const struct sample_layout *layout,
			  enum owner_rule rule)
{
	uint64_t id;
	pid_t tid;

	memcpy(&tid, body + layout->tid + 4, sizeof(tid));
	const struct owner *owner = find(owners, tid);
	if (!owner || owner->task == OWNER_ANY || rule == OWNER_FIRST)
		return true;
	memcpy(&id, body + layout->id, sizeof(id));
	const struct counter *counter = counters_find(counters, id);
	if (!counter || (counter->task == owner->task && rule == OWNER_BY_ID))
		return true;
	drop(owners, owner->task, counter->event, counters->events->count);
	return false;
}

/* FORK, EXIT: u32 pid, ppid, tid, ptid; u64 time */
static void follow_task(struct owners *owners, const struct perf_event_header *record)
{
	const uint32_t *task = (const void *)(record + 1);
	const struct owner *parent = find(owners, (pid_t)task[3]);
	const struct owner *known = find(owners, (pid_t)task[2]);
	uint64_t time;

	memcpy(&time, task + 4, sizeof(time));
	if (known && time < known->since)
		return;		/* the thread existed when its events were opened */
	owners_set(owners, (pid_t)task[2], record->type == PERF_RECORD_FORK && parent
		   ? parent->task : OWNER_ANY, time);
}

bool owners_pass(struct owners *owners, const struct counters *counters,
		 const struct perf_event_header *record, const struct sample_layout *layout,
		 enum owner_rule rule)
{
	if (owners->count == 0 || layout->id == ABSENT)
		return true;
	if (record->type == PERF_RECORD_FORK || record->type == PERF_RECORD_EXIT)
		follow_task(owners, record);
	return record->type != PERF_RECORD_SAMPLE ||
	       sample_passes(owners, counters, (const void *)(record + 1), layout, rule);
}

void owners_release(struct owners *owners)
{
	free(owners->owner);
	free(owners->twice);
	free(owners->dropped);
	table_release(&owners->table);
	*owners = (struct owners){ 0 };
}
