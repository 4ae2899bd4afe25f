/* SPDX-License-Identifier: Apache-2.0 */
/* waits - threads that were switched away from: on which stack, and since when. */
#pragma once
#include "base/arena.h"
#include "base/table.h"

#include <stdbool.h>
#include <sys/types.h>

struct wait {
	pid_t tid;
	bool waits;
	bool exited;		/* it has: once switched away from, it never runs again */
	bool preempted;		/* it could have run on: the CPU was given to another */
	uint64_t since;		/* in the stream's clock */
	uint32_t event, labels;
	uint32_t part;		/* of the profiles it is counted in */
	uint32_t frames, capacity;
	uint32_t *frame;	/* ids, the leaf first */
};

/* Zero-initialised: none. */
struct waits {
	struct wait *wait;	/* a thread each */
	uint32_t count;
	struct table table;
};

/*
 * TID waits from TIME on, on FRAMES frames.  Its entry is returned, for the rest to be
 * filled in.
 */
struct wait *waits_begin(struct waits *w, pid_t tid, uint64_t time, const uint32_t *frame,
			 uint32_t frames);

/* What TID waits for, until the next call; NULL if it runs, or that is not known. */
struct wait *waits_find(const struct waits *w, pid_t tid);

/* TID runs again: what it waited for, until the next call; NULL if that is not known. */
struct wait *waits_end(struct waits *w, pid_t tid);

/* TID, which runs, has exited; or it is a new thread of that number. */
void waits_thread(struct waits *w, pid_t tid, bool exited);

/* TID is gone: forget it. */
void waits_forget(struct waits *w, pid_t tid);

/* Make FRAME the leaf of what W waits on: once, when the wait is over. */
void waits_lead(struct wait *w, uint32_t frame);

void waits_release(struct waits *w);
