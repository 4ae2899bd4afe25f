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

/* TID runs again: what it waited for, until the next call; NULL if that is not known. */
struct wait *waits_end(struct waits *w, pid_t tid);

void waits_release(struct waits *w);
