/* SPDX-License-Identifier: Apache-2.0 */
#include "linux/cgroup.h"
#include "base/arena.h"
#include "linux/read.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

static void add_processes(const char *path, struct proc_ids *ids)
{
	FILE *f = linux_open_stream("%s/cgroup.procs", path);
	int pid;

	while (f && fscanf(f, "%d", &pid) == 1) {
		if (pid <= 0)		/* of another pid namespace */
			continue;
		ids->id = array_grow(ids->id, ids->count, sizeof(*ids->id));
		ids->id[ids->count++] = pid;
	}
	if (f)
		fclose(f);
}

/* Add the processes of the cgroup at PATH, and of those below it to some DEPTH. */
static void add_tree(const char *path, unsigned depth, struct proc_ids *ids)
{
	int fd = linux_open("%s/", path);
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	char below[PATH_MAX];

	add_processes(path, ids);
	while (directory && depth && (entry = readdir(directory))) {
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		int length = snprintf(below, sizeof(below), "%s/%s", path, entry->d_name);
		if (length > 0 && (size_t)length < sizeof(below))
			add_tree(below, depth - 1, ids);
	}
	if (directory)
		closedir(directory);
	else if (fd >= 0)
		close(fd);
}

void cgroup_processes(int fd, struct proc_ids *ids)
{
	enum { DEPTH = 32 };
	char path[PATH_MAX];
	ssize_t length = readlink(proc_descriptor(fd).text, path, sizeof(path) - 1);

	*ids = (struct proc_ids){ 0 };
	if (length <= 0)
		return;
	path[length] = '\0';
	add_tree(path, DEPTH, ids);
}
