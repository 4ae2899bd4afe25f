/* SPDX-License-Identifier: Apache-2.0 */
#include "sample/target.h"
#include "base/arena.h"
#include "sample/threads.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mntent.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	CPUS_MAX = 65536,
	COMM_SIZE = 16,		/* TASK_COMM_LEN, linux/sched.h: with its NUL */
};

static void add_id(pid_t **array, size_t *count, pid_t id)
{
	for (size_t i = 0; i < *count; i++)
		if ((*array)[i] == id)
			return;
	*array = array_grow(*array, *count, sizeof(id));
	(*array)[(*count)++] = id;
}

static bool add_ids(pid_t **array, size_t *count, const char *list)
{
	char one[16];
	pid_t id;

	do {
		size_t length = strcspn(list, ",");
		if (length >= sizeof(one))
			return false;
		memcpy(one, list, length);
		one[length] = '\0';
		if (!threads_parse_pid(one, &id))
			return false;
		add_id(array, count, id);
		list += length;
	} while (*list++ == ',');
	return true;
}

const char *target_parse_pids(const char *list, void *target)
{
	struct target *t = target;

	return add_ids(&t->pid, &t->pids, list) ? NULL : list;
}

const char *target_parse_tids(const char *list, void *target)
{
	struct target *t = target;

	return add_ids(&t->tid, &t->tids, list) ? NULL : list;
}

void target_each_process(void (*visit)(pid_t pid, void *context), void *context)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	pid_t pid;

	while (dir && (entry = readdir(dir)))
		if (threads_parse_pid(entry->d_name, &pid))
			visit(pid, context);
	if (dir)
		closedir(dir);
}

struct user_search {
	struct target *target;
	uid_t uid;
};

static void add_if_of_user(pid_t pid, void *context)
{
	const struct user_search *of = context;
	struct stat st;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", pid);
	if (pid != getpid() && stat(path, &st) == 0 && st.st_uid == of->uid)
		add_id(&of->target->pid, &of->target->pids, pid);
}

/*
 * Set *UID for USER, a number or a name in /etc/passwd: in a static program, getpwnam(3) does
 * not always work.
 */
static bool find_user(const char *user, uid_t *uid)
{
	char *end, line[1024];
	bool found = false;

	*uid = (uid_t)strtoul(user, &end, 10);
	if (*user && !*end)
		return true;
	FILE *f = fopen("/etc/passwd", "re");
	size_t length = strlen(user);
	while (f && !found && fgets(line, sizeof(line), f)) {
		char *number = strchr(line + strcspn(line, ":") + 1, ':');
		if (strncmp(line, user, length) || line[length] != ':' || !number)
			continue;
		*uid = (uid_t)strtoul(number + 1, NULL, 10);
		found = true;
	}
	if (f)
		fclose(f);
	return found;
}

bool target_add_user(struct target *t, const char *user, struct report *report)
{
	struct user_search of = { .target = t };

	if (!find_user(user, &of.uid)) {
		report_error(report, "no user is called '%s'", user);
		return false;
	}
	t->by_search = true;
	target_each_process(add_if_of_user, &of);
	if (t->pids == 0)
		report_error(report, "the user '%s' has no processes", user);
	return t->pids > 0;
}

struct name_search {
	struct target *target;
	const char *comm;
};

static void add_if_of_comm(pid_t pid, void *context)
{
	const struct name_search *of = context;
	char path[32], comm[COMM_SIZE + 1] = "";

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	FILE *f = pid != getpid() ? fopen(path, "re") : NULL;
	if (f && fgets(comm, sizeof(comm), f)) {
		comm[strcspn(comm, "\n")] = '\0';
		/* The kernel has truncated COMM. */
		if (!strncmp(comm, of->comm, COMM_SIZE - 1))
			add_id(&of->target->pid, &of->target->pids, pid);
	}
	if (f)
		fclose(f);
}

bool target_add_comm(struct target *t, const char *comm, struct report *report)
{
	struct name_search of = { .target = t, .comm = comm };
	size_t before = t->pids;

	t->by_search = true;
	target_each_process(add_if_of_comm, &of);
	if (t->pids == before)
		report_error(report, "no process is called '%s'", comm);
	return t->pids > before;
}

/* Insert CPU: the array is ascending, without duplicates. */
static void add_cpu(struct target *t, int cpu)
{
	size_t at = t->cpus;

	while (at > 0 && t->cpu[at - 1] > cpu)
		at--;
	if (at > 0 && t->cpu[at - 1] == cpu)
		return;
	t->cpu = array_grow(t->cpu, t->cpus, sizeof(*t->cpu));
	memmove(t->cpu + at + 1, t->cpu + at, (t->cpus - at) * sizeof(*t->cpu));
	t->cpu[at] = cpu;
	t->cpus++;
}

static bool add_cpus(struct target *t, const char *list)
{
	do {
		char *end;
		unsigned long first = strtoul(list, &end, 10), last = first;
		if (end == list)
			return false;
		if (*end == '-') {
			list = end + 1;
			last = strtoul(list, &end, 10);
			if (end == list)
				return false;
		}
		if (last < first || last >= CPUS_MAX)
			return false;
		for (unsigned long cpu = first; cpu <= last; cpu++)
			add_cpu(t, (int)cpu);
		list = end;
	} while (*list++ == ',');
	return list[-1] == '\0';
}

const char *target_parse_cpus(const char *list, void *target)
{
	return add_cpus(target, list) ? NULL : list;
}

/* Find the mount point of cgroups for perf events: version 1's hierarchy, or version 2's. */
static bool find_cgroups(char *root, size_t size)
{
	FILE *f = setmntent("/proc/mounts", "re");
	struct mntent *m;
	bool found = false;

	while (f && (m = getmntent(f))) {
		bool v1 = !strcmp(m->mnt_type, "cgroup") && hasmntopt(m, "perf_event");
		if (v1 || (!found && !strcmp(m->mnt_type, "cgroup2"))) {
			snprintf(root, size, "%s", m->mnt_dir);
			found = true;
		}
		if (v1)
			break;
	}
	if (f)
		endmntent(f);
	return found;
}

bool target_set_cgroup(struct target *t, const char *path, struct report *report)
{
	char root[PATH_MAX / 2], full[PATH_MAX];

	if (!find_cgroups(root, sizeof(root))) {
		report_error(report, "no cgroups are mounted here");
		return false;
	}
	snprintf(full, sizeof(full), "%s/%s", root, path);
	int fd = open(full, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		report_failure(report, "cannot open the cgroup '%s'", full);
		return false;
	}
	t->cgroup = fd;
	return true;
}

void target_release(struct target *t)
{
	if (t->cgroup)
		close(t->cgroup);
	free(t->pid);
	free(t->tid);
	free(t->cpu);
	*t = (struct target){ 0 };
}
