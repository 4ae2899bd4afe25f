/* SPDX-License-Identifier: Apache-2.0 */
#include "sample/exec-watch.h"
#include "base/arena.h"
#include "counters/ring.h"
#include "event/event.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
	RING_PAGES = 8,		/* 500 records; one page if that is too much */
	WAKES_MOST = 64, WAKE_NS = 2000000,	/* time until there is one more */
	ROUNDS_MOST = 16, ROUND_NS = 20000000,
	/*
	 * Time from a COMM record to the round that writes it.  The round leaves out the newest ms,
	 * see HOLD_BACK in sampler.c; the program's first MMAP2 records come within it.
	 */
	DELAY_NS = 1000000,
};

/* Let the event FD write into RING.  All events of a CPU share a ring; the first one maps it. */
static bool use_ring(struct exec_watch *w, struct ring *ring, int fd)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (!ring->page)
		return ring_map(ring, fd, RING_PAGES * page, false) ||
		       ring_map(ring, fd, page, false);
	if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) < 0)
		return false;
	w->member = array_grow(w->member, w->members, sizeof(*w->member));
	w->member[w->members++] = fd;
	return true;
}

/* Watch PID on CPU.  Return false if there are no descriptors left. */
static bool open_event(struct exec_watch *w, struct ring *ring, pid_t pid, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY, .inherit = pid > 0, .exclude_kernel = 1,
		.exclude_hv = 1, .comm = 1, .comm_exec = 1, .watermark = 1, .wakeup_watermark = 1,
	};
	int fd = event_open(&attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)		/* otherwise the CPU is offline, or this is not allowed */
		return errno != EMFILE && errno != ENFILE;
	if (!use_ring(w, ring, fd))
		close(fd);
	return true;
}

void exec_watch_open(struct exec_watch *w, const pid_t *pid, size_t pids, const int *cpu,
		     size_t cpus, unsigned follow)
{
	w->ring = mem_zeroed(cpus, sizeof(*w->ring));
	w->wakes.left = WAKES_MOST;
	w->rounds.left = ROUNDS_MOST;
	w->follow = follow;
	proc_identify_root(getpid(), &w->ours);
	for (size_t i = 0; i < cpus; i++) {
		struct ring *ring = &w->ring[w->rings];
		for (size_t k = 0; k < pids && k < EXEC_WATCH_TASKS; k++) {
			if (open_event(w, ring, pid[k], cpu[i]))
				continue;
			exec_watch_close(w);	/* leave some descriptors for files */
			return;
		}
		w->rings += ring->page != NULL;
	}
}

/* What the records of a ring say about programs that were started. */
enum execs { EXECS_NONE, EXECS_OURS, EXECS_ELSEWHERE };	/* ELSEWHERE: some of them are in another
							   root */

/*
 * Return what RECORD says.  COMM, linux/perf_event.h: u32 pid, tid; the name.  The files of a
 * process that has ended are out of reach.  What was lost may have been an exec.
 */
static enum execs exec_of(const struct exec_watch *w, const struct perf_event_header *record)
{
	struct proc_root root;
	uint32_t pid;

	if (record->type == PERF_RECORD_LOST)
		return EXECS_OURS;
	if (record->type != PERF_RECORD_COMM || !(record->misc & PERF_RECORD_MISC_COMM_EXEC) ||
	    record->size < sizeof(*record) + sizeof(pid))
		return EXECS_NONE;
	memcpy(&pid, record + 1, sizeof(pid));
	if (!proc_identify_root((pid_t)pid, &root))
		return EXECS_OURS;
	return proc_same_root(&root, &w->ours) ? EXECS_OURS : EXECS_ELSEWHERE;
}

/* Return the most urgent kind of exec in the records of RING, and consume the records. */
static enum execs take_execs(const struct exec_watch *w, struct ring *ring)
{
	const struct perf_event_header *record;
	enum execs found = EXECS_NONE;

	ring_refresh(ring);
	while ((record = ring_peek(ring))) {
		enum execs exec = found == EXECS_ELSEWHERE ? found : exec_of(w, record);
		found = exec > found ? exec : found;
		ring_take(ring);
	}
	ring_give_back(ring);
	return found;
}

/* Let CREDIT grow by one each STEP ns up to MOST. */
static void grow(struct exec_credit *credit, uint64_t now, unsigned most, uint64_t step)
{
	uint64_t more = (now - credit->grown_at) / step;

	credit->left = more < most - credit->left ? credit->left + (unsigned)more : most;
	credit->grown_at = credit->left < most ? credit->grown_at + more * step : now;
}

static void set_due(struct exec_watch *w, uint64_t time)
{
	if (!w->due || time < w->due)
		w->due = time;
}

bool exec_watch_take(struct exec_watch *w, int fd, uint64_t now)
{
	for (size_t i = 0; i < w->rings; i++) {
		if (w->ring[i].fd != fd)
			continue;
		w->wakes.left -= w->wakes.left > 0;
		enum execs found = take_execs(w, &w->ring[i]);
		if (found == EXECS_NONE)
			return true;
		w->last = now;
		grow(&w->rounds, now, ROUNDS_MOST, ROUND_NS);
		if (found == EXECS_ELSEWHERE)
			set_due(w, now + DELAY_NS);
		else
			set_due(w, w->rounds.left ? now + DELAY_NS : w->rounds.grown_at + ROUND_NS);
		w->rounds.left -= found == EXECS_OURS && w->rounds.left;
		return true;
	}
	return false;
}

/* Return the time of the next round for the last exec, or 0: all rounds for it are done. */
static uint64_t next_round(const struct exec_watch *w, uint64_t now)
{
	for (unsigned i = 0; i < w->follow; i++)
		if (w->last + (DELAY_NS << i) > now)
			return w->last + (DELAY_NS << i);
	return 0;
}

void exec_watch_round(struct exec_watch *w, uint64_t now)
{
	if (now >= w->due)
		w->due = next_round(w, now);
}

bool exec_watch_reads(struct exec_watch *w, uint64_t now)
{
	grow(&w->wakes, now, WAKES_MOST, WAKE_NS);
	if (now < w->resume)
		return false;
	w->resume = w->wakes.left ? 0 : now + ROUND_NS;
	if (w->resume)
		set_due(w, w->resume);
	return !w->resume;
}

void exec_watch_close(struct exec_watch *w)
{
	for (size_t i = 0; i < w->rings; i++) {
		int fd = w->ring[i].fd;
		ring_unmap(&w->ring[i]);
		close(fd);
	}
	for (size_t i = 0; i < w->members; i++)
		close(w->member[i]);
	free(w->member);
	free(w->ring);
	*w = (struct exec_watch){ 0 };
}
