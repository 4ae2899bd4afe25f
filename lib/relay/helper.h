/* SPDX-License-Identifier: Apache-2.0 */
/*
 * helper - the process that unwinds stacks for the recorder.
 *
 * Unwinding reads the files of the sampled programs, which their users chose.  So a separate
 * process unwinds: it cannot sample, write files, or gain rights.  If it ends or hangs, or
 * claims progress without answers, the recorder continues without it, and may start another.
 */
#pragma once
#include "base/output.h"
#include "base/report.h"
#include "record/events.h"
#include "relay/exchange.h"
#include "relay/transform.h"
#include "target/target.h"

#include <sys/resource.h>

struct helper {
	struct exchange exchange;
	pid_t pid;		/* 0: it does not run */
	int socket;		/* wakes up the other side; closed when the other side has ended */
	uint64_t progress;	/* exchange_progress() at the last check */
	uint64_t progress_at;	/* time of that check, ns */
	uint64_t awaited_at;	/* time since which its answers are awaited, ns */
	uint64_t awaited_cpu;	/* CPU time that it had used by then, ns */
	uint64_t wakes, woken;	/* bytes sent to it and received from it, to wake up */
	char fault[64];		/* why it does not run any more: "hangs", for example */
	struct rusage used;	/* CPU time and memory, once the helper has ended */
};

/* How a helper that starts late finds the processes that run already. */
struct helper_existing {
	void (*write)(void *context, struct output *out);	/* their records */
	void *context;
};

/*
 * Start the helper for SAMPLEs of EVENTS of processes in TARGET; HOW is for transform_new(), but
 * its budget's memory includes the memory for records.  SIZE, a power of two, is the size of this
 * memory in bytes.  The first helper is started before events are opened and threads are started; a
 * later one closes what it inherits.  EXISTING, or NULL, is called in the new process, so that the
 * recorder need not wait.  Returns NULL after a report.
 */
struct helper *helper_start(const struct stream_events *events,
			    const struct transform_options *how, const struct target *target,
			    size_t size, const struct helper_existing *existing,
			    struct report *report);

/*
 * Raise the priority of this thread, if the user may.  Copies of stacks fill rings fast, and on a
 * busy machine the little time that a budget allows would otherwise come too late.
 */
void helper_hurry(void);

/* Wake up the helper: there are records for it. */
void helper_wake(struct helper *h);

/*
 * From now on we wait for answers: the helper has ten seconds, and more if it must wait for a CPU.
 */
void helper_await(struct helper *h);

/*
 * Wait until the helper has done something, or so many MILLISECONDS.  Returns false if it has
 * ended (then PID is 0), or has made no progress for too long although it has records to read.
 * The helper is killed if its answers take too long and IS_AWAITED, or if it sends more than it
 * has reason to.
 */
bool helper_works(struct helper *h, int milliseconds, bool is_awaited);

/* Kill the helper, whose fault is FAULT.  Does nothing if it has ended. */
void helper_stop(struct helper *h, const char *fault);

/*
 * End the helper: it processes the remaining records and reports its counts.  If it does not end,
 * or IS_BAD is set, it is killed.
 */
void helper_end(struct helper *h, bool is_bad);

/* Free an ended helper. */
void helper_free(struct helper *h);
