/* SPDX-License-Identifier: Apache-2.0 */
/*
 * label-targets - the processes whose labels can be read, in a map of the kernel.
 *
 * A process is looked up when the target is attached, and when it starts a program: its files are
 * read by another process without rights (sample/label-files.h), which takes a while.  Until then
 * its labels are unknown.
 */
#pragma once
#include "record/events.h"
#include "sample/label-files.h"
#include "sample/label-names.h"
#include "sample/label-program.h"

/* Zero-initialised: no map. */
struct label_targets {
	struct report *report;
	const struct label_options *options;
	int map;			/* descriptor, or 0: none */
	struct label_files files;
	struct label_names names;	/* of attributes in thread contexts */
	struct label_waiting {
		pid_t pid;		/* -1: it was looked up */
		unsigned tries;		/* that found the program not linked yet */
		uint64_t due;		/* ns of CLOCK_MONOTONIC: look not before */
	} *waiting;			/* processes to look up, in order */
	uint32_t waits, looked_up;	/* elements of WAITING, and those with pid -1 */
	uint32_t next;			/* element of WAITING to go on with */
	struct table wait_of;		/* over WAITING, by pid */
	uint32_t edition;		/* of what went to the map last */
	uint32_t *past;			/* by the lowest bits of a process id: the last edition
					   that is no longer true; NULL: none */
};

/* Create the map.  False: errno is set. */
bool label_targets_make_map(struct label_targets *t);

/* Let process PID be looked up. */
void label_targets_add(struct label_targets *t, pid_t pid);

/* Follow RECORD of the kernel: programs and processes start and end. */
void label_targets_follow(struct label_targets *t, const struct perf_event_header *record);

/*
 * The program in the kernel read labels of process PID by what it knew in EDITION: return whether
 * that was true.  It was not if the records that were followed so far say that the process has
 * started another program, or is another process.
 */
bool label_targets_knew(struct label_targets *t, pid_t pid, uint32_t edition);

/* Look up what waits, up to about the time UNTIL, ns of CLOCK_MONOTONIC. */
void label_targets_work(struct label_targets *t, uint64_t until);

/*
 * Look up the PIDS processes PID of the target, and wait for it.  Return false (reported) if
 * labels of one of them cannot be read because its version of Go is not known.
 */
bool label_targets_start(struct label_targets *t, const pid_t *pid, size_t pids);

void label_targets_close(struct label_targets *t);
