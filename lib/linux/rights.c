/* SPDX-License-Identifier: Apache-2.0 */
#include "linux/rights.h"
#include "linux/proc.h"

#include <linux/capability.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

bool rights_has_capability(int capability)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	/* a system call, because /proc may be missing */
	if (syscall(SYS_capget, &header, data) < 0)
		return false;
	return data[capability / 32].effective >> capability % 32 & 1;
}

bool rights_is_privileged(void)
{
	return rights_has_capability(CAP_PERFMON) || rights_has_capability(CAP_SYS_ADMIN);
}

bool rights_is_filtered(void)
{
	char mode[64];

	if (proc_status(0, "Seccomp", mode, sizeof(mode)))
		return strtoull(mode, NULL, 10) == SECCOMP_MODE_FILTER;
	return prctl(PR_GET_SECCOMP) == SECCOMP_MODE_FILTER;
}

/*
 * By system calls, because /proc may be missing.  The kernel also says AT_SECURE where a security
 * module changes the domain of a program, which gives no rights.
 */
bool rights_come_from_file(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	if (!getauxval(AT_SECURE))
		return false;
	if (getuid() != geteuid() || getgid() != getegid())
		return true;
	if (getuid() == 0)	/* root has its capabilities without the file */
		return false;
	if (syscall(SYS_capget, &header, data) < 0)
		return true;
	/* other users keep the ambient ones only, and lose those if the file has any */
	for (int i = 0; i < 64; i++)
		if (data[i / 32].permitted >> i % 32 & 1 &&
		    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, i, 0, 0) != 1)
			return true;
	return false;
}
