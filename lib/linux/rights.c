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

/* Return the number, written in BASE, of FIELD of this process's status; 0: absent. */
static uint64_t own_number(const char *field, int base)
{
	char value[64];

	return proc_status(0, field, value, sizeof(value)) ? strtoull(value, NULL, base) : 0;
}

bool rights_has_capability(int capability)
{
	return own_number("CapEff", 16) >> capability & 1;
}

bool rights_is_privileged(void)
{
	return rights_has_capability(CAP_PERFMON) || rights_has_capability(CAP_SYS_ADMIN);
}

bool rights_is_filtered(void)
{
	return own_number("Seccomp", 10) == SECCOMP_MODE_FILTER;
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
