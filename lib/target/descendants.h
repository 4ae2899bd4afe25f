/* SPDX-License-Identifier: Apache-2.0 */
/*
 * descendants - the processes that a command has started, and that have not ended, by the kernel's
 * FORK and EXIT records.  A daemon has left its parent, so /proc does not show whose it is.
 */
#pragma once
#include "base/table.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <sys/types.h>

/* Zero-initialised: off. */
struct descendants {
	bool on;
	pid_t *pid;
	uint32_t count;
	struct table table;	/* over PID */
};

/* Follow RECORD of any type. */
void descendants_follow(struct descendants *d, const struct perf_event_header *record);

/* Leave out those that have ended. */
void descendants_prune(struct descendants *d);

void descendants_release(struct descendants *d);
