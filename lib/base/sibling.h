/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sibling - starts another tool of ours as a filter, or a program apart from us, without a shell.
 *
 * A tool is looked for in the directories of $PMU_PATH, beside the running program, in the running
 * program itself, and in $PATH, in this order.  No name comes from input.
 */
#pragma once
#include "base/report.h"

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Zero-initialised: not started. */
struct sibling {
	const char *name;	/* "pmu-symbolize"; NULL for sibling_feed() */
	pid_t pid;		/* 0: not started, or ended */
};

/*
 * If this program is all tools in one, and NAME is one of them, write to PATH by which path this
 * process starts itself again, and return true: started as NAME, it is that tool.  This is
 * cmd/pmukit's; a program without it is one tool, and the answer is false.
 */
bool sibling_find_within(const char *name, char path[PATH_MAX]);

/* Write the directory of this program to PATH.  Return false if it is not known. */
bool sibling_directory(char path[PATH_MAX]);

/* Write the path of the tool NAME to PATH.  Return false if the tool is not found. */
bool sibling_find(const char *name, char path[PATH_MAX]);

/*
 * Set WORD to what a shell starts the tool NAME by: its name, if the shell finds the same file; or
 * its path, in PATH; or the path of this program, and NAME.  Return the number of words, 1 or 2.
 */
size_t sibling_words(const char *name, char path[PATH_MAX], const char *word[2]);

/* Write the path of the program NAME, which may be a path, to PATH, as a shell finds it. */
bool sibling_find_program(const char *name, char path[PATH_MAX]);

/* How to start a tool. */
struct sibling_how {
	int in;			/* its stdin, which sibling_run() closes; -1: our stdin */
	int out;		/* its stdout, which stays open; -1: a new pipe */
	int err;		/* its stderr, which stays open; 0: our stderr */
	int passed;		/* a descriptor that it gets by the same number; 0: none */
	bool deaf;		/* SIGINT is blocked: the tool ends when its input ends */
	bool bound;		/* the tool is killed when we die */
};

/*
 * Start the tool argv[0] with ARGV.  Return the reading end of its new pipe, or 0 if HOW names
 * its stdout, and fill S; or return -1 (reported).
 */
int sibling_run(struct sibling *s, char *const *argv, const struct sibling_how *how,
		struct report *report);

/*
 * Start the tool argv[0] with ARGV, from IN (a descriptor; -1: our stdin) to a new pipe.
 * Return the pipe's reading end, and fill S; or return -1 (reported).  Closes IN.
 */
int sibling_start(struct sibling *s, char *const *argv, int in, struct report *report);

/*
 * Start a process that writes the SIZE bytes at HEAD, and then everything from IN (not closed), to
 * a new pipe.  Return its reading end, or -1 (reported).
 */
int sibling_feed(struct sibling *s, int in, const void *head, size_t size, struct report *report);

/*
 * Start the program argv[0], found as a shell finds it, apart from this process: in its own session
 * and without our files and terminal.  Return its pid, which is also its process group, or 0 if it
 * cannot be started.
 */
pid_t sibling_spawn_apart(char *const *argv);

/*
 * Block SIGCHLD and the signals that ask this process to end.  Return a signalfd for them, or -1
 * (reported).  BEFORE is the mask until now, for the children.
 */
int sibling_signals(sigset_t *before, struct report *report);

/* If S, which has ended with STATUS (of waitpid()), has failed, report how. */
void sibling_report(const struct sibling *s, int status, struct report *report);

/*
 * Wait until S has ended.  If it failed, report that.  ENOUGH: its output is no longer needed, so
 * it is terminated, and its status does not matter.
 */
void sibling_end(struct sibling *s, bool enough, struct report *report);
