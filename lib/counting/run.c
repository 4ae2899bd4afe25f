/* SPDX-License-Identifier: Apache-2.0 */
/* One run of a command. */
#include "base/arena.h"
#include "base/clock.h"
#include "base/descriptor.h"
#include "base/signals.h"
#include "base/terminal.h"
#include "counting/internal.h"
#include "linux/proc.h"
#include "sample/ending.h"
#include "target/child.h"

#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* A run that is going on. */
struct counted_run {
	struct counting *c;
	struct counts counts;
	struct child child;
	struct ending ending;
	struct terminal_modes modes;
	int pidfd;		/* -1: before Linux 5.3 */
	uint64_t start, stop_due;	/* monotonic, in ns; 0: no limit */
};

static uint64_t ns_of(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_usec * 1000;
}

/* Return how long to wait for the end of the command, in ms. */
static int wait_ms(const struct counted_run *r)
{
	enum { LONG = 60000, WITHOUT_PIDFD = 10 };
	int wait = r->pidfd < 0 ? WITHOUT_PIDFD : LONG;
	uint64_t now = monotonic_ns();

	if (r->stop_due && r->stop_due < now + (uint64_t)wait * 1000000)
		wait = r->stop_due > now ? (int)((r->stop_due - now + 999999) / 1000000) : 0;
	return ending_wait_ms(&r->ending, wait);
}

/* Wait until the command ends, or the time is up.  Return whether it ended. */
static bool wait_for_end(struct counted_run *r)
{
	const sigset_t *blocked = signals_blocked();

	while (!proc_child_has_ended(r->child.pid)) {
		struct pollfd poll = { .fd = r->pidfd, .events = POLLIN };
		int wait = wait_ms(r);
		ppoll(&poll, 1, &(struct timespec){ wait / 1000, wait % 1000 * 1000000L },
		      blocked);
		ending_work(&r->ending);
		if (r->stop_due && monotonic_ns() >= r->stop_due)
			return false;
	}
	return true;
}

/* Let the command run until its end.  Set OUT, except for its status.  False: reported. */
static bool go(struct counted_run *r, const char *name, struct counting_run *out,
	       struct report *report)
{
	struct counting *c = r->c;

	ending_begin(&r->ending, r->child.pid, &c->bystander);
	bystander_keep(&c->bystander);
	terminal_save(&r->modes);
	if (!counts_enable(&r->counts, true))
		return false;
	r->start = monotonic_ns();
	r->stop_due = c->duration ? r->start + c->duration : 0;
	if (!child_go(&r->child, name, report))
		return false;
	bool ended = wait_for_end(r);
	out->wall = monotonic_ns() - r->start;
	c->is_stopped = r->ending.interrupted || r->ending.kill_due;
	out->is_cut = !ended || c->is_stopped;
	return counts_read(&r->counts, out->value);
}

bool counting_run_command(struct counting *c, char *const *command, struct counting_run *out,
			  struct report *report)
{
	struct counted_run r = { .c = c, .pidfd = -1,
			     .counts = { .events = c->events, .report = report } };
	struct rusage used = { 0 };
	bool ended;

	*out = (struct counting_run){ .events = c->events->count };
	out->value = mem_zeroed(out->events, sizeof(*out->value));
	bool good = bystander_start(&c->bystander, report) &&
		    child_start(&r.child, command, c->command_fd, report) &&
		    counts_open(&r.counts, r.child.pid, -1, 0, &ended);
	if (good) {
		r.pidfd = (int)syscall(SYS_pidfd_open, r.child.pid, 0);
		good = go(&r, command[0], out, report);
	}
	child_collect(&r.child, &out->status, &used);
	out->user = ns_of(used.ru_utime);
	out->system = ns_of(used.ru_stime);
	if (WIFSIGNALED(out->status))	/* do what a shell does then */
		terminal_restore(&r.modes);
	bystander_end(&c->bystander);
	descriptor_close(r.pidfd);
	counts_close(&r.counts);
	return good;
}

void counting_run_release(struct counting_run *run)
{
	free(run->value);
	*run = (struct counting_run){ .value = NULL };
}

double counting_scaled(const struct counting_value *v)
{
	if (!v->running)
		return v->enabled ? NAN : 0;
	return counting_is_scaled(v)
		? (double)v->count * ((double)v->enabled / (double)v->running) : (double)v->count;
}
