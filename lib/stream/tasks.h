/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tasks - the threads of a stream: their processes, their names, and which have ended.
 *
 * A thread is forgotten some rounds after its EXIT, because samples of it may still follow.  The
 * first thread of a process is forgotten after all its others, because the process lives as long
 * as they do.  If a thread's FORK record was lost, its samples make it known; it is forgotten
 * after a long time without samples.  Unused names are forgotten when there are many.  So memory
 * is bounded by the threads that are or recently were alive.  EXIT records may be lost, too: if
 * there are more than TASKS_MAX threads, those silent for the longest time are forgotten.
 */
#pragma once
#include "base/intern.h"
#include "record/record.h"

/* A thread. */
struct task {
	pid_t tid, pid;
	uint32_t name;		/* id in tasks.names; 0 (""): unknown */
	uint32_t others;	/* for a first thread: known other threads of its process */
	bool ended;		/* EXIT was read */
	uint64_t end;		/* tick of the EXIT */
	/* known only from samples, without FORK or COMM; ENDED is set without an EXIT */
	bool guessed;
	uint64_t seen;		/* tick of the last record or sample */
};

/* Zero-initialised: no threads. */
struct tasks {
	struct intern names;	/* of all threads, and some that are no longer in use */
	uint32_t renumbered;	/* how often unused names were forgotten and ids changed */
	uint64_t nameless;	/* names dropped because of NAMES_MAX */
	uint64_t silenced;	/* threads forgotten because of TASKS_MAX */
	struct task *forgotten;	/* threads that the last tasks_follow() has forgotten */
	uint32_t forgotten_count;	/* elements of FORGOTTEN */
	/* private: */
	struct task *task;
	uint32_t count;
	struct table table;	/* index over TASK, by tid */
	struct task_end {
		pid_t tid;
		uint64_t tick;
	} *end;			/* EXITs in order of time: end[first_end..ends) */
	size_t first_end, ends;
	uint64_t tick;		/* rounds so far, or runs of many records without a round */
	uint32_t records;	/* records in this tick */
	uint32_t guesses;	/* tasks with GUESSED */
	uint32_t names_limit;	/* more names than this are too many; 0: not computed yet */
};

/* Number of different names, and of threads, that are kept at a time. */
enum { NAMES_MAX = 1 << 17, TASKS_MAX = 1 << 17 };

/*
 * Update T from a record of any type but SAMPLE; COMM, FORK, EXIT and FINISHED_ROUND
 * matter.  Return false if it is damaged.
 */
bool tasks_follow(struct tasks *t, const struct record *rec);

/* Note a sample of thread TID of process PID. */
void tasks_sampled(struct tasks *t, pid_t pid, pid_t tid);

/* Return whether thread TID is known. */
bool tasks_has(const struct tasks *t, pid_t tid);

/*
 * Forget the threads of all processes for which ENDED(context, pid) holds, as if their EXIT records
 * had been read.
 */
void tasks_end(struct tasks *t, bool (*ended)(const void *context, pid_t pid),
	       const void *context);

/*
 * Return the name of thread TID, an id in t->names; 0 ("") if it is unknown.  Valid until
 * t->renumbered changes.  The thread counts as seen.
 */
uint32_t tasks_name(const struct tasks *t, pid_t tid);

/* Return the name of thread TID as text, valid until the next record; "" if it is unknown. */
const char *tasks_name_text(const struct tasks *t, pid_t tid);

void tasks_release(struct tasks *t);
