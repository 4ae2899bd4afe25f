/* SPDX-License-Identifier: Apache-2.0 */
/* refusal - says why an event cannot be opened on a thread or a CPU. */
#pragma once
#include "event/event.h"

#include <sys/types.h>

/*
 * Report that the kernel refused EVENT with ERROR, why, and a remedy.  DONE is what was to be done:
 * "count" or "sample".  TID is the thread on which it was opened; -1: a CPU.
 */
void refusal_report(const struct event *event, const char *done, pid_t tid, int error,
		    struct report *report);
