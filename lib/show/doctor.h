/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor - examines whether this machine can profile, and says what to change.
 *
 * Each finding is one line, with a command that fixes the problem.  "bad" prevents profiling;
 * "note" limits it.
 */
#pragma once
#include "base/report.h"

#include <sys/types.h>

/*
 * Examine this machine, and the process PID unless it is 0, and print all findings as text or
 * JSON.  Sets REPORT's status to 1, without a message, if a finding is bad.
 */
void doctor_print(pid_t pid, bool json, struct report *report);
