/* SPDX-License-Identifier: Apache-2.0 */
#include "sample/threads.h"
#include "base/arena.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

bool threads_parse_pid(const char *text, pid_t *pid)
{
	char *end;

	errno = 0;
	long number = strtol(text, &end, 10);
	*pid = (pid_t)number;
	return !errno && end != text && !*end && number > 0 && number <= INT_MAX;
}

static bool is_known(const struct threads *threads, pid_t tid)
{
	for (size_t i = 0; i < threads->count; i++)
		if (threads->tid[i] == tid)
			return true;
	return false;
}

bool threads_scan(struct threads *threads, pid_t pid, struct report *report)
{
	size_t known = threads->count;
	struct dirent *entry;
	char path[64];
	pid_t tid;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	DIR *dir = opendir(path);
	if (!dir && errno == ENOENT) {
		report_error(report, "no process has the pid %d", pid);
		return false;
	}
	if (!dir) {
		report_failure(report, "cannot list the threads of %d in '%s'", pid, path);
		return false;
	}
	while ((entry = readdir(dir)))
		if (threads_parse_pid(entry->d_name, &tid) &&
		    (known == 0 || !is_known(threads, tid))) {
			threads->tid = array_grow(threads->tid, threads->count, sizeof(tid));
			threads->tid[threads->count++] = tid;
		}
	closedir(dir);
	return true;
}

void threads_release(struct threads *threads)
{
	free(threads->tid);
	*threads = (struct threads){ 0 };
}
