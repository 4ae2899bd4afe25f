/* SPDX-License-Identifier: Apache-2.0 */
/* bench-exec - becomes "go test", which then runs this tool for each test binary. */
#pragma once
#include "base/word-list.h"
#include "event/event.h"

/*
 * Replace this process by COMMAND, for which bench_command_go_test() is not 0, so that its test
 * binaries run under "pmu-stat --bench" and count EVENTS.  Return only if that fails (reported).
 */
void bench_exec(char *const *command, const struct event_list *events,
		const struct word_list *names, struct report *report);
