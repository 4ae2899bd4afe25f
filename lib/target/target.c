/* SPDX-License-Identifier: Apache-2.0 */
#include "target/target.h"
#include "base/arena.h"
#include "linux/proc.h"
#include "linux/read.h"
#include "linux/sysfs.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
		if (!proc_parse_id(one, &id))
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

/* Return whether LINE of /etc/passwd, "NAME:PASSWORD:NUMBER:...", is USER's.  Then set *UID. */
static bool is_line_of(const char *line, const char *user, uid_t *uid)
{
	size_t name = strcspn(line, ":");
	const char *password_end = line[name] ? strchr(line + name + 1, ':') : NULL;
	char *end;

	if (!password_end || strlen(user) != name || strncmp(line, user, name))
		return false;
	*uid = (uid_t)strtoul(password_end + 1, &end, 10);
	return end > password_end + 1 && *end == ':';
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
	while (f && !found && fgets(line, sizeof(line), f))
		found = is_line_of(line, user, uid);
	if (f)
		fclose(f);
	return found;
}

bool target_add_user(struct target *t, const char *user, struct report *report)
{
	struct proc_ids all;
	uid_t uid, owner;

	if (!find_user(user, &uid)) {
		report_error(report, "no user is called '%s'", user);
		return false;
	}
	t->by_search = true;
	proc_processes(&all);
	for (size_t i = 0; i < all.count; i++)
		if (all.id[i] != getpid() && proc_owner(all.id[i], &owner) && owner == uid)
			add_id(&t->pid, &t->pids, all.id[i]);
	free(all.id);
	if (t->pids == 0)
		report_error(report, "the user '%s' has no processes", user);
	return t->pids > 0;
}

bool target_add_comm(struct target *t, const char *comm, struct report *report)
{
	size_t before = t->pids;
	struct proc_ids all;

	t->by_search = true;
	proc_processes(&all);
	for (size_t i = 0; i < all.count; i++)
		if (all.id[i] != getpid() && proc_is_called(all.id[i], comm))
			add_id(&t->pid, &t->pids, all.id[i]);
	free(all.id);
	if (t->pids == before)
		report_error(report, "no process is called '%s'", comm);
	return t->pids > before;
}

const char *target_parse_cpus(const char *list, void *target)
{
	struct target *t = target;

	return cpus_add(&t->cpus, list) ? NULL : list;
}

bool target_set_cgroup(struct target *t, const char *path, struct report *report)
{
	char root[PATH_MAX / 2], full[PATH_MAX];

	if (!sysfs_cgroups(root, sizeof(root))) {
		report_error(report, "no cgroups are mounted here");
		return false;
	}
	/* a path in the file system is meant, too */
	size_t size = strlen(root);
	if (!strncmp(path, root, size) && (path[size] == '/' || !path[size]))
		path += size;
	snprintf(full, sizeof(full), "%s/%s", root, path);
	int fd = linux_open("%s/", full);
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
	cpus_release(&t->cpus);
	*t = (struct target){ 0 };
}
