/* SPDX-License-Identifier: Apache-2.0 */
#include "linux/rights.h"
#include "linux/proc.h"

#include <linux/capability.h>
#include <linux/seccomp.h>
#include <stdlib.h>

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
