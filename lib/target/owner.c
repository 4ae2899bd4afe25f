/* SPDX-License-Identifier: Apache-2.0 */
#include "target/owner.h"
#include "base/descriptor.h"
#include "linux/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

bool owner_parse(struct owning_process *o, const char *text, struct report *report)
{
	char *end;
	long number = strtol(text, &end, 10);
	pid_t pid = *end || number < 1 || number > INT_MAX ? 0 : (pid_t)number;

	*o = (struct owning_process){ .pid = pid, .pidfd = (int)syscall(SYS_pidfd_open, pid, 0) };
	bool is_there = pid && (o->pidfd >= 0 || (errno != ESRCH && kill(pid, 0) == 0));
	o->maps = open(proc_path(pid, "maps").text, O_RDONLY | O_CLOEXEC);
	if (is_there)
		return true;
	report_because(report, REPORT_NOT_FOUND);
	report_error(report, "no process has the pid '%s'", text);
	return false;
}

/* The file is that of the memory that the process had when it was opened. */
static bool has_memory(const struct owning_process *o)
{
	char byte;

	return o->maps < 0 || pread(o->maps, &byte, 1, 0) != 0;
}

bool owner_is_there(const struct owning_process *o)
{
	struct pollfd p = { .fd = o->pidfd, .events = POLLIN };

	if (!o->pid)
		return true;
	if (o->pidfd >= 0 ? poll(&p, 1, 0) > 0 : kill(o->pid, 0) < 0 && errno == ESRCH)
		return false;
	return has_memory(o);
}

void owner_close(struct owning_process *o)
{
	descriptor_close(o->pidfd);
	descriptor_close(o->maps);
}
