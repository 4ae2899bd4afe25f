/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work - runs tools for a request, as children joined by pipes.
 *
 * The output of the last tool and the messages of all tools go to two files in memory, so the
 * server does nothing while they run.  If a tool fails, the tools before it are killed.  When all
 * have ended, a callback gets the result.  Cancelled tools are killed, and there is no callback.
 */
#pragma once
#include "base/report.h"

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { WORK_TOOLS = 4, WORK_MESSAGES = 4096 };

#define WORK_ENDLESS 0.0		/* no time limit */

struct work;
struct workshop;

/* The result of tools that have ended. */
struct work_result {
	int output;		/* file at its start; the callback closes it */
	off_t size;		/* of OUTPUT, in bytes */
	bool timed_out;		/* they did not end in time */
	const char *failed;	/* name of the first tool that failed; NULL: none failed */
	bool killed;		/* SIGKILL or SIGTERM ended it: it may work at another time */
	char why[512];		/* messages of FAILED, without its name; or how it ended */
	char messages[WORK_MESSAGES];	/* of all tools: the first bytes; of endless work, the last
					   bytes */
};

typedef void work_done(void *context, struct work_result *result);

/* Return a workshop, which runs tools and uses BASE for time limits.  SIGCHLD must be blocked. */
struct workshop *workshop_new(struct event_base *base, struct report *report);

/*
 * Kill all tools, and free SHOP.  Wait only briefly for the tools to end, because a tool may be
 * impossible to kill.
 */
void workshop_free(struct workshop *shop);

/* Wait for the children that have ended.  To be called after SIGCHLD. */
void workshop_reap(struct workshop *shop);

/*
 * Return the CPU time of all tools that have ended, in s.  It includes cancelled tools, but not
 * endless work.
 */
double workshop_cpu(const struct workshop *shop);

/* Return the CPU time that the tools of all endless work have used until now, in s. */
double workshop_endless_cpu(const struct workshop *shop);

/*
 * Start tools joined by pipes.  ARGV is a NULL-terminated array with the argv of each tool; these
 * must outlive the work, unless that is cancelled.  Kill them after LIMIT seconds, unless it is
 * WORK_ENDLESS.  When they have ended, DONE is called with CONTEXT; never before this function
 * returns.  Return NULL (reported) if they cannot be started.
 */
struct work *work_start(struct workshop *shop, char *const *const *argv, double limit,
			work_done *done, void *context);

/*
 * Copy the next whole line that the tools have written as a message to LINE.  Return false if there
 * is none.
 */
bool work_next_message(struct work *w, char *line, size_t size);

/* The same for the output of the last tool. */
bool work_next_output(struct work *w, char *line, size_t size);

/*
 * Call this repeatedly.  Return the name of a tool that did nothing in the last ROUNDS calls
 * although it had work, or NULL.  Set *WAITS to whether that tool waits for a disk: then even
 * SIGKILL may not end it.
 */
const char *work_watch(struct work *w, unsigned rounds, bool *waits);

/* Return whether the running tools have read all their input, and none waits for a disk. */
bool work_is_drained(const struct work *w);

/* Return the first bytes of R's output, up to MOST, as text.  The caller frees. */
char *work_output_text(const struct work_result *r, size_t most);

/* Stop the first tool.  The others process the samples so far, and DONE gets the result. */
void work_finish(struct work *w);

/* Kill the tools; DONE is not called. */
void work_cancel(struct work *w);
