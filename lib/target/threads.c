/* SPDX-License-Identifier: Apache-2.0 */
#include "target/threads.h"
#include "base/arena.h"
#include "linux/proc.h"

#include <stdlib.h>

struct target_thread *threads_find(const struct threads *threads, pid_t tid)
{
	uint32_t id = TABLE_FIND(&threads->table, hash_u64((uint32_t)tid), i,
				 threads->thread[i].tid == tid);

	return id == TABLE_NONE ? NULL : &threads->thread[id];
}

static void add(struct threads *threads, pid_t pid, pid_t tid)
{
	if (threads_find(threads, tid))
		return;
	threads->thread = array_grow(threads->thread, threads->count, sizeof(*threads->thread));
	threads->thread[threads->count] = (struct target_thread){ .pid = pid, .tid = tid };
	table_add(&threads->table, hash_u64((uint32_t)tid), (uint32_t)threads->count++);
}

bool threads_scan(struct threads *threads, pid_t pid)
{
	struct proc_ids tids;

	if (!proc_threads(pid, &tids))
		return false;
	for (size_t i = 0; i < tids.count; i++)
		add(threads, pid, tids.id[i]);
	free(tids.id);
	return true;
}

bool threads_add(struct threads *threads, pid_t tid)
{
	pid_t pid = proc_of_thread(tid);

	if (pid)
		add(threads, pid, tid);
	return pid != 0;
}

size_t threads_first(const struct threads *threads, pid_t *tid, size_t most)
{
	size_t count = threads->count < most ? threads->count : most;

	for (size_t i = 0; i < count; i++)
		tid[i] = threads->thread[i].tid;
	return count;
}

void threads_release(struct threads *threads)
{
	free(threads->thread);
	table_release(&threads->table);
	*threads = (struct threads){ 0 };
}
