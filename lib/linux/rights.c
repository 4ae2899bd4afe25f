/* SPDX-License-Identifier: Apache-2.0 */
#include "linux/rights.h"
#include "linux/text.h"

#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>

uint64_t rights_self_status(const char *field, int base)
{
	char text[8192];

	linux_read_text(text, sizeof(text), "/proc/self/status");
	const char *at = strstr(text, field);
	return at ? strtoull(at + strlen(field), NULL, base) : 0;
}

bool rights_has_capability(int capability)
{
	return rights_self_status("\nCapEff:", 16) >> capability & 1;
}

bool rights_is_privileged(void)
{
	return rights_has_capability(CAP_PERFMON) || rights_has_capability(CAP_SYS_ADMIN);
}
