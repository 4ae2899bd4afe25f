/* SPDX-License-Identifier: Apache-2.0 */
/*
 * helper - the process that unwinds stacks for the recorder.
 *
 * Unwinding reads the files of the sampled programs, which their users chose.  So a process of its
 * own does it, which cannot sample, write files, or gain rights.  The recorder goes on without it
 * if it ends or hangs.
 */
#pragma once
#include "base/report.h"
#include "record/events.h"
#include "sample/exchange.h"
#include "sample/target.h"

#include <sys/resource.h>

struct helper {
	struct exchange exchange;
	pid_t pid;		/* 0: it does not run */
	int socket;		/* wakes the other side up; its end says that the other has gone */
	uint64_t progress;	/* as of the last look */
	uint64_t progress_at;	/* time of that look, ns */
	struct rusage used;	/* of a helper that has ended */
};

/*
 * Start the helper, for SAMPLEs of EVENTS of processes in TARGET, with SIZE bytes for records on
 * the way, a power of two.  Call it before events are opened and threads are started: both would
 * be the helper's, too.  Returns NULL after a report.
 */
struct helper *helper_start(const struct stream_events *events, const struct target *target,
			    size_t size, struct report *report);

/* Wake the helper up: there are records. */
void helper_wake(struct helper *h);

/*
 * Wait until the helper has done something, or so many MILLISECONDS.  Returns false if it has
 * ended (then PID is 0), or has stood still for too long although it has records to read.
 */
bool helper_works(struct helper *h, int milliseconds);

/*
 * End the helper: it reads what is left and reports what it has seen.  If it does not, or IS_BAD,
 * it is killed.
 */
void helper_end(struct helper *h, bool is_bad);

/* Free an ended helper. */
void helper_free(struct helper *h);
