/* SPDX-License-Identifier: Apache-2.0 */
/*
 * may-sample - exit 0 if the kernel lets this user sample itself by a clock, outside the kernel;
 * otherwise print why not, and exit 1.  It asks the kernel without our library, so that a fault
 * there cannot pass for a missing right.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK, .sample_period = 1000000, .disabled = 1,
		.exclude_kernel = 1, .exclude_hv = 1,
	};

	if (syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC) >= 0)
		return 0;
	if (errno != EPERM && errno != EACCES && errno != ENOSYS)
		return 0;	/* no matter of rights: let the tests see it */
	printf("nothing can be sampled here: perf_event_open: %s\n", strerror(errno));
	return 1;
}
