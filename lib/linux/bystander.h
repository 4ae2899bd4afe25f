/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bystander - a process that runs beside us as long as a command uses our terminal.
 *
 * It keeps messages until the command has ended: stderr becomes a pipe to the bystander, which then
 * copies what it has read to the true stderr.  Because it is a process of its own, no message is
 * lost if we, or another process that writes to the pipe, are killed.
 *
 * It is also a witness of signals.  Nobody sends it a signal alone.  So a signal that it gets was
 * sent to the whole process group, as a terminal does, and the command has the signal, too.
 */
#pragma once
#include "base/report.h"

#include <sys/types.h>

/* Zero-initialised: not started. */
struct bystander {
	pid_t pid;
	int orders, messages;	/* pipes to it */
	int terminal;		/* the true stderr while messages are kept; else 0 */
};

/* Start it.  False: reported. */
bool bystander_start(struct bystander *b, struct report *report);

/* Keep what this process and those that it starts from now on write to stderr. */
void bystander_keep(struct bystander *b);

/* The command has ended: pass on what was kept, and from now on pass on messages at once. */
void bystander_pass(struct bystander *b);

/* Pass on all messages, end the bystander, and write to the true stderr again.  B may be unused. */
void bystander_end(struct bystander *b);

/*
 * Return whether the signal NUMBER, which has just arrived here, was sent to the whole process
 * group.  Ask about each signal that arrives: then the bystander forgets it.
 */
bool bystander_saw(const struct bystander *b, int number);
