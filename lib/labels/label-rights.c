/* SPDX-License-Identifier: Apache-2.0 */
#include "labels/label-rights.h"
#include "labels/bpf-task.h"
#include "labels/label-recorder.h"
#include "linux/proc.h"
#include "linux/read.h"
#include "linux/rights.h"
#include "linux/sysfs.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <unistd.h>

#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif
#ifndef CAP_BPF
#define CAP_BPF 39
#endif

bool label_rights_events(const struct event_list *events, size_t count, struct report *report)
{
	for (size_t i = 0; i < count; i++)
		if (events->event[i].attr.type == PERF_TYPE_TRACEPOINT) {
			report_error(report, "labels cannot be recorded with '%s': the program "
				     "that reads them cannot run at a tracepoint",
				     events->event[i].name);
			return false;
		}
	return true;
}

static bool is_locked_down(void)
{
	char text[128];

	return linux_read_text(text, sizeof(text), SYSFS_LOCKDOWN) &&
	       strstr(text, "[confidentiality]");
}

/* Store the kernel's release in HOST.  Returns whether it is before Linux 5.8. */
static bool is_old(struct utsname *host)
{
	unsigned long major, minor;
	char *end;

	if (uname(host) < 0)
		return false;
	major = strtoul(host->release, &end, 10);
	minor = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;
	return major < 5 || (major == 5 && minor < 8);
}

void label_rights_explain(int error, const char *why, char *reason, size_t size)
{
	bool has_bpf = rights_has_capability(CAP_BPF);
	bool has_perfmon = rights_has_capability(CAP_PERFMON);
	struct utsname host;

	if ((error == EPERM || error == EACCES) && !rights_has_capability(CAP_SYS_ADMIN) &&
	    !(has_bpf && has_perfmon))
		snprintf(reason, size, "they take CAP_BPF and CAP_PERFMON, and %s missing: "
			 "run as root, or `setcap cap_bpf,cap_perfmon+ep pmu-sample`",
			 has_bpf ? "CAP_PERFMON is" : has_perfmon ? "CAP_BPF is" : "both are");
	else if (is_locked_down())
		snprintf(reason, size, "the kernel is locked down (confidentiality), so no program "
			 "may read its memory");
	else if (is_old(&host))
		snprintf(reason, size, "they take Linux 5.8, and this is %s", host.release);
	else if (error == EPERM || error == EACCES)
		snprintf(reason, size, "bpf(2) is not permitted, although the capabilities are "
			 "there: a container's rules forbid it");
	else if (error == ENOSYS)
		snprintf(reason, size, "this kernel has no bpf(2) (CONFIG_BPF_SYSCALL)");
	else
		snprintf(reason, size, "%s%s%s", *why ? why : "the kernel refuses the program",
			 error ? ": " : "", error ? strerror(error) : "");
}

void label_rights_namespace(uint64_t *device, uint64_t *inode)
{
	enum { FIRST = 0xeffffffc };	/* linux/proc_ns.h, PROC_PID_INIT_INO */
	struct stat st;

	*device = *inode = 0;
	if (stat(proc_path(getpid(), "ns/pid").text, &st) == 0 && st.st_ino != FIRST) {
		*device = (uint64_t)major(st.st_dev) << 20 | minor(st.st_dev);
		*inode = st.st_ino;
	}
}

bool label_rights_check(char *reason, size_t size)
{
	char why[256] = "";
	int error;

	if (bpf_task_pointer(why, sizeof(why), &error) >= 0)
		return true;
	label_rights_explain(error, why, reason, size);
	return false;
}
