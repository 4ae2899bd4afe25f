/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/clock.h"
#include "base/descriptor.h"
#include "base/signals.h"
#include "counters/attach.h"
#include "linux/proc.h"
#include "sample/internal.h"

#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	/* Samples of an event between changes of its period: each change loses half a period. */
	JITTER_SAMPLES = 64,
	/* Rounds after the exec of a program whose labels are recorded; the last is 16 ms later. */
	LABEL_ROUNDS = 5,
};

/*
 * The kernel takes a record's time a little before it writes the record.  Only records older
 * than this, in ns, are certainly complete and in order.
 */
#define HOLD_BACK 1000000

/* Longest time to look up the labels of all processes before sampling starts, in ns. */
#define LABELS_NS 10000000000ULL

/* Set by SIGUSR1 and SIGUSR2, if the options use these signals. */
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

	/*
	 * The signals are blocked except in epoll_pwait(), so that none is missed between a check
	 * and the wait.
	 */
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
	return clock_ns(s->options->settings.clock);
}

/*
 * Return whether counting starts only when the existing processes have been written.  If there are
 * many, this may take more than the quarter of a second for which rings have room, if samples have
 * copies of stacks.
 */
static bool starts_late(const struct sampler_options *o)
{
	return o->settings.callchain == CHAIN_DWARF && !o->delay &&
	       (target_needs_others(o->target) || o->target->pids > 1);
}

/* Complete the attrs, and compute the layout of their records.  False: reported. */
static bool prepare_events(struct sampler *s)
{
	const struct sampler_options *o = s->options;
	const struct target *t = o->target;
	struct open_settings opening = {
		.on_exec = t->command, .delayed = s->delayed, .overwritten = o->flight_recorder,
		.inherit = !target_is_by_cpu(t) && !t->tids,
		.threads_only = !t->command && !t->children,
		.wakeup = (uint32_t)(o->ring_size / 4),
	};
	const struct event_options presets = { 0 };
	const char *error;

	if (!event_parse(o->events, &presets, "dummy", s->report) ||
	    !settings_apply(&o->settings, &opening, o->events, s->report))
		return false;
	s->sampled = (uint32_t)o->events->count - 1;
	for (size_t i = 0; i < o->events->count; i++)
		events_add(&s->events, &o->events->event[i].attr, sizeof(struct perf_event_attr),
			   (struct cursor){ 0 }, &error);
	return true;
}

/* Return whether events follow unwanted new processes: before Linux 5.13, with new threads. */
static bool follows_processes(const struct sampler *s)
{
	const struct perf_event_attr *attr = &s->options->events->event[0].attr;

	return !s->options->target->command && !s->options->target->children &&
	       attr->inherit && !attr->inherit_thread;
}

static void add_initial_pid(struct sampler *s, pid_t pid)
{
	for (size_t i = 0; i < s->initial_pids; i++)
		if (s->initial_pid[i] == pid)
			return;
	s->initial_pid = array_grow(s->initial_pid, s->initial_pids, sizeof(pid));
	s->initial_pid[s->initial_pids++] = pid;
}

/* Set the processes whose mappings we write, and the processes whose records we select. */
static void set_processes(struct sampler *s, bool by_cpu)
{
	const struct sampler_options *o = s->options;
	const struct target *t = o->target;
	struct process_set *processes = &s->flow.processes, *family = &s->flow.family;

	for (size_t i = 0; i < t->pids; i++)
		add_initial_pid(s, t->pid[i]);
	for (size_t i = 0; i < s->threads.count && (t->tids || t->children); i++)
		add_initial_pid(s, s->threads.thread[i].pid);
	if (t->command)
		add_initial_pid(s, s->child.pid);
	processes->children = t->children;
	family->children = true;
	for (size_t i = 0; i < s->initial_pids; i++) {
		if (by_cpu || follows_processes(s))
			process_set_add(processes, s->initial_pid[i]);
		if (rotation_is_on(&o->rotation))
			process_set_add(family, s->initial_pid[i]);
	}
	if (t->wakers)
		outside_begin(&s->flow.outside, o->events, &s->threads);
	if (t->command)		/* the kernel records the mappings of its exec */
		s->initial_pids = 0;
}

