/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ending - signals of the user while a command of ours runs.
 *
 * The command has the same terminal, so it gets Ctrl-C (SIGINT) from there.  It may shut down, or
 * go on: that is the command's matter, and is sampled.  A SIGINT that somebody sent to this process
 * alone is passed on to the command, so it gets each exactly once.  A second SIGINT within two
 * seconds, SIGTERM and SIGHUP end the command: by SIGTERM, and five seconds later by SIGKILL.
 */
#pragma once
#include "linux/bystander.h"

#include <signal.h>
#include <stdint.h>

struct ending {
	const struct bystander *witness;
	pid_t pid;		/* the command; 0: no command runs, and nothing is done */
	uint64_t interrupted;	/* time of the last SIGINT, monotonic, in ns; 0: none */
	uint64_t kill_due;	/* time of SIGKILL, monotonic, in ns; 0: nothing ends the command */
	bool is_killed;
};

/*
 * Take care of the command PID.  SIGINT, SIGTERM and SIGHUP are blocked from now on: unblock them
 * while this process waits.
 */
void ending_begin(struct ending *e, pid_t pid, const struct bystander *witness);

/*
 * Do what the signals that have arrived ask for, and what is due.  Return whether the recording is
 * to end: a signal came after the command had ended, while processes that it started go on.
 */
bool ending_work(struct ending *e);

/* Return the smaller of MILLISECONDS and the time until something is due. */
int ending_wait_ms(const struct ending *e, int milliseconds);
