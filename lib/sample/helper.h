/* SPDX-License-Identifier: Apache-2.0 */
/*
 * helper - the process that unwinds stacks for the recorder.
 *
 * Unwinding reads the files of the sampled programs, which their users chose.  So a separate
 * process unwinds: it cannot sample, write files, or gain rights.  If it ends or hangs, the
 * recorder continues without it.
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
	int socket;		/* wakes up the other side; closed when the other side has ended */
	uint64_t progress;	/* exchange_progress() at the last check */
	uint64_t progress_at;	/* time of that check, ns */
	struct rusage used;	/* CPU time and memory, once the helper has ended */
};

/*
 * Start the helper for SAMPLEs of EVENTS of processes in TARGET.  SIZE, a power of two, is the
 * size of the memory for records, in bytes.  Call this before events are opened and threads are
 * started: the helper would inherit both.  Returns NULL after a report.
 */
struct helper *helper_start(const struct stream_events *events, const struct target *target,
			    size_t size, struct report *report);

/* Wake up the helper: there are records for it. */
void helper_wake(struct helper *h);

/*
 * Wait until the helper has done something, or so many MILLISECONDS.  Returns false if it has
 * ended (then PID is 0), or has made no progress for too long although it has records to read.
 */
bool helper_works(struct helper *h, int milliseconds);

/*
 * End the helper: it processes the remaining records and reports its counts.  If it does not end,
 * or IS_BAD is set, it is killed.
 */
void helper_end(struct helper *h, bool is_bad);

/* Free an ended helper. */
void helper_free(struct helper *h);
