/* SPDX-License-Identifier: Apache-2.0 */
#include "linux/proc.h"
#include "serve/internal.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Return a process called NAME, by the rules of pmu-sample --comm, or 0. */
static pid_t find_name(const char *name)
{
	struct proc_ids ids;
	pid_t found = 0;

	if (!proc_processes(&ids))
		return 0;
	for (size_t i = 0; i < ids.count && !found; i++)
		if (proc_is_called(ids.id[i], name))
			found = ids.id[i];
	free(ids.id);
	return found;
}

static bool exists(pid_t pid)
{
	return kill(pid, 0) == 0 || errno == EPERM;
}

/* Return whether the process of PIDFD still exists.  A pid may have gone to another process. */
static bool still_exists(int pidfd)
{
	return syscall(SYS_pidfd_send_signal, pidfd, 0, NULL, 0) == 0 || errno == EPERM;
}

int target_find(const struct server *s, const struct query *query, pid_t *pid, const char **why)
{
	const struct serve_settings *own = s->settings;
	const char *comm = query->comm ? query->comm : query->pid ? NULL : own->comm;

	*pid = 0;
	*why = "this server samples a fixed target; pmu-serve --any allows pid and comm";
	if ((query->pid || query->comm) && !own->any)
		return 403;
	*why = "no such process";
	if (query->pid) {
		*pid = query->pid;
		return exists(*pid) ? 0 : 404;
	}
	if (comm) {
		*pid = find_name(comm);
		return *pid ? 0 : 404;
	}
	*why = "the process has ended";
	if (own->pid) {
		*pid = own->pid;
		return still_exists(s->pidfd) ? 0 : 404;
	}
	*why = "which process? give pid=PID or comm=NAME";
	return own->cgroup || own->user || own->system ? 0 : 400;
}
