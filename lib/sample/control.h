/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control - commands to a running sampler, one per line: enable, disable, snapshot, ping, stop.
 * Commands and transport are compatible with perf record --control.
 *
 * Who asks for acknowledgements also learns how the sampler ended, and the sampler ends when nobody
 * can read them any more.
 */
#pragma once
#include "base/report.h"
#include "target/owner.h"

#include <stddef.h>

enum control_command {
	CONTROL_NONE,		/* no complete line has arrived */
	CONTROL_ENABLE, CONTROL_DISABLE, CONTROL_SNAPSHOT, CONTROL_PING, CONTROL_STOP,
};

struct control {
	int fd;			/* descriptor from which commands are read; -1: not open */
	int ack;		/* descriptor for "ack" after each command; -1: none */
	struct owning_process owner;	/* that sends the commands, if it is known */
	char line[64];		/* start of the next line */
	size_t used;		/* bytes in LINE */
};

/* Initialiser: not open. */
#define CONTROL_CLOSED { .fd = -1, .ack = -1, .owner = OWNER_NONE }

/*
 * Open WHERE: "fd:N[,ACK[,PID]]", "fifo:PATH[,ACK[,PID]]", or without "fd:" or "fifo:".  FIFOs
 * must exist.  Descriptors are duplicated.  PID is the owner.  False: reported.
 */
bool control_open(struct control *control, const char *where, struct report *report);

/* Return the next command, without waiting.  Unknown commands are reported. */
enum control_command control_next(struct control *control, struct report *report);

/* Write "ack" for the last command, which has been carried out. */
void control_acknowledge(const struct control *control);

/*
 * Write the last lines of acknowledgements: if STATUS is not 0, "error" and REPORT's first error;
 * then "exit STATUS" and, if the first error has one, the word of its cause.  Then close CONTROL.
 */
void control_end(struct control *control, int status, const struct report *report);
