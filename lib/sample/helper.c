/* SPDX-License-Identifier: Apache-2.0 */
#include "sample/helper.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/descriptor.h"
#include "linux/proc.h"
#include "sample/child.h"
#include "sample/helper-rights.h"
#include "sample/transform.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	/*
	 * A helper hangs if it makes no progress for STILL_MS, or STARVED_MS while it waits for a
	 * CPU.
	 */
	STILL_MS = 2000, STARVED_MS = 20000,
	END_MS = 10000,		/* for its report and exit, after it has read all records */
};

/* Read and discard what the other side has written.  Returns false at the end. */
static bool clear(int socket, int flags)
{
	char bytes[64];
	ssize_t n;

	do
		n = recv(socket, bytes, sizeof(bytes), flags);
	while (n == sizeof(bytes) || (n < 0 && errno == EINTR));
	return n > 0 || (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK));
}

static void wake(int socket)
{
	/* If the buffer is full, the other side has enough to wake up for. */
	(void)!send(socket, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
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
	}
}

/*
 * The helper's main function: answer until the recorder closes the socket and all records are
 * read.
 */
__attribute__((noreturn))
static void be_helper(struct helper *h, const struct stream_events *events,
		      const struct target *target, struct report *report)
{
	const struct exchange_entry *entry;
	bool is_last = false;

	if (!exchange_enter(&h->exchange) || !helper_drop_rights(target, h->socket, "pmu-unwind",
									    report))
		_exit(1);
	struct transform *work = transform_new(events, report);
	for (;;) {
		while ((entry = exchange_next(&h->exchange)))
			serve(&h->exchange, entry, work);
		if (is_last)
			break;
		wake(h->socket);
		is_last = !clear(h->socket, 0);
	}
	transform_end(work);
	report_finish(report);
	_exit(0);
}

struct helper *helper_start(const struct stream_events *events, const struct target *target,
			    size_t size, struct report *report)
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
	be_helper(h, events, target, report);
}

void helper_wake(struct helper *h)
{
	if (h->pid && exchange_progress(&h->exchange) != h->exchange.head)
		wake(h->socket);
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

bool helper_works(struct helper *h, int milliseconds)
{
	struct pollfd poll_for = { .fd = h->socket, .events = POLLIN };
	uint64_t progress = exchange_progress(&h->exchange);

	if (!h->pid)
		return false;
	if (poll(&poll_for, 1, progress == h->exchange.head ? 0 : milliseconds) > 0 &&
	    !clear(h->socket, MSG_DONTWAIT)) {
		helper_end(h, true);
		return false;
	}
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
		while (wait4(h->pid, &status, 0, &h->used) < 0 && errno == EINTR)
			;
	}
	h->pid = 0;
}

void helper_free(struct helper *h)
{
	if (!h)
		return;
	descriptor_close(h->socket);
	exchange_close(&h->exchange);
	free(h);
}
