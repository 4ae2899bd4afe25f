/* SPDX-License-Identifier: Apache-2.0 */
/* One run: of a command, or a time span of another target. */
#include "base/arena.h"
#include "base/clock.h"
#include "base/descriptor.h"
#include "base/signals.h"
#include "base/terminal.h"
#include "counting/internal.h"
#include "linux/proc.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t ns_of(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_usec * 1000;
}

uint32_t run_add_unit(struct counted_run *r, char *name)
{
	r->unit = array_grow(r->unit, r->units, sizeof(*r->unit));
	r->unit[r->units] = name;
	return (uint32_t)r->units++;
}

static size_t units(const struct counted_run *r)
{
	return r->c->by ? r->units : 1;
}

/* Watch for the end of process PID. */
static void watch(struct counted_run *r, pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	r->polls |= fd < 0;
	r->watched = array_grow(r->watched, r->watches, sizeof(*r->watched));
	r->watched[r->watches++] = (struct pollfd){ .fd = fd, .events = POLLIN };
}

/* Return whether there is nothing more to count. */
static bool has_ended(const struct counted_run *r)
{
	const struct target *t = r->c->target;
	size_t alive = 0;

	if (r->child.pid)
		return proc_child_has_ended(r->child.pid);
	for (size_t i = 0; i < t->pids && !alive; i++)
		alive += !proc_has_ended(t->pid[i]);
	return t->pids && !alive;
}

/* Return how long to wait at time NOW, in ms. */
static int wait_ms(const struct counted_run *r, uint64_t now)
{
	enum { LONG = 60000, SHORT = 100, WITHOUT_PIDFD = 10 };
	bool looks = r->c->by == BY_THREAD;		/* for new threads */
	uint64_t due = r->stop_due;
	int wait = r->polls ? WITHOUT_PIDFD : looks ? SHORT : LONG;

	if (r->next && (!due || r->next < due))
		due = r->next;
	if (due && due < now + (uint64_t)wait * 1000000)
		wait = due > now ? (int)((due - now + 999999) / 1000000) : 0;
	return ending_wait_ms(&r->ending, wait);
}

/* Read what was counted so far.  The caller frees.  NULL: reported. */
static struct counting_value *read_all(const struct counted_run *r)
{
	struct counting_value *value = mem_zeroed(units(r) * r->c->events->count, sizeof(*value));

	if (counts_read(&r->counts, value))
		return value;
	free(value);
	return NULL;
}

static struct counting_value difference(struct counting_value a, struct counting_value b)
{
	return (struct counting_value){ a.count > b.count ? a.count - b.count : 0,
					a.enabled > b.enabled ? a.enabled - b.enabled : 0,
					a.running > b.running ? a.running - b.running : 0 };
}

/* Report the interval that ends at NOW with the totals VALUE.  Return whether to go on. */
static bool end_interval(struct counted_run *r, uint64_t now, const struct counting_value *value)
{
	size_t events = r->c->events->count, values = units(r) * events;
	struct counting_run since = { .events = events, .unit = r->unit, .units = units(r),
				      .start = r->last - r->start, .wall = now - r->last };

	since.value = mem_zeroed(values, sizeof(*since.value));
	for (size_t i = 0; i < values; i++)
		since.value[i] = i < r->before_units * events
			? difference(value[i], r->before[i]) : value[i];
	bool goes_on = r->c->on_interval(r->c->context, &since);
	free(since.value);
	free(r->before);
	r->before = mem_resize(NULL, values * sizeof(*r->before) + 1);
	memcpy(r->before, value, values * sizeof(*r->before));
	r->before_units = units(r);
	r->last = now;
	while (r->next <= now)
		r->next += r->c->interval;
	return goes_on;
}

/* If an interval ends at NOW, report it.  Return whether to go on. */
static bool pass_interval(struct counted_run *r, uint64_t now)
{
	if (!r->next || now < r->next)
		return true;
	struct counting_value *value = read_all(r);
	bool goes_on = value && end_interval(r, now, value);

	free(value);
	return goes_on;
}

/* Take the signals that have come.  Return whether one came when the command had ended. */
static bool take_signals(struct counted_run *r)
{
	ppoll(NULL, 0, &(struct timespec){ 0, 0 }, signals_blocked());
	return ending_work(&r->ending);
}

/* Count until the end.  Return the time of it; set *CUT if it was not the target's. */
static uint64_t loop(struct counted_run *r, bool *cut)
{
	uint64_t now = monotonic_ns();

	*cut = false;
	while (!has_ended(r) && !*cut) {
		int wait = wait_ms(r, now);
		ppoll(r->watched, r->watches,
		      &(struct timespec){ wait / 1000, wait % 1000 * 1000000L }, signals_blocked());
		for (size_t i = 0; i < r->watches; i++)
			if (r->watched[i].revents)
				r->watched[i].fd = -1;
		ending_work(&r->ending);
		now = monotonic_ns();
		*cut = !run_attach_new(r, now) || !pass_interval(r, now) ||
		       (r->stop_due && now >= r->stop_due) ||
		       (!r->child.pid && is_stopped(r->c->stop));
	}
	return monotonic_ns();
}