/* Fork the command, if there is one.  False: reported. */
static bool start_child(struct sampler *s)
{
	const struct sampler_options *o = s->options;
	char *const *command = o->target->command ? o->target->command : o->clock_command;
	int out = o->command_fd >= 0 ? o->command_fd
		: s->out->fd == STDOUT_FILENO ? STDERR_FILENO : -1;

	bool good = !command || child_start(&s->child, command, out, s->report);
	descriptor_close(o->command_fd);	/* so its reader gets the end of file */
	return good;
}

static bool open_target(struct sampler *s)
{
	const struct target *t = s->options->target;
	bool ended, by_cpu = false, good = start_child(s);

	if (good && t->command)
		good = counters_open(&s->counters, s->child.pid, 0, &ended);
	if (good && !t->command)
		good = attach(&s->counters, t, &s->threads, &s->flow.owners, &by_cpu, s->report);
	if (good)
		set_processes(s, by_cpu);
	return good;
}

static void watch(struct sampler *s, int fd, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.fd = fd };

	/* This fails for a regular file, which needs no waiting. */
	epoll_ctl(s->poll, EPOLL_CTL_ADD, fd, &event);
}

/* Watch for the end of PID.  Linux before 5.3 has no pidfds: see target_is_alive(). */
static void watch_process(struct sampler *s, pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	s->pidfd = array_grow(s->pidfd, s->pidfds, sizeof(*s->pidfd));
	s->pidfd[s->pidfds++] = fd;
	if (fd >= 0)
		watch(s, fd, EPOLLIN);
}

/* Watch the rings of S->execs, or (ON is false) do not. */
static void watch_rings_of_execs(struct sampler *s, bool on)
{
	for (size_t i = 0; i < s->execs.rings; i++)
		if (on)
			watch(s, s->execs.ring[i].fd, EPOLLIN);
		else
			epoll_ctl(s->poll, EPOLL_CTL_DEL, s->execs.ring[i].fd, NULL);
	s->reads_execs = on;
}

/*
 * Watch for programs that the target starts.  A file has no reader that could open their files in
 * time, unless stacks are unwound now.  Labels of a program that a command starts are looked up at
 * once, and again while the program's libraries are mapped.
 */
static void watch_execs(struct sampler *s)
{
	const struct sampler_options *o = s->options;
	bool is_command = o->target->command, has_labels = is_command && s->flow.labels;
	pid_t pid[EXEC_WATCH_TASKS];
	size_t pids = 0;
	struct stat st;
	bool to_file = fstat(s->out->fd, &st) == 0 && S_ISREG(st.st_mode) && !o->unwind;

	if ((to_file && !has_labels) || o->flight_recorder)
		return;
	if (is_command || target_is_by_cpu(o->target))
		pid[pids++] = is_command ? s->child.pid : -1;
	else if (o->target->children)
		pids = threads_first(&s->threads, pid, EXEC_WATCH_TASKS);
	exec_watch_open(&s->execs, pid, pids, s->counters.cpu, s->counters.cpus,
			has_labels ? LABEL_ROUNDS : 1);
	watch_rings_of_execs(s, true);
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
		s->alive += s->pidfd[i] >= 0;
	}
	if (s->child.pid)
		watch_process(s, s->child.pid);
	watch(s, s->out->fd, 0);	/* EPOLLERR: the reader has closed the pipe */
	if (s->options->control) {
		watch(s, s->options->control->fd, EPOLLIN);
		if (s->options->control->ack >= 0)
			watch(s, s->options->control->ack, 0);	/* nobody reads it any more */
		if (s->options->control->owner.pidfd >= 0)
			watch(s, s->options->control->owner.pidfd, EPOLLIN);
	}
	for (size_t i = 0; i < s->counters.cpus; i++)
		if (s->counters.ring[i].fd >= 0)
			watch(s, s->counters.ring[i].fd, EPOLLIN);
	watch_execs(s);
	return true;
}

