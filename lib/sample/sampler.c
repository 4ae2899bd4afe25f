/* SPDX-License-Identifier: Apache-2.0 */
#include "sample/internal.h"
#include "base/arena.h"
#include "base/command.h"
#include "sample/attach.h"

#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	/* ms: a round at least this often, so that a live pipe is live; and after one that
	   moved nothing, since a sleeping target should cost next to nothing */
	ROUND_MS = 100, IDLE_MS = 400,
	/* Samples of an event between changes of its period: each one loses half a period. */
	JITTER_SAMPLES = 64, JITTER_MS = 10,
};

/*
 * A record's time is taken a little before it stands in its ring; only those
 * older than this are in order for sure.  In ns.
 */
#define HOLD_BACK 1000000

/* Set by SIGUSR1 and SIGUSR2, which have a meaning with some options only. */
static volatile sig_atomic_t snapshot_asked, next_file_asked;

static void on_signal(int number)
{
	if (number == SIGUSR1)
		snapshot_asked = 1;
	else
		next_file_asked = 1;
}

static void catch_signals(const struct sampler_options *options)
{
	struct sigaction act = { .sa_handler = on_signal };

	sigset_t ours;

	/* They come while we wait only: none falls between a look at it and the wait. */
	sigemptyset(&act.sa_mask);
	sigemptyset(&ours);
	if (options->flight_recorder) {
		sigaction(SIGUSR1, &act, NULL);
		sigaddset(&ours, SIGUSR1);
	}
	if (options->rotation.by_signal) {
		sigaction(SIGUSR2, &act, NULL);
		sigaddset(&ours, SIGUSR2);
	}
	sigprocmask(SIG_BLOCK, &ours, NULL);
}