/* Take the user's signals while the target is counted, so that none comes before a wait. */
static void hold_signals(sigset_t *before)
{
	sigset_t ours;

	sigemptyset(&ours);
	sigaddset(&ours, SIGINT);
	sigaddset(&ours, SIGTERM);
	sigaddset(&ours, SIGHUP);
	sigprocmask(SIG_BLOCK, &ours, before);
}

/* Let the target be counted until its end.  Set OUT, except for its status.  False: reported. */
static bool go(struct counted_run *r, const char *name, struct counting_run *out)
{
	struct counting *c = r->c;
	bool cut;

	if (!counts_enable(&r->counts))
		return false;
	r->start = r->last = monotonic_ns();
	r->stop_due = c->duration ? r->start + c->duration : 0;
	r->next = c->interval ? r->start + c->interval : 0;
	if (r->child.pid && !child_go(&r->child, name, r->report))
		return false;
	counting_notes_print(&c->notes, r->report);
	uint64_t end = loop(r, &cut);
	out->wall = end - r->start;
	c->is_stopped = take_signals(r) || r->ending.interrupted || r->ending.kill_due ||
			is_stopped(c->stop);
	out->is_cut = cut || c->is_stopped;
	out->value = read_all(r);
	if (out->value && r->next && end > r->last + c->interval / 100)
		end_interval(r, end, out->value);
	return out->value;
}

/* Start COMMAND, which waits for its exec, or only get ready if it is NULL.  False: reported. */
static bool start(struct counted_run *r, char *const *command, struct terminal_modes *modes)
{
	const struct target *t = r->c->target;
	bool ended;

	if (command && (!bystander_start(&r->c->bystander, r->report) ||
			!child_start(&r->child, command, r->c->command_fd, r->report)))
		return false;
	if (t->command ? !counts_open(&r->counts, r->child.pid, -1, 0, 0, &ended) : !run_attach(r))
		return false;
	if (command)
		watch(r, r->child.pid);
	for (size_t i = 0; i < t->pids; i++)
		watch(r, t->pid[i]);
	if (command) {
		ending_begin(&r->ending, r->child.pid, &r->c->bystander);
		bystander_keep(&r->c->bystander);
		terminal_save(modes);
	}
	return true;
}

/* Return whether the user stopped C before its command went. */
static bool was_stopped(const struct counting *c)
{
	sigset_t pending;

	sigemptyset(&pending);
	sigpending(&pending);
	return is_stopped(c->stop) || sigismember(&pending, SIGTERM) == 1 ||
	       (sigismember(&pending, SIGINT) == 1 && !signals_ignored_interrupts());
}

static void release(struct counted_run *r, struct counting_run *out)
{
	for (size_t i = 0; i < r->watches; i++)
		descriptor_close(r->watched[i].fd);
	free(r->watched);
	free(r->before);
	counts_close(&r->counts);
	threads_release(&r->threads);
	out->events = r->c->events->count;
	out->units = units(r);
	out->unit = r->unit;
}

/* Run COMMAND, or nothing, while the target is counted. */
static bool run(struct counting *c, char *const *command, struct counting_run *out,
		struct report *report)
{
	struct counted_run r = { .c = c, .report = report,
				 .counts = { .events = c->events, .report = report } };
	struct terminal_modes modes = { .known = false };
	struct rusage used = { 0 };
	sigset_t before;

	*out = (struct counting_run){ .value = NULL };
	hold_signals(&before);
	bool good = start(&r, command, &modes);
	c->is_stopped = out->is_cut = good && command && was_stopped(c);
	if (!c->is_stopped)
		good = good && go(&r, command ? command[0] : NULL, out);
	child_collect(&r.child, &out->status, &used);
	out->user = ns_of(used.ru_utime);
	out->system = ns_of(used.ru_stime);
	if (WIFSIGNALED(out->status))	/* do what a shell does then */
		terminal_restore(&modes);
	bystander_end(&c->bystander);
	if (!command)
		sigprocmask(SIG_SETMASK, &before, NULL);
	release(&r, out);
	return good;
}

bool counting_run_command(struct counting *c, char *const *command, struct counting_run *out,
			  struct report *report)
{
	repeated_input_begin(&c->input, report);
	return run(c, command, out, report);
}

bool counting_run_target(struct counting *c, struct counting_run *out, struct report *report)
{
	return run(c, NULL, out, report);
}

void counting_run_release(struct counting_run *run)
{
	for (size_t i = 0; run->unit && i < run->units; i++)
		free(run->unit[i]);
	free(run->unit);
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
