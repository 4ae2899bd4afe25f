/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control - commands to a running sampler, a line each: enable, disable,
 * snapshot, ping, stop.  They are perf record's, and so is how they come.
 */
#pragma once
#include "base/report.h"

#include <stddef.h>

enum control_command {
	CONTROL_NONE,		/* nothing more has come */
	CONTROL_ENABLE, CONTROL_DISABLE, CONTROL_SNAPSHOT, CONTROL_PING, CONTROL_STOP,
};

struct control {
	int fd;			/* to read from; -1: none */
	int ack;		/* where "ack" is written after each command; -1: nowhere */
	char line[64];		/* what has come of the next line */
	size_t used;
};

/* Initialises one that is not open. */
#define CONTROL_CLOSED { .fd = -1, .ack = -1 }

/*
 * Open "fd:N[,ACK]", "fifo:PATH[,ACK]", or shorter a number or a path.  FIFOs
 * exist already; descriptors stay the caller's.  False (reported) on failure.
 */
bool control_open(struct control *control, const char *where, struct report *report);

/* The next command that has come; words that are none are reported. */
enum control_command control_next(struct control *control, struct report *report);

/* The last command has been followed. */
void control_acknowledge(const struct control *control);

void control_close(struct control *control);
