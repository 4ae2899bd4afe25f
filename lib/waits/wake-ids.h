/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wake-ids - which threads and processes the ids in samples of wakes mean.
 *
 * A recorder in a PID namespace, as in a container, has two kinds of ids: those of the samples are
 * of its namespace, those in the tracepoint's fields of the machine.  A sample of a wake has the id
 * of its own thread in both kinds, so threads are known from their first wake on.
 *
 * Tasks that share memory may be processes with ids of their own: by clone(CLONE_VM) without
 * CLONE_THREAD.  Then an address is the same word in both.
 */
#pragma once
#include "base/table.h"

#include <stdbool.h>
#include <sys/types.h>

/* Zero-initialised: none is known. */
struct wake_ids {
	struct wake_id { pid_t is, means; } *id;	/* threads, by the machine's ids */
	uint32_t ids;
	struct table table;	/* index of ID */
	bool is_inside;		/* the stream was recorded in a namespace */
	uint64_t known, unknown;	/* if so: wakes of threads that are known, or not */
	struct wake_id *memory;	/* processes, and others that share their memory */
	uint32_t memories;
};

enum { WAKE_IDS_MAX = 1 << 17, WAKE_MEMORIES_MAX = 1 << 10 };

/* A sample of thread TID has BY, its id on the machine (0: unknown). */
void wake_ids_learn(struct wake_ids *w, pid_t tid, pid_t by);

/* Return the thread that has the id WOKEN on the machine; 0: unknown. */
pid_t wake_ids_thread(struct wake_ids *w, pid_t woken);

/* Processes A and B share their memory. */
void wake_ids_share(struct wake_ids *w, pid_t a, pid_t b);

/* Return the process for all that share the memory of PID. */
pid_t wake_ids_memory(const struct wake_ids *w, pid_t pid);

void wake_ids_release(struct wake_ids *w);
