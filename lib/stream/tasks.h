/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tasks - the threads of a stream: whose they are, what they are called, and which of
 * them have gone.
 *
 * A thread is forgotten some rounds after its EXIT, for samples of it may still be on
 * their way; the first thread of a process not before the others, for the process
 * lives as long as they do.  So there are never more of them than live, and were
 * alive of late.
 */
#pragma once
#include "base/intern.h"
#include "record/record.h"

struct task {
	pid_t tid, pid;
	uint32_t name;		/* in tasks.names; 0 (""): not known */
	uint32_t others;	/* of a process's first thread: others of it that are known */
	bool ended;		/* EXIT came */
	uint64_t end;		/* the tick of it */
};

/* Zero-initialised: no threads. */
struct tasks {
	struct intern names;	/* all that have been heard of, up to NAMES_MAX */
	uint64_t nameless;	/* names that were one too many */
	struct task *gone;	/* forgotten by the last tasks_follow() */
	uint32_t gones;
	/* the rest is the implementation's */
	struct task *task;
	uint32_t count;
	struct table table;	/* over TASK, by tid */
	struct task_end {
		pid_t tid;
		uint64_t tick;
	} *end;			/* in order of time: end[first_end..ends) */
	size_t first_end, ends;
	uint64_t tick;		/* how many rounds, or long runs of records, have passed */
	uint32_t records;	/* in this tick */
};

enum { NAMES_MAX = 1 << 17 };

/*
 * Follow a record of any type but SAMPLE: COMM, FORK, EXIT and FINISHED_ROUND matter.
 * False if it is damaged.
 */
bool tasks_follow(struct tasks *t, const struct record *rec);

/* What thread TID is called, in t->names; 0 ("") if that is not known. */
uint32_t tasks_name(const struct tasks *t, pid_t tid);

/* The same as text. */
const char *tasks_name_text(const struct tasks *t, pid_t tid);

void tasks_release(struct tasks *t);
