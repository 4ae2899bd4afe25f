/* SPDX-License-Identifier: Apache-2.0 */
#include "relay/helper.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/descriptor.h"
#include "linux/proc.h"
#include "linux/rights.h"
#include "relay/helper-rights.h"
#include "target/child.h"

#include <errno.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	/*
	 * A helper hangs if it makes no progress for STILL_MS, or STARVED_MS while it waits for a
	 * CPU.
	 */
	STILL_MS = 2000, STARVED_MS = 20000,
	/* Time and CPU time for answers that are awaited; more time while it waits for a CPU. */
	ANSWERS_MS = 10000, ANSWERS_STARVED_MS = 60000,
	END_MS = 10000,		/* for its report and exit, after it has read all records */
	KILLED_MS = 2000,	/* to disappear after SIGKILL */
};

/*
 * Read and discard some of what the other side has written.  Returns how many bytes; 0 if there is
 * nothing, -1 at the end.
 */
static ssize_t clear(int socket, int flags)
{
	char bytes[256];
	ssize_t n;

	do
		n = recv(socket, bytes, sizeof(bytes), flags);
	while (n < 0 && errno == EINTR);
	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return 0;
	return n > 0 ? n : -1;
}

/*
 * Return whether a byte was sent.  If the buffer is full, there are enough bytes to wake the other
 * side.
 */
static bool wake(int socket)
{
	return send(socket, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1;
}

void helper_hurry(void)
{
	enum { NICE = -15 };

	/* without the right, a system call filter might kill us for trying */
	if (rights_has_capability(CAP_SYS_NICE))
		(void)!setpriority(PRIO_PROCESS, 0, NICE);
}

static void serve(struct exchange *x, const struct exchange_entry *entry, struct transform *work)
{
	const struct perf_event_header *record = (const void *)(entry + 1);

	if (entry->question == EXCHANGE_NO_QUESTION) {
		transform_follow(work, record);
	} else if (!exchange_is_withdrawn(x, entry)) {
		void *room = exchange_answer_room(x);
		exchange_answer(x, entry, room ? transform_sample(work, record, entry->event,
								  room) : 0);
		exchange_spare(x, transform_is_spared(work));
	}
}

/* Return the records of existing processes, *SIZE bytes, or NULL. */
static const uint8_t *read_existing(const struct helper_existing *existing, size_t *size,
				    struct report *report)
{
	struct output copy;

	output_open_memory(&copy, report);
	existing->write(existing->context, &copy);
	output_flush(&copy);
	*size = copy.written;
	void *at = *size ? mmap(NULL, *size, PROT_READ, MAP_SHARED, copy.fd, 0) : MAP_FAILED;
	output_close(&copy);
	return at != MAP_FAILED ? at : NULL;
}

/*
 * The helper's main function: answer until the recorder closes the socket and all records are
 * read.
 */
__attribute__((noreturn))
static void be_helper(struct helper *h, const struct stream_events *events,
		      const struct transform_options *how, const struct target *target,
		      const struct helper_existing *existing, struct report *report)
{
	const uint64_t shared = exchange_memory(&h->exchange);
	struct transform_options rest = *how;
	const struct exchange_entry *entry;
	bool is_last = false;
	size_t size = 0;
	const uint8_t *bytes = existing ? read_existing(existing, &size, report) : NULL;

	if (how->hurries)
		helper_hurry();
	if (!exchange_enter(&h->exchange) || !helper_drop_rights(target, h->socket, "pmu-unwind",
									    report))
		_exit(1);
	rest.budget.memory -= rest.budget.memory < shared ? rest.budget.memory : shared;
	struct transform *work = transform_new(events, &rest, report);
	for (size_t at = 0; bytes && at < size; at += ((const struct perf_event_header *)
						       (bytes + at))->size)
		transform_follow(work, (const void *)(bytes + at));
	for (;;) {
		while ((entry = exchange_next(&h->exchange)))
			serve(&h->exchange, entry, work);
		if (is_last)
			break;
		wake(h->socket);
		report_check_hour(report);
		is_last = clear(h->socket, 0) < 0;
	}
	transform_end(work);
	report_finish(report);
	_exit(0);
}

struct helper *helper_start(const struct stream_events *events,
			    const struct transform_options *how, const struct target *target,
			    size_t size, const struct helper_existing *existing,
			    struct report *report)
{
	struct helper *h = mem_zeroed(1, sizeof(*h));
	int pair[2] = { -1, -1 };

	h->exchange.fd = h->socket = -1;
	if (!exchange_open(&h->exchange, size) ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0 ||
	    (h->pid = fork()) < 0) {
		report_failure(report, "cannot start the process that unwinds stacks");
		h->pid = 0;
		h->socket = pair[0];
		close(pair[1]);
		helper_free(h);
		return NULL;
	}
	h->socket = pair[h->pid ? 0 : 1];
	close(pair[h->pid ? 1 : 0]);
	if (h->pid)
		return h;
	be_helper(h, events, how, target, existing, report);
}

void helper_wake(struct helper *h)
{
	if (h->pid && exchange_progress(&h->exchange) != h->exchange.head)
		h->wakes += wake(h->socket);
}

/* Return whether H is runnable: it computes, or waits for a CPU. */
static bool is_runnable(const struct helper *h)
{
	char state[32];

	return proc_status(h->pid, "State", state, sizeof(state)) && *state == 'R';
}

/* Return whether H, which has made no progress since h->progress_at, may still make progress. */
static bool may_progress(const struct helper *h)
{
	uint64_t still = (monotonic_ns() - h->progress_at) / 1000000;

	return still < STILL_MS || (still < STARVED_MS && is_runnable(h));
}

/* Return the CPU time that H has used so far, in ns. */
static uint64_t used_cpu(const struct helper *h)
{
	clockid_t clock;

	return clock_getcpuclockid(h->pid, &clock) == 0 ? clock_ns(clock) : 0;
}

void helper_await(struct helper *h)
{
	h->awaited_at = monotonic_ns();
	h->awaited_cpu = h->pid ? used_cpu(h) : 0;
}

/*
 * Return whether the answers of H take too long, even if it claims progress.  A helper that had to
 * wait for a CPU has not used the CPU time that it is given.
 */
static bool is_late(const struct helper *h)
{
	uint64_t waited = (monotonic_ns() - h->awaited_at) / 1000000;

	if (waited < ANSWERS_MS)
		return false;
	return waited >= ANSWERS_STARVED_MS || !is_runnable(h) ||
	       (used_cpu(h) - h->awaited_cpu) / 1000000 >= ANSWERS_MS;
}

/* H has closed its socket: wait for its end, and say how it ended. */
static void note_end(struct helper *h)
{
	enum { SOON_MS = 100 };
	int status = 0;

	snprintf(h->fault, sizeof(h->fault), "has ended");
	if (!child_ends_within(h->pid, SOON_MS, &status, &h->used))
		return;
	h->pid = 0;
	if (WIFSIGNALED(status))
		snprintf(h->fault, sizeof(h->fault), "was ended by signal %d (%s)",
			 WTERMSIG(status), strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status))
		snprintf(h->fault, sizeof(h->fault), "has ended with status %d",
			 WEXITSTATUS(status));
}

