/* SPDX-License-Identifier: Apache-2.0 */
/* internal - one connection to a host, for the files of this module. */
#pragma once
#include "host/foreign.h"
#include "host/host.h"
#include "host/packets.h"

#include <signal.h>
#include <sys/types.h>

struct replace;

struct host {
	struct report *report;
	const char *name;	/* as the user gave it */
	struct packets packets;
	pid_t ssh;		/* 0: it has ended */
	int messages;		/* pipe from the stderr of ssh; -1: closed */
	struct foreign said;	/* what came from there, and from the agent */
	int signals;		/* signalfd */
	sigset_t before;	/* signals that were blocked before */
	int stop;		/* until the agent runs: number of the signal that asked to end */
	bool is_broken;		/* the connection is of no use any more: reported */
	/* Until the agent runs. */
	char last[256];		/* the last line that was not ours */
	/* While it runs.  Times are monotonic, in ns. */
	bool has_command;
	uint64_t alive;		/* when PACKET_ALIVE was sent */
	uint64_t asked;		/* when the first signal was sent that was not answered; 0: none */
	unsigned unanswered;	/* signals */
	bool reads_input;	/* our stdin is passed on */
	size_t underway;	/* bytes of it that the command has not taken */
	struct buffer output;	/* of the command, for our stdout */
	bool output_ended;	/* nobody reads it, or it cannot be written */
	const char *file;	/* of the profile */
	struct replace *profile;	/* NULL: nothing has come, or it cannot be written */
	size_t profile_size;	/* bytes that came */
	bool profile_failed;	/* reported */
	struct buffer results;	/* lines of agent_say() */
	bool is_paused;		/* packets wait until FILE is known */
	char *target;		/* name of what is profiled, or NULL */
	bool has_ended;		/* PACKET_END has come */
	int status;		/* of pmu-prof there */
};

/* connect.c: start ssh for H with COMMAND.  False: reported. */
bool host_run_ssh(struct host *h, const char *command);

/* connect.c: wait for the end of ssh, which is asked to end, and return its exit status. */
int host_end_ssh(struct host *h);

/* connect.c: report that the connection is lost. */
void host_lost(struct host *h);

/*
 * connect.c: wait MILLISECONDS at most (-1: no limit) for the connection, and read and write there
 * what is possible.  EXTRA, COUNT of them, are waited for, too.
 */
struct pollfd;
void host_wait(struct host *h, struct pollfd *extra, size_t count, int milliseconds);

/* The file to copy. */
struct host_program {
	uint8_t *bytes;
	size_t size;
};

/*
 * program.c: read the program for MACHINE, as uname -m says there.  False: reported.  The caller
 * frees its bytes in any case.
 */
bool host_program_read(struct host_program *p, const struct host_choice *c, const char *machine,
		       struct report *report);

/* What runs on the host first (prepare.sh). */
extern const char host_prepare_script[];
extern const size_t host_prepare_size;