static void handle_event(struct sampler *s, const struct epoll_event *event)
{
	const struct control *control = s->options->control;
	int fd = event->data.fd;

	if (fd == s->out->fd ||
	    (control && (fd == control->ack || fd == control->owner.pidfd))) {
		s->done = true;
		return;
	}
	for (size_t i = 0; i < s->pidfds; i++)
		if (fd == s->pidfd[i]) {	/* it has ended */
			epoll_ctl(s->poll, EPOLL_CTL_DEL, fd, NULL);
			s->alive -= i < s->options->target->pids;
			return;
		}
	if (event->events & (EPOLLHUP | EPOLLERR))	/* no writer is left */
		epoll_ctl(s->poll, EPOLL_CTL_DEL, fd, NULL);
}

static void enable_counting(struct sampler *s)
{
	counters_enable(&s->counters, true);
	if (s->delayed && s->files == 0)
		s->file_start = now(s);
	if (s->delayed)
		sampler_look_at_waits(s, now(s));
	s->delayed = false;
}

static void run_commands(struct sampler *s)
{
	struct control *control = s->options->control;
	enum control_command command;

	while (control && (command = control_next(control, s->report)) != CONTROL_NONE) {
		switch (command) {
		case CONTROL_ENABLE:
			enable_counting(s);
			break;
		case CONTROL_DISABLE:
			counters_enable(&s->counters, false);
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
		control_acknowledge(control);
	}
}

/*
 * Return whether sampling takes little time, but must have it soon: a lost sample of a wait makes
 * the waits of other threads wrong, too.
 */
static bool hurries(const struct sampler_options *o)
{
	return o->unwind_budget.is_set || o->settings.wakes;
}

/* Start the process that unwinds stacks; EXISTING as in helper_start().  NULL: reported. */
static struct helper *start_helper(struct sampler *s, const struct helper_existing *existing)
{
	enum { LEAST = 16 << 20, MOST = 256 << 20,	/* bytes of memory for records */
	       WITH_BUDGET = 32 << 20 };		/* ... and a quarter of it for results */
	const struct sampler_options *o = s->options;
	const struct transform_options how = { .hurries = hurries(o),
					       .registers = o->settings.user_regs,
					       .judges = o->unwind == UNWINDS_IF_NEEDED,
					       .budget = o->unwind_budget };
	size_t size = LEAST, most = how.budget.is_set ? WITH_BUDGET : MOST;

	while (size < most && size < o->ring_size * s->counters.cpus)
		size *= 2;
	return helper_start(&s->events, &how, o->target, size, existing, s->report);
}

/* Start the helper for the first time.  False: reported. */
static bool start_first_helper(struct sampler *s)
{
	struct helper *helper = start_helper(s, NULL);

	if (helper)
		relay_use(&s->flow.relay, helper);
	return helper;
}

static void write_existing(void *context, struct output *out)
{
	sampler_write_processes(context, out);
}

/* If the helper has ended, start another after some time. */
static void restart_helper(struct sampler *s)
{
	struct helper_existing existing = { write_existing, s };

	if (relay_wants_helper(&s->flow.relay))
		relay_replace(&s->flow.relay, start_helper(s, &existing));
}

/*
 * Handle the N events of epoll; none if the time is up, or if N is negative, because of a signal.
 * Return whether there is something to do: many records of the exec watch do not matter.
 */
static bool handle_events(struct sampler *s, const struct epoll_event *event, int n)
{
	uint64_t time = now(s);
	bool any = n < 0 || (n == 0 && (!s->execs.resume || time < s->execs.resume));

	for (int i = 0; i < n; i++) {
		if (exec_watch_take(&s->execs, event[i].data.fd, time))
			continue;
		handle_event(s, &event[i]);
		any = true;
	}
	if (s->execs.rings && exec_watch_reads(&s->execs, time) != s->reads_execs)
		watch_rings_of_execs(s, !s->reads_execs);
	return any || time >= sampler_round_due(s, time);
}

/* Move records to the output, and switch to the next file if it is time. */
static void move_records(struct sampler *s)
{
	bool snapshot = snapshot_asked, next_file = next_file_asked;

	s->moved_at = now(s);
	exec_watch_round(&s->execs, s->moved_at);	/* their records will be in this round */
	s->labels.targets.due = 0;	/* a round sets it, unless it has to wait for the output */
	snapshot_asked = next_file_asked = 0;	/* reset them first, because another signal may
						   arrive meanwhile */
	if (snapshot && s->flow.flight_recorder)
		flow_dump(&s->flow, now(s) - HOLD_BACK);
	else
		s->idle = !flow_round(&s->flow, now(s) - HOLD_BACK);
	if (sampler_file_is_full(s, now(s), next_file))
		sampler_start_next_file(s, now(s));
}

/* Change the periods if enough samples have been taken.  A thread counts on one CPU at a time. */
static void jitter_periods(struct sampler *s)
{
	const struct flow_counts *c = &s->flow.counts;
	uint64_t events = s->sampled + 1;
	uint64_t counting = s->counters.count / s->counters.cpus * s->sampled / events;

	if (c->samples - s->jittered_at < JITTER_SAMPLES * (counting ? counting : 1))
		return;
	s->jittered_at = c->samples;
	counters_jitter(&s->counters, s->options->jitter, &s->jitter_seed);
}

static void loop(struct sampler *s)
{
	struct epoll_event event[16];
	sigset_t waiting = *signals_blocked();

	sigdelset(&waiting, SIGUSR1);
	sigdelset(&waiting, SIGUSR2);
	s->moved_at = now(s);
	while (!s->done) {
		int wait = ending_wait_ms(&s->ending, sampler_wait_ms(s, now(s)));
		int n = epoll_pwait(s->poll, event, 16, wait, &waiting);
		s->done |= ending_work(&s->ending);
		if (!handle_events(s, event, n))
			continue;
		run_commands(s);
		restart_helper(s);
		move_records(s);
		sampler_show_progress(s, now(s));
		sampler_measure_children(s, now(s));
		report_check_hour(s->report);
		if (s->options->jitter)
			jitter_periods(s);
		if (sampler_start_due(s) && now(s) >= sampler_start_due(s))
			enable_counting(s);
		s->done |= sampler_is_over(s, now(s));
	}
	s->end_time = now(s);
	sampler_end_progress(s);
	counters_stop();
	if (s->flow.flight_recorder)
		flow_dump(&s->flow, UINT64_MAX);
	else
		flow_round(&s->flow, UINT64_MAX);
	relay_stop(&s->flow.relay);
}

static void release(struct sampler *s)
{
	for (size_t i = 0; i < s->pidfds; i++)
		descriptor_close(s->pidfd[i]);
	descriptor_close(s->poll);
	free(s->pidfd);
	free(s->initial_pid);
	free(s->total);
	free(s->previous);
	free(s->flow.event);
	flow_close(&s->flow);
	exec_watch_close(&s->execs);
	counters_close(&s->counters);
	label_recorder_close(&s->labels);
	threads_release(&s->threads);
	events_release(&s->events);
}

/* Return the name of the command that is run, as target or as clock, or NULL. */
static const char *command_name(const struct sampler_options *o)
{
	char *const *command = o->target->command ? o->target->command : o->clock_command;

	return command ? *command : NULL;
}

/* Find the labels of all known processes that the stream starts with. */
static void find_labels(struct sampler *s)
{
	struct label_targets *targets = &s->labels.targets;
	struct proc_ids all = { 0 };

	if (!s->flow.labels)
		return;
	if (target_is_by_cpu(s->options->target))
		proc_processes(&all);
	for (size_t i = 0; i < all.count; i++)
		label_targets_add(targets, all.id[i]);
	for (size_t i = 0; i < s->initial_pids; i++)
		label_targets_add(targets, s->initial_pid[i]);
	if (all.count)
		label_targets_add(targets, 0);	/* the idle task */
	free(all.id);
	label_targets_work(targets, monotonic_ns() + LABELS_NS);
}

/* Prepare to record labels, if they are asked for.  False: reported. */
static bool start_labels(struct sampler *s)
{
	const struct sampler_options *o = s->options;

	if (!o->labels.sources)
		return true;
	if (!label_recorder_start(&s->labels, &o->labels, o->events,
				  s->sampled, s->counters.cpus, o->target, s->report))
		return false;
	s->counters.labels = s->flow.labels = &s->labels;
	find_labels(s);
	if (target_is_by_cpu(o->target) || o->target->command)
		return true;
	for (size_t i = 0; i < o->target->tids; i++) {
		pid_t process = proc_of_thread(o->target->tid[i]);
		if (process > 0 && !label_targets_start(&s->labels.targets, &process, 1))
			return false;
	}
	return label_targets_start(&s->labels.targets, o->target->pid, o->target->pids);
}

/* Let the command run.  From now on the terminal is the command's.  False: reported. */
static bool let_go(struct sampler *s)
{
	ending_begin(&s->ending, s->child.pid, &s->bystander);
	bystander_keep(&s->bystander);
	terminal_save(&s->modes);
	return child_go(&s->child, command_name(s->options), s->report);
}

static bool start(struct sampler *s)
{
	const struct sampler_options *o = s->options;

	if (!prepare_events(s) ||
	    !counters_init(&s->counters, o->events, o->target, o->ring_size, s->report))
		return false;
	s->flow = (struct flow){ .counters = &s->counters, .events = &s->events,
				 .layout = sampler_layout(s), .out = s->out,
				 .clock = o->settings.clock, .buffer_size = o->buffer_size,
				 .flight_recorder = o->flight_recorder,
				 .event = mem_zeroed(o->events->count, sizeof(struct flow_event)) };
	s->flow.shorts = (struct short_waits){ .least = o->waits_min,
					       .event = &s->events.event[s->sampled - 1] };
	s->flow.descendants.on = o->target->command;
	foreign_ids_init(&s->flow.foreign, &s->counters, s->flow.layout);
	s->flow.relay = (struct relay){ .out = s->out, .events = &s->events, .report = s->report,
					.has_frame_pointers = o->unwind == UNWINDS_IF_NEEDED ||
							      o->unwind_budget.is_set ||
							      o->settings.user_regs,
					.registers = o->unwind ? o->settings.user_regs : 0,
					.stop = o->stop };
	if ((o->unwind && !start_first_helper(s)) || !start_labels(s) || !open_target(s))
		return false;
	if (hurries(o))
		helper_hurry();	/* after the fork of a command, which keeps its priority */
	find_labels(s);		/* once more, because processes may have started in the meantime */
	s->total = mem_zeroed(o->events->count, sizeof(*s->total));
	s->previous = mem_zeroed(o->events->count, sizeof(*s->previous));
	s->start_time = s->file_start = now(s);
	if (!s->delayed && !o->target->command)
		sampler_look_at_waits(s, s->start_time);
	if (o->buffer_size)
		output_make_elastic(s->out);	/* after the fork: it starts a thread */
	sampler_measure_children(s, s->start_time);
	if (s->child.pid)
		output_hold(s->out);	/* the command may not be there */
	sampler_write_start(s);
	sampler_announce(s);
	if (starts_late(o)) {
		s->start_time = now(s);
		enable_counting(s);
	}
	if (!watch_all(s) || (s->child.pid && !let_go(s)))
		return false;
	output_go_on(s->out);
	return true;
}

int sampler_run(const struct sampler_options *options, struct output *out, struct report *report)
{
	struct sampler s = { .options = options, .out = out, .report = report, .poll = -1,
			     .delayed = options->delay || starts_late(options) };

	catch_signals(options);
	if ((!command_name(options) || bystander_start(&s.bystander, report)) && start(&s)) {
		loop(&s);
		sampler_write_end(&s);
		if (rotation_is_on(&options->rotation))
			sampler_name_last_file(&s);
		sampler_summarize(&s);
	} else if (out->is_as_before) {
		output_discard(out);	/* nothing was recorded */
	}
	bool is_reported = options->quiet_status || report->status;
	int status = child_stop(&s.child, is_reported ? NULL : command_name(options), report);
	if (status > 128)	/* ended by a signal: do what a shell does then */
		terminal_restore(&s.modes);
	bystander_end(&s.bystander);
	release(&s);
	return status;
}
