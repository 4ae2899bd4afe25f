/* SPDX-License-Identifier: Apache-2.0 */
#include "sample/threads.h"
#include "base/arena.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>

bool threads_parse_pid(const char *text, pid_t *pid)
{
	char *end;

	errno = 0;
	long number = strtol(text, &end, 10);
	*pid = (pid_t)number;
	return !errno && end != text && !*end && number > 0 && number <= INT_MAX;
}

struct target_thread *threads_find(const struct threads *threads, pid_t tid)
{
	struct table_probe probe = table_probe(&threads->table, hash_u64((uint32_t)tid));
	uint32_t id;

	while ((id = table_next(&threads->table, &probe)) != TABLE_NONE)
		if (threads->thread[id].tid == tid)
			return &threads->thread[id];
	return NULL;
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
	struct dirent *entry;
	char path[64];
	pid_t tid;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	DIR *dir = opendir(path);
	if (!dir)
		return false;
	while ((entry = readdir(dir)))
		if (threads_parse_pid(entry->d_name, &tid))
			add(threads, pid, tid);
	closedir(dir);
	return true;
}

bool threads_add(struct threads *threads, pid_t tid)
{
	char path[64], line[128];
	int pid = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	FILE *f = fopen(path, "re");
	while (f && !pid && fgets(line, sizeof(line), f))
		if (sscanf(line, "Tgid: %d", &pid) == 1)
			add(threads, pid, tid);
	if (f)
		fclose(f);
	return pid != 0;
}

void threads_release(struct threads *threads)
{
	free(threads->thread);
	table_release(&threads->table);
	*threads = (struct threads){ 0 };
}
