/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent - pmu-prof on a host: 'pmu-prof --host=stdio:DIRECTORY', which works in DIRECTORY.
 *
 * The first process keeps the connection.  Its child, in a process group of its own, is an ordinary
 * pmu-prof, with the words that came from the other side as its command line, except that its
 * profile goes into a pipe.  What a terminal would do to the process group, the first process does.
 * If the connection is lost, or nothing is heard for PACKET_SILENCE_S, it ends the whole group: by
 * SIGTERM, and if that is not enough, by SIGKILL.
 */
#pragma once
#include <stdbool.h>

#define AGENT_CONNECTION "stdio:"

/* Set in the environment of the agent's child; pmu-sample removes it before it starts a command. */
#define AGENT_VARIABLE "PMUKIT_AGENT"

/* Descriptors in the child; 0: this process is not an agent's child. */
struct agent {
	int profile;		/* for the file of the profile */
	int results;		/* for agent_say() */
};

/*
 * If ARGV does not start an agent, return ARGV.  Otherwise start it.  In its child, return the
 * words of the command line, and set *ARGC to their number.  In the first process, when all is
 * over, return NULL, and set *STATUS to its exit status.
 */
char **agent_begin(struct agent *a, int *argc, char **argv, int *status);

/*
 * Send a result to the other side.  KEY says what VALUE is:
 *	target	a name for the results
 *	status	the exit status of pmu-sample
 *	made	the profile is whole
 *	failed	an error was reported
 *	stopped	a signal has arrived
 *	note	what to say after the table
 */
void agent_say(const struct agent *a, const char *key, const char *value);
