/* SPDX-License-Identifier: Apache-2.0 */
#include "linux/sysfs.h"
#include "linux/read.h"

#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <string.h>
#include <unistd.h>

bool sysfs_tracepoints(char *path, size_t size)
{
	static const char *const usual[] = {
		"/sys/kernel/tracing/events", "/sys/kernel/debug/tracing/events",
	};
	int error = ENOENT;

	for (int i = 0; i < 2; i++) {
		snprintf(path, size, "%s", usual[i]);
		if (!faccessat(AT_FDCWD, path, R_OK | X_OK, AT_EACCESS))
			return true;
		if (errno != ENOENT)
			error = errno;	/* it exists, but we may not read it */
	}
	snprintf(path, size, "%s", usual[0]);
	errno = error;
	return false;
}

bool sysfs_cgroups(char *path, size_t size)
{
	FILE *f = linux_open_stream("/proc/mounts");
	struct mntent *m;
	bool found = false;

	while (f && (m = getmntent(f))) {
		bool v1 = !strcmp(m->mnt_type, "cgroup") && hasmntopt(m, "perf_event");
		if (v1 || (!found && !strcmp(m->mnt_type, "cgroup2"))) {
			snprintf(path, size, "%s", m->mnt_dir);
			found = true;
		}
		if (v1)
			break;
	}
	if (f)
		fclose(f);
	return found;
}