static uint64_t now(const struct sampler *s)
{
	struct timespec t;

	clock_gettime(s->options->wants.clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/*
 * Whether one event more is needed to know how long tasks were on CPUs: where events
 * may have to share counters, or count on some CPUs only, and none of them counts
 * without a counter.
 */
static bool needs_reference(const struct sampler *s)
{
	const struct sampler_options *o = s->options;
	bool in_part = o->target->cpus > 0;
	size_t hardware = 0;

	if (target_is_by_cpu(o->target))
		return false;
	for (size_t i = 0; i < o->events->count; i++) {
		const struct event *event = &o->events->event[i];
		if (!event->per_cpu && !event->cpus && event->attr.type == PERF_TYPE_SOFTWARE)
			return false;
		in_part |= event->cpus && !event->per_cpu;
		hardware += event->attr.type != PERF_TYPE_TRACEPOINT &&
			    event->attr.type != PERF_TYPE_BREAKPOINT;
	}
	return hardware > (in_part ? 0 : 1);
}

/* Prepare the attrs; know where the time lies in their records. */
static bool prepare_events(struct sampler *s)
{
	const struct sampler_options *o = s->options;
	const struct target *t = o->target;
	struct wants_opening opening = {
		.on_exec = t->command, .delayed = o->delay, .overwritten = o->flight_recorder,
		.tracking_apart = o->delay || o->control || o->flight_recorder ||
				  needs_reference(s),
		.inherit = !target_is_by_cpu(t) && !t->tids,
		.ids = !t->command && !target_is_by_cpu(t),
		.threads_only = !t->command && !t->children,
		.wakeup = (uint32_t)(o->ring_size / 4),
	};
	const struct event_options presets = { 0 };
	const char *error;

	/* One that counts nothing tells of mappings and threads while the others wait. */
	s->tracking = opening.tracking_apart;
	if (s->tracking && !event_parse(o->events, &presets, "dummy", s->report))
		return false;
	if (!wants_apply(&o->wants, &opening, o->events, s->report))
		return false;
	for (size_t i = 0; i < o->events->count; i++)
		events_add(&s->events, &o->events->event[i].attr, sizeof(struct perf_event_attr),
			   (struct cursor){ 0 }, &error);
	return true;
}

/* Before Linux 5.13 what follows threads follows processes, too. */
static bool follows_too_much(const struct sampler *s)
{
	const struct perf_event_attr *attr = &s->options->events->event[0].attr;

	return !s->options->target->command && !s->options->target->children &&
	       attr->inherit && !attr->inherit_thread;
}

static void add_leader(struct sampler *s, pid_t pid)
{
	for (size_t i = 0; i < s->leaders; i++)
		if (s->leader[i] == pid)
			return;
	s->leader = array_grow(s->leader, s->leaders, sizeof(pid));
	s->leader[s->leaders++] = pid;
}

/* Whose mappings are told, and whose records are ours. */
static void know_processes(struct sampler *s, bool by_cpu)
{
	const struct sampler_options *o = s->options;
	const struct target *t = o->target;
	struct filter *filter = &s->flow.filter, *family = &s->flow.family;

	for (size_t i = 0; i < t->pids; i++)
		add_leader(s, t->pid[i]);
	for (size_t i = 0; i < s->threads.count && (t->tids || t->children); i++)
		add_leader(s, s->threads.thread[i].pid);
	if (t->command)
		add_leader(s, s->child.pid);
	filter->children = t->children;
	family->children = true;
	for (size_t i = 0; i < s->leaders; i++) {
		if (by_cpu || follows_too_much(s))
			filter_add(filter, s->leader[i]);
		if (rotation_is_on(&o->rotation))
			filter_add(family, s->leader[i]);
	}
	if (t->command)		/* its exec tells its mappings */
		s->leaders = 0;
}

static bool open_target(struct sampler *s)
{
	const struct target *t = s->options->target;
	bool ended, by_cpu = false;
	bool to_stdout = s->out->fd == STDOUT_FILENO, good = true;

	if (t->command)
		good = child_start(&s->child, t->command, to_stdout, s->report) &&
		       counters_open(&s->counters, s->child.pid, 0, &ended);
	else if (s->options->clock_command)
		good = child_start(&s->child, s->options->clock_command, to_stdout, s->report);
	if (good && !t->command)
		good = attach(&s->counters, t, &s->threads, &s->flow.owners, &by_cpu, s->report);
	if (good)
		know_processes(s, by_cpu);
	return good;
}

static void watch(struct sampler *s, int fd, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.fd = fd };

	/* A file as output cannot be waited for, nor need it be. */
	epoll_ctl(s->poll, EPOLL_CTL_ADD, fd, &event);
}

/* Learn of the end of PID.  Linux 5.3; before that see any_lives(). */
static void watch_process(struct sampler *s, pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	s->process = array_grow(s->process, s->processes, sizeof(*s->process));
	s->process[s->processes++] = fd;
	if (fd >= 0)
		watch(s, fd, EPOLLIN);
}

static bool watch_all(struct sampler *s)
{
	const struct target *t = s->options->target;

	s->poll = epoll_create1(EPOLL_CLOEXEC);
	if (s->poll < 0) {
		report_failure(s->report, "cannot wait for events");
		return false;
	}
	for (size_t i = 0; i < t->pids; i++) {
		watch_process(s, t->pid[i]);
		s->alive += s->process[i] >= 0;
	}
	if (s->child.pid)
		watch_process(s, s->child.pid);
	watch(s, s->out->fd, 0);	/* EPOLLERR: its reader has gone */
	if (s->control.fd >= 0)
		watch(s, s->control.fd, EPOLLIN);
	for (size_t i = 0; i < s->counters.cpus; i++)
		if (s->counters.ring[i].fd >= 0)
			watch(s, s->counters.ring[i].fd, EPOLLIN);
	return true;
}

static bool lives(pid_t pid)
{
	return kill(pid, 0) == 0 || errno == EPERM;
}

/* Whether there is still something to sample. */
static bool any_lives(const struct sampler *s)
{
	const struct target *t = s->options->target;

	if (s->child.pid && child_has_ended(&s->child))
		return false;
	if (target_is_by_cpu(t) || t->command || s->alive > 0)
		return true;
	for (size_t i = 0; i < t->pids; i++)
		if (s->process[i] < 0 && lives(t->pid[i]))
			return true;
	for (size_t i = 0; i < t->tids; i++)
		if (lives(t->tid[i]))
			return true;
	return false;
}

/* The earliest of DUE and TIME, of which 0 is never. */
static uint64_t earlier(uint64_t due, uint64_t time)
{
	return !due || (time && time < due) ? time : due;
}

/* When counting ends; 0: not by itself. */
static uint64_t end_due(const struct sampler *s)
{
	const struct sampler_options *o = s->options;
	uint64_t delay = o->delay == SAMPLER_UNTIL_TOLD ? 0 : o->delay;

	return o->duration ? s->began + delay + o->duration : 0;
}

/* When counting begins; 0: it has, or is begun by a command. */
static uint64_t start_due(const struct sampler *s)
{
	uint64_t delay = s->options->delay;

	return s->delayed && delay != SAMPLER_UNTIL_TOLD ? s->began + delay : 0;
}

/* Milliseconds to wait for what no descriptor tells of, at most. */
static int patience(const struct sampler *s)
{
	uint64_t rotation = s->options->rotation.time;
	uint64_t time = now(s), due = earlier(start_due(s), end_due(s));

	int usual = s->options->jitter ? JITTER_MS : s->idle ? IDLE_MS : ROUND_MS;

	due = earlier(due, rotation ? s->file_began + rotation : 0);
	if (!due || due > time + (uint64_t)usual * 1000000)
		return usual;
	return due > time ? (int)((due - time + 999999) / 1000000) : 0;
}

static void take_event(struct sampler *s, const struct epoll_event *event)
{
	int fd = event->data.fd;

	if (fd == s->out->fd) {
		s->done = true;
		return;
	}
	for (size_t i = 0; i < s->processes; i++)
		if (fd == s->process[i]) {	/* it has ended */
			epoll_ctl(s->poll, EPOLL_CTL_DEL, fd, NULL);
			s->alive -= i < s->options->target->pids;
			return;
		}
	if (event->events & (EPOLLHUP | EPOLLERR))	/* nobody writes to this now */
		epoll_ctl(s->poll, EPOLL_CTL_DEL, fd, NULL);
}

static void start(struct sampler *s)
{
	counters_enable(&s->counters, s->tracking, true);
	if (s->delayed && s->files == 0)
		s->file_began = now(s);
	s->delayed = false;
}

static void obey(struct sampler *s)
{
	enum control_command command;

	while ((command = control_next(&s->control, s->report)) != CONTROL_NONE) {
		switch (command) {
		case CONTROL_ENABLE:
			start(s);
			break;
		case CONTROL_DISABLE:
			counters_enable(&s->counters, s->tracking, false);
			break;
		case CONTROL_SNAPSHOT:
			snapshot_asked = next_file_asked = 1;
			break;
		case CONTROL_STOP:
			s->done = true;
			break;
		default:
			break;
		}
		control_acknowledge(&s->control);
	}
}

/* Move records on; to another file where it is time. */
static void move(struct sampler *s)
{
	bool snapshot = snapshot_asked, next_file = next_file_asked;

	snapshot_asked = next_file_asked = 0;	/* before it is done: more may be asked for */
	if (snapshot && s->flow.flies)
		flow_dump(&s->flow, now(s) - HOLD_BACK);
	else
		s->idle = !flow_round(&s->flow, now(s) - HOLD_BACK);
	if (sampler_file_is_full(s, now(s), next_file))
		sampler_begin_next_file(s, now(s));
}

/* Each thread counts by itself, on one CPU at a time. */
static void vary_periods(struct sampler *s)
{
	const struct flow_counts *c = &s->flow.counts;
	uint64_t counting = s->counters.count / s->counters.cpus;

	if (c->samples - s->varied_at < JITTER_SAMPLES * (counting ? counting : 1))
		return;
	s->varied_at = c->samples;
	counters_jitter(&s->counters, s->options->jitter, &s->chance);
}

static bool is_over(const struct sampler *s)
{
	const struct sampler_options *o = s->options;

	return *o->stop || output_ended(s->out) || !any_lives(s) ||
	       (end_due(s) && now(s) >= end_due(s)) ||
	       (o->max_size && s->bytes + s->out->written >= o->max_size);
}

static void loop(struct sampler *s)
{
	struct epoll_event event[16];
	sigset_t waiting = *command_signals();

	sigdelset(&waiting, SIGUSR1);
	sigdelset(&waiting, SIGUSR2);
	while (!s->done) {
		int n = epoll_pwait(s->poll, event, 16, patience(s), &waiting);
		for (int i = 0; i < n; i++)
			take_event(s, &event[i]);
		obey(s);
		move(s);
		if (s->options->jitter)
			vary_periods(s);
		if (start_due(s) && now(s) >= start_due(s))
			start(s);
		s->done |= is_over(s);
	}
	s->ended = now(s);
	counters_stop();
	if (s->flow.flies)
		flow_dump(&s->flow, UINT64_MAX);
	else
		flow_round(&s->flow, UINT64_MAX);
}

static void release(struct sampler *s)
{
	for (size_t i = 0; i < s->processes; i++)
		if (s->process[i] >= 0)
			close(s->process[i]);
	if (s->poll >= 0)
		close(s->poll);
	free(s->process);
	free(s->leader);
	free(s->total);
	free(s->before);
	free(s->flow.event);
	flow_close(&s->flow);
	control_close(&s->control);
	counters_close(&s->counters);
	threads_release(&s->threads);
	events_release(&s->events);
}

/* The command that is run, as target or as clock; NULL: none. */
static const char *command_name(const struct sampler_options *o)
{
	char *const *command = o->target->command ? o->target->command : o->clock_command;

	return command ? *command : NULL;
}

static bool begin(struct sampler *s)
{
	const struct sampler_options *o = s->options;

	if ((o->control && !control_open(&s->control, o->control, s->report)) ||
	    !prepare_events(s) ||
	    !counters_init(&s->counters, o->events, o->target, o->ring_size, s->report))
		return false;
	s->flow = (struct flow){ .counters = &s->counters, .layout = sampler_layout(s),
				 .out = s->out, .buffer_size = o->buffer_size,
				 .flies = o->flight_recorder,
				 .event = mem_zeroed(o->events->count, sizeof(struct flow_event)) };
	if (!open_target(s))
		return false;
	s->total = mem_zeroed(o->events->count, sizeof(*s->total));
	s->before = mem_zeroed(o->events->count, sizeof(*s->before));
	s->began = s->file_began = now(s);
	if (o->buffer_size)
		output_make_elastic(s->out);	/* after the fork: it starts a thread */
	sampler_write_beginning(s);
	sampler_announce(s);
	return watch_all(s) &&
	       (!s->child.pid || child_go(&s->child, command_name(o), s->report));
}

int sampler_run(const struct sampler_options *options, struct output *out, struct report *report)
{
	struct sampler s = { .options = options, .out = out, .report = report, .poll = -1,
			     .control = CONTROL_CLOSED, .delayed = options->delay };

	catch_signals(options);
	if (begin(&s)) {
		loop(&s);
		sampler_write_end(&s);
		if (rotation_is_on(&options->rotation))
			sampler_name_last_file(&s);
		sampler_summarize(&s);
	}
	bool is_told = options->quiet_status || report->status;
	int status = child_stop(&s.child, is_told ? NULL : command_name(options), report);
	release(&s);
	return status;
}
