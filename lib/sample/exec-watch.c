/* SPDX-License-Identifier: Apache-2.0 */
#include "sample/exec-watch.h"
#include "base/arena.h"
#include "event/event.h"
#include "sample/ring.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	CREDIT_MOST = 16,
	CREDIT_NS = 20000000,	/* time until there is more */
	/*
	 * Time from a COMM record to the round that writes it.  The round leaves out the newest ms,
	 * see HOLD_BACK in sampler.c; the program's first MMAP2 records come within it.
	 */
	DELAY_NS = 1000000,
};

void exec_watch_open(struct exec_watch *w, pid_t pid, const int *cpu, size_t cpus)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY, .inherit = pid > 0, .exclude_kernel = 1,
		.exclude_hv = 1, .comm = 1, .comm_exec = 1, .watermark = 1, .wakeup_watermark = 1,
	};
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	w->ring = mem_zeroed(cpus, sizeof(*w->ring));
	w->credit = CREDIT_MOST;
	for (size_t i = 0; i < cpus; i++) {
		int fd = event_open(&attr, pid, cpu[i], -1, PERF_FLAG_FD_CLOEXEC);
		if (fd < 0 && (errno == EMFILE || errno == ENFILE)) {
			exec_watch_close(w);	/* leave some descriptors for files */
			return;
		}
		if (fd < 0)
			continue;	/* the CPU is offline, or this is not allowed */
		if (ring_map(&w->ring[w->rings], fd, page, false))
			w->rings++;
		else
			close(fd);
	}
}

/* Return whether records of RING say that a program was started.  They are consumed. */
static bool has_exec(struct ring *ring)
{
	const struct perf_event_header *record;
	bool found = false;

	ring_refresh(ring);
	while ((record = ring_peek(ring))) {
		found |= record->type == PERF_RECORD_COMM &&
			 record->misc & PERF_RECORD_MISC_COMM_EXEC;
		ring_take(ring);
	}
	ring_give_back(ring);
	return found;
}

bool exec_watch_take(struct exec_watch *w, int fd, uint64_t now)
{
	for (size_t i = 0; i < w->rings; i++) {
		if (w->ring[i].fd != fd)
			continue;
		w->credit -= w->credit > 0;
		if (!has_exec(&w->ring[i]))
			return true;
		w->last = now;
		if (!w->due)
			w->due = now + DELAY_NS;
		return true;
	}
	return false;
}

bool exec_watch_round(struct exec_watch *w, uint64_t now)
{
	uint64_t more = (now - w->credited_at) / CREDIT_NS;

	w->credit = more < CREDIT_MOST - w->credit ? w->credit + (unsigned)more : CREDIT_MOST;
	w->credited_at = w->credit < CREDIT_MOST ? w->credited_at + more * CREDIT_NS : now;
	if (now >= w->due)
		w->due = w->last + DELAY_NS > now ? w->last + DELAY_NS : 0;
	if (!w->credit && !w->due)
		w->due = w->credited_at + CREDIT_NS;
	return w->credit > 0;
}

void exec_watch_close(struct exec_watch *w)
{
	for (size_t i = 0; i < w->rings; i++) {
		int fd = w->ring[i].fd;
		ring_unmap(&w->ring[i]);
		close(fd);
	}
	free(w->ring);
	*w = (struct exec_watch){ 0 };
}
