/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work - tools of ours that run for a request: children joined by pipes.
 *
 * The output of the last tool goes to a file in memory, the messages of all of them to another
 * one, so the server does nothing while they run.  If one fails, those before it are killed.  When
 * all have ended, a callback gets the result.  Tools that are cancelled are killed, and waited for
 * without a callback.
 */
#pragma once
#include "base/report.h"

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { WORK_TOOLS = 4, WORK_MESSAGES = 4096 };

#define WORK_ENDLESS 0.0		/* a limit: none */

struct work;
struct workshop;

/* How tools ended. */
struct work_result {
	int output;		/* a file, read from its start; the callback closes it */
	off_t size;		/* of OUTPUT, in bytes */
	bool timed_out;		/* they did not end in time */
	const char *failed;	/* name of the first tool that failed, or NULL: none */
	char why[512];		/* its first message, without its name; or how it ended */
	char messages[WORK_MESSAGES];	/* the beginning of all messages */
};

typedef void work_done(void *context, struct work_result *result);

/* Return the place where tools run: it waits for children by BASE.  SIGCHLD must be blocked. */
struct workshop *workshop_new(struct event_base *base, struct report *report);
void workshop_free(struct workshop *shop);

/* Wait for the children that have ended: after SIGCHLD. */
void workshop_reap(struct workshop *shop);

/*
 * Return the CPU time of all tools that have ended, also of those that were cancelled, in s; but
 * not of endless work.
 */
double workshop_cpu(const struct workshop *shop);

/* Return the CPU time of the tools of all endless work until now, in s. */
double workshop_endless_cpu(const struct workshop *shop);

/*
 * Start the tools ARGV, up to NULL, each of which reads what the one before it writes.  Each is
 * an argv, up to NULL, which must outlive the work unless that is cancelled.  After LIMIT seconds
 * (or WORK_ENDLESS) they are killed.  DONE is called with CONTEXT, but not before this returns.
 * Return NULL if they cannot be started: reported.
 */
struct work *work_start(struct workshop *shop, char *const *const *argv, double limit,
			work_done *done, void *context);

/*
 * Copy the next whole line that the tools have written as a message to LINE.  Return false if there
 * is no further line.
 */
bool work_next_message(struct work *w, char *line, size_t size);

/* Let the first tool end: what it has sampled becomes a result. */
void work_finish(struct work *w);

/* Kill the tools; DONE is not called. */
void work_cancel(struct work *w);
