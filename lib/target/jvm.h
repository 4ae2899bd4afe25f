/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm - asks Java virtual machines to write the map of the code that they compiled.
 *
 * HotSpot writes /tmp/perf-PID.map when it gets jcmd's command Compiler.perfmap, from Java 17 on.
 * It is asked as jcmd asks it, by its attach protocol (jvm-attach.c).  That protocol has a signal,
 * SIGQUIT, which would kill or disturb a process that is not ready for it.  So the signal is sent
 * only if nothing says that the process is not: see jvm_ask().
 */
#pragma once
#include "base/report.h"
#include "target/target.h"

#include <signal.h>

/*
 * Ask each Java virtual machine among the processes of TARGET to write its map.  This takes up to
 * 10 seconds for each, and ends early when *STOP is set.  False (reported): TARGET has no such
 * process, or one of them did not write a map.
 */
bool jvm_ask(const struct target *target, const volatile sig_atomic_t *stop,
	     struct report *report);

/*
 * Ask those that still run again, without a signal, to write what they have compiled since.  A
 * failure is a note.
 */
void jvm_ask_again(const struct target *target, struct report *report);