/*
 * Stop H unless it behaves like a helper: it has not closed its socket, and has sent at most one
 * byte when it started, and one for each byte that woke it up.
 */
static void check(struct helper *h)
{
	ssize_t n = clear(h->socket, MSG_DONTWAIT);

	h->woken += n > 0 ? (uint64_t)n : 0;
	if (n < 0)
		note_end(h);
	if (n < 0)
		helper_end(h, true);
	else if (h->woken > h->wakes + 1)
		helper_stop(h, "does not behave as it should");
}

bool helper_works(struct helper *h, int milliseconds, bool is_awaited)
{
	struct pollfd poll_for = { .fd = h->socket, .events = POLLIN };
	uint64_t progress = exchange_progress(&h->exchange);

	if (!h->pid)
		return false;
	poll(&poll_for, 1, progress == h->exchange.head ? 0 : milliseconds);
	check(h);
	if (h->pid && is_awaited && is_late(h))
		helper_stop(h, "takes too long");
	if (!h->pid)
		return false;
	progress = exchange_progress(&h->exchange);
	if (progress != h->progress || progress == h->exchange.head || !h->progress_at) {
		h->progress = progress;
		h->progress_at = monotonic_ns();
	}
	return may_progress(h);
}

void helper_end(struct helper *h, bool is_bad)
{
	int status;

	if (!h->pid)
		return;
	shutdown(h->socket, SHUT_RDWR);
	if (is_bad || !child_ends_within(h->pid, END_MS, &status, &h->used)) {
		kill(h->pid, SIGKILL);
		/* A file system that does not answer keeps even a killed process. */
		child_ends_within(h->pid, KILLED_MS, &status, &h->used);
	}
	h->pid = 0;
}

void helper_stop(struct helper *h, const char *fault)
{
	if (h->pid)
		snprintf(h->fault, sizeof(h->fault), "%s", fault);
	helper_end(h, true);
}

void helper_free(struct helper *h)
{
	if (!h)
		return;
	descriptor_close(h->socket);
	exchange_close(&h->exchange);
	free(h);
}
