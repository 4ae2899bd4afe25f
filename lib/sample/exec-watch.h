/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec-watch - reports that a process of the target has started a program.
 *
 * A program in a container may end within a few ms, and its files disappear with it.  Readers of
 * the stream can open the files, or the root directory that has them, only if they see the records
 * of the exec before.  The rings of the events are read ten times a second, which is too late.  So
 * a dummy event on each CPU writes COMM records into a small ring of its own, whose descriptor
 * becomes readable at each record.  The labels of a new program are unknown until its records are
 * read, too.
 */
#pragma once
#include "linux/proc.h"
#include "target/target.h"

#include <stdbool.h>
#include <stdint.h>

/* Zero-initialised: nothing is watched. */
struct exec_watch {
	struct ring *ring;	/* one per CPU */
	size_t rings;
	int *member;		/* descriptors of events that write into another one's ring */
	size_t members;
	struct proc_root ours;	/* our own root: its files stay */
	unsigned follow;	/* how many rounds of the events' rings follow an exec */
	uint64_t due;		/* time of the next of these rounds, ns; 0: none */
	uint64_t resume;	/* when the rings are read again, ns; 0: they are */
	uint64_t last;		/* time of the last exec, ns */
	struct exec_credit {
		unsigned left;		/* how often this may be done again at once */
		uint64_t grown_at;	/* when LEFT last grew, ns */
	} wakes, rounds;	/* reading the rings; rounds for execs in our own root */
};

enum { EXEC_WATCH_TASKS = 64 };

/*
 * Watch the PIDS threads in PID, at most EXEC_WATCH_TASKS, and what they create, or all processes
 * if PID[0] is -1, on the CPUS in CPU.  After each exec, FOLLOW rounds come 1, 2, 4, ... ms later:
 * the first reads the exec's records, and the others read those of the program's libraries.  If the
 * kernel refuses that, nothing is watched, and that is not a failure.
 */
void exec_watch_open(struct exec_watch *w, const pid_t *pid, size_t pids, const int *cpu,
		     size_t cpus, unsigned follow);

/*
 * Read the ring with the descriptor FD, which is readable.  Return false if FD belongs to no ring.
 * NOW is in ns.
 */
bool exec_watch_take(struct exec_watch *w, int fd, uint64_t now);

/*
 * Note a round of the rings of the events at NOW (ns), and set w->due for the execs that are too
 * new for it.  A burst of execs is reported one by one.  If more programs start in our own root,
 * where files usually stay, the next round is 20 ms after the last: otherwise a machine that starts
 * programs all the time would have rounds all the time.  Those in other roots are always reported.
 */
void exec_watch_round(struct exec_watch *w, uint64_t now);

/*
 * Return whether the rings are to be read at NOW (ns), and set w->resume.  Threads may rename
 * themselves all the time, which gives a record each: then there are pauses of 20 ms, and a round
 * after each.
 */
bool exec_watch_reads(struct exec_watch *w, uint64_t now);

void exec_watch_close(struct exec_watch *w);
