/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec-watch - reports that a process of the target has started a program.
 *
 * A program in a container may end within a few ms, and its files disappear with it.  Readers of
 * the stream can open the files, or the root directory that has them, only if they see the records
 * of the exec before.  The rings of the events are read ten times a second, which is too late.  So
 * a dummy event on each CPU writes COMM records into a small ring of its own, whose descriptor
 * becomes readable at each record.
 */
#pragma once
#include "sample/target.h"

#include <stdbool.h>
#include <stdint.h>

/* Zero-initialised: nothing is watched. */
struct exec_watch {
	struct ring *ring;	/* one per CPU */
	size_t rings;
	uint64_t due;		/* when the records of an exec can be read, ns; 0: there was none */
	uint64_t last;		/* time of the last exec, ns */
	unsigned credit;	/* execs that may still be reported soon */
	uint64_t credited_at;	/* when CREDIT last grew, ns */
	bool is_paused;		/* the rings are not read until there is credit */
};

/*
 * Watch process PID and its descendants, or all processes if PID is -1, on the CPUS in CPU.  It is
 * no failure if the kernel refuses that: then nothing is watched.
 */
void exec_watch_open(struct exec_watch *w, pid_t pid, const int *cpu, size_t cpus);

/*
 * Read the ring with the descriptor FD, which is readable.  Return false if FD belongs to no ring.
 * NOW is in ns.
 */
bool exec_watch_take(struct exec_watch *w, int fd, uint64_t now);

/*
 * Note a round of the rings of the events at NOW (ns), and set w->due for the execs that are too
 * new for it.  Return whether the rings of execs are to be watched until the next round.  A burst
 * of execs is reported one by one.  If there are more of them, the next round is 20 ms after the
 * last, so that a machine that starts programs all the time is not sampled all the time.
 */
bool exec_watch_round(struct exec_watch *w, uint64_t now);

void exec_watch_close(struct exec_watch *w);
