/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host - pmu-prof on another machine, over one connection of ssh.
 *
 *	pmu-prof == packets == ssh == sshd == sh, prepare.sh; then pmu-prof, host/agent.h
 *
 * A program that has all tools in it is copied there, once.  Nothing else is written there: the
 * profile comes back over the connection.  Nothing that comes from the host is trusted.
 */
#pragma once
#include "base/report.h"
#include "base/word-list.h"

/* The arguments of the options, as given. */
struct host_choice {
	const char *host;	/* USER@HOST, or what else ssh takes; NULL: here */
	const char *binary;	/* program to copy; NULL: look for it */
	const char *directory;	/* on the host, the first place for it; NULL: none */
};

struct host;

/* How a recording there ended. */
struct host_ending {
	int status;		/* exit status of pmu-sample: that of the command */
	bool has_failed;	/* an error was reported there */
	bool has_profile;	/* the profile was written here */
	bool was_stopped;	/* a signal arrived */
	const char *note;	/* what to say after the table, or NULL; lives as long as the
				   program */
};

/* Return why NAME cannot be a host, or NULL. */
const char *host_refused(const char *name);

/* Return whether PATH can be a directory on a host. */
bool host_directory_is_good(const char *path);

/*
 * Connect to the host of C, and start the agent there.  Return NULL on failure: reported.  Signals
 * are handled until host_close().
 */
struct host *host_connect(const struct host_choice *c, struct report *report);

/*
 * Start pmu-prof there with WORDS, an argv.  COMMAND: our stdin and stdout are a command's.  Return
 * the name of what is profiled, for the results, or NULL if pmu-prof ended at once: reported, here
 * or there.
 */
const char *host_start(struct host *h, const struct word_list *words, bool command);

/* Wait for the end of the recording, and write the profile to FILE.  Failures here are reported. */
struct host_ending host_record(struct host *h, const char *file);

/* End the connection, and with it what runs there.  H may be NULL. */
void host_close(struct host *h);
