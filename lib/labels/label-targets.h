/* SPDX-License-Identifier: Apache-2.0 */
/*
 * label-targets - the processes whose labels can be read, in a map of the kernel.
 *
 * A process is looked up when we attach to the target, and when the process starts a program.  A
 * helper process without rights reads its files (labels/label-files.h), which takes a while.  Until
 * then the labels are unknown.
 */
#pragma once
#include "labels/label-files.h"
#include "labels/label-names.h"
#include "labels/label-program.h"
#include "record/events.h"

/* Zero-initialised: no map. */
struct label_targets {
	struct report *report;
	const struct label_options *options;
	int map;			/* descriptor, or 0: none */
	struct label_files files;
	struct label_names names;	/* names of attributes in thread contexts */
	struct label_waiting {
		pid_t pid;		/* -1: already looked up */
		unsigned tries;		/* how often the program was still starting */
		uint64_t due;		/* do not look up before this time, ns of CLOCK_MONOTONIC */
	} *waiting;			/* processes to look up, in order */
	uint32_t waiting_count, looked_up;	/* elements of WAITING, and how many have pid -1 */
	uint32_t next;			/* element of WAITING to continue with */
	uint64_t due;			/* when to call label_targets_work() again, ns of
					   CLOCK_MONOTONIC; 0: when a process was added */
	unsigned doubled;		/* how often the time to wait for readers was doubled */
	struct table wait_of;		/* over WAITING, by pid */
	uint32_t edition;		/* of the entry last written to the map */
	uint32_t *outdated;		/* by the lowest bits of a process id: the last edition
					   that is outdated; NULL: none */
};

/* Create the map.  False: errno is set. */
bool label_targets_make_map(struct label_targets *t);

/* Look up process PID later. */
void label_targets_add(struct label_targets *t, pid_t pid);

/* Follow the kernel's RECORD, which may report the start or end of a program or process. */
void label_targets_follow(struct label_targets *t, const struct perf_event_header *record);

/*
 * The program in the kernel read labels of process PID with the entry EDITION.  Return whether
 * that entry was right.  It was wrong if the records so far say that the process has started
 * another program, or that another process has this pid.
 */
bool label_targets_knew(struct label_targets *t, pid_t pid, uint32_t edition);

/* Look up the processes that wait, until about the time UNTIL, ns of CLOCK_MONOTONIC. */
void label_targets_work(struct label_targets *t, uint64_t until);

/*
 * Look up the PIDS processes PID of the target now.  Return false (reported) if the labels of a
 * process cannot be read because its version of Go is unknown.
 */
bool label_targets_start(struct label_targets *t, const pid_t *pid, size_t pids);

void label_targets_close(struct label_targets *t);
