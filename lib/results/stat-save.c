/* SPDX-License-Identifier: Apache-2.0 */
#include "base/descriptor.h"
#include "results/stat-print.h"

#include <fcntl.h>
#include <stdio_ext.h>
#include <unistd.h>

void stat_save(struct output *saved, void print(const void *what), const void *what)
{
	fflush(stdout);
	int ours = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);

	if (dup2(saved->fd, STDOUT_FILENO) >= 0) {
		print(what);
		if (fflush(stdout)) {
			report_failure(saved->report, "cannot write to '%s'", saved->file);
			__fpurge(stdout);
			clearerr(stdout);
			output_discard(saved);
		}
	}
	if (ours < 0 || dup2(ours, STDOUT_FILENO) < 0)
		close(STDOUT_FILENO);
	descriptor_close(ours);
	output_close(saved);
	saved->fd = -1;
}
