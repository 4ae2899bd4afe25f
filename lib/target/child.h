/* SPDX-License-Identifier: Apache-2.0 */
/* child - a command to profile: forked, held before its exec, then released. */
#pragma once
#include "base/report.h"

#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

struct child {
	pid_t pid;		/* 0: none */
	int go;			/* pipe to the child: a byte lets it exec */
	int failed;		/* pipe from the child: errno, if its exec fails */
};

/*
 * Fork a child that waits for child_go().  OUT is the descriptor of the command's stdout; -1: our
 * stdout.  False: reported.
 */
bool child_start(struct child *child, char *const *command, int out, struct report *report);

/* Report that the command NAME cannot be run: it is a directory, or what errno says. */
void child_report_refusal(const char *name, struct report *report);

/*
 * Let the child exec its command, called NAME.  False (reported): it cannot be executed.  A child
 * that a signal has ended before is one that was executed and ended.
 */
bool child_go(struct child *child, const char *name, struct report *report);

/*
 * Terminate the child if it still runs, and return its status as a shell does: its exit status, or
 * 128 + the signal that ended it.  If the child failed before that and NAME is not NULL, report
 * the failure.
 */
int child_stop(struct child *child, const char *name, struct report *report);

/*
 * Terminate the child if it still runs.  Set its *STATUS, as wait(2) returns it, and what it *USED
 * unless that is NULL.  Return whether it had ended by itself.
 */
bool child_collect(struct child *child, int *status, struct rusage *used);

/*
 * The command NAME and its children USED so much CPU time, of which events saw SEEN, all in ns.  If
 * that is much less, report why: the kernel stops DOING it.  Return whether it is.
 */
bool child_report_unseen(const char *name, uint64_t used, uint64_t seen, const char *doing,
			 struct report *report);

/* Report how the command NAME failed, if it did, by its STATUS. */
void child_report_status(int status, const char *name, struct report *report);

/*
 * Wait up to so many MILLISECONDS for the process PID of ours.  Return whether it ended, with its
 * *STATUS, and what it *USED unless that is NULL.
 */
bool child_ends_within(pid_t pid, int milliseconds, int *status, struct rusage *used);
