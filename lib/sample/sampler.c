/* SPDX-License-Identifier: Apache-2.0 */
#include "sample/sampler.h"
#include "sample/about.h"
#include "sample/child.h"
#include "sample/counters.h"
#include "sample/existing.h"
#include "sample/merge.h"
#include "sample/threads.h"
#include "stream/writer.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	ROUND_MS = 100,		/* a round at least this often, so that a live pipe is live */
	SETTLE_MS = 2,		/* a thread is listed in /proc this much before its FORK record */
	SCANS_MAX = 100,	/* of /proc/PID/task, until no thread is new */
};

/*
 * A record's time is taken a little before it stands in its ring; only those
 * older than this are in order for sure.  In ns.
 */
#define HOLD_BACK 1000000

struct sampler {
	const struct sampler_options *options;
	struct output *out;
	struct report *report;
	struct counters counters;
	struct stream_events events;	/* as readers of the stream will know them */
	struct threads threads;
	struct child child;
	struct merge_counts counts;
	int poll;
	int target;		/* pidfd of the target */
	uint64_t began, ended;	/* ns of CLOCK_MONOTONIC */
	bool done;
};

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* What sampling needs beside the event itself. */
static void prepare_attr(struct sampler *s, struct perf_event_attr *attr, bool is_first)
{
	const struct sampler_options *o = s->options;

	attr->size = sizeof(*attr);
	attr->sample_type |= PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	if (attr->freq || o->events->count > 1)
		attr->sample_type |= PERF_SAMPLE_PERIOD;
	if (o->events->count > 1)
		attr->sample_type |= PERF_SAMPLE_IDENTIFIER;
	if (o->callchains)
		attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
	attr->sample_id_all = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;	/* readable in user space, unlike the default one */
	attr->inherit = 1;
	if (o->command) {
		attr->disabled = 1;
		attr->enable_on_exec = 1;
	} else {
		attr->inherit_thread = 1;	/* threads it creates, not processes */
	}
	attr->exclude_callchain_kernel = attr->exclude_kernel;
	attr->watermark = 1;
	attr->wakeup_watermark = (uint32_t)(o->ring_size / 4);
	if (is_first)	/* one event tells of names, mappings and threads for all */
		attr->comm = attr->comm_exec = attr->task = attr->mmap = attr->mmap2 =
			attr->build_id = 1;
}

/* Whether the kernel opens ATTR for ourselves; errno is its answer. */
static bool opens(const struct perf_event_attr *attr)
{
	struct perf_event_attr probe = *attr;

	probe.disabled = 1;
	int fd = event_open(&probe, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Where kernel.perf_event_paranoid keeps the kernel's part from us, the user's part it is. */
static void leave_out_kernel(struct sampler *s)
{
	bool left_out = false;

	for (size_t i = 0; i < s->options->events->count; i++) {
		struct perf_event_attr *attr = &s->options->events->event[i].attr;
		struct perf_event_attr user = *attr;

		user.exclude_kernel = user.exclude_hv = 1;
		if (attr->exclude_kernel || opens(attr) || errno != EACCES || !opens(&user))
			continue;
		*attr = user;
		left_out = true;
	}
	if (left_out)
		report_note(s->report, "the kernel's own code is not sampled: "
			    "kernel.perf_event_paranoid forbids it without CAP_PERFMON");
}

/* Prepare the attrs; know where the time lies in their records. */
static void prepare_events(struct sampler *s)
{
	const char *error;

	leave_out_kernel(s);
	for (size_t i = 0; i < s->options->events->count; i++) {
		struct perf_event_attr *attr = &s->options->events->event[i].attr;
		prepare_attr(s, attr, i == 0);
		events_add(&s->events, attr, sizeof(*attr), (struct cursor){ 0 }, &error);
	}
}

static const struct sample_layout *layout(const struct sampler *s)
{
	return &s->events.event[0].layout;
}

/*
 * Open the events on every thread.  Those that begin meanwhile are either
 * created by a thread we have, and inherit its events, or by one we do not
 * have yet, and are found by looking again.  A FORK record tells which; it
 * stands in the ring shortly after the thread stands in /proc.
 */
static bool attach(struct sampler *s)
{
	struct timespec settle = { .tv_nsec = SETTLE_MS * 1000000 };
	size_t opened = 0;
	bool ended, any = false;

	for (int scan = 0; scan < SCANS_MAX; scan++) {
		size_t known = s->threads.count, inherited = 0;
		if (!threads_scan(&s->threads, s->options->pid, s->report))
			return false;
		if (s->threads.count == known)
			break;
		if (known > 0)
			nanosleep(&settle, NULL);
		for (size_t i = known; i < s->threads.count; i++) {
			pid_t tid = s->threads.tid[i];
			if (known > 0 && counters_saw_fork(&s->counters, tid)) {
				inherited++;
				continue;
			}
			if (!counters_open(&s->counters, tid, &ended))
				return false;
			any |= !ended;
			opened += !ended;
		}
		if (known > 0 && inherited == s->threads.count - known)
			break;
	}
	if (!any)
		report_error(s->report, "process %d has ended", s->options->pid);
	return any;
}

static bool open_target(struct sampler *s)
{
	const struct sampler_options *o = s->options;
	bool ended;

	if (!o->command)
		return attach(s);
	return child_start(&s->child, o->command, s->report) &&
	       counters_open(&s->counters, s->child.pid, &ended);
}

/* All that comes before the kernel's own records. */
static void write_beginning(struct sampler *s)
{
	const struct sampler_options *o = s->options;

	writer_header(s->out);
	about_write_recorder(s->out);
	for (size_t i = 0; i < o->events->count; i++) {
		const struct ids *ids = &s->counters.ids[i];
		writer_attr(s->out, &o->events->event[i].attr, ids->id, ids->count);
		if (ids->count)
			writer_event_name(s->out, ids->id[0], o->events->event[i].name);
	}
	about_write(s->out, o->argc, o->argv, CLOCK_MONOTONIC);
	existing_kernel(s->out, layout(s));
	if (o->command)
		return;
	for (size_t i = 0; i < s->threads.count; i++)
		existing_thread(s->out, layout(s), o->pid, s->threads.tid[i]);
	existing_mappings(s->out, layout(s), o->pid);
}

static void watch(struct sampler *s, int fd, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.fd = fd };

	/* a file as output cannot be, nor need it */
	epoll_ctl(s->poll, EPOLL_CTL_ADD, fd, &event);
}

static bool watch_all(struct sampler *s)
{
	pid_t pid = s->options->command ? s->child.pid : s->options->pid;

	s->poll = epoll_create1(EPOLL_CLOEXEC);
	/* Linux 5.3; else see target_lives() */
	s->target = (int)syscall(SYS_pidfd_open, pid, 0);
	if (s->poll < 0) {
		report_failure(s->report, "cannot wait for events");
		return false;
	}
	if (s->target >= 0)
		watch(s, s->target, EPOLLIN);
	watch(s, s->out->fd, 0);	/* EPOLLERR: its reader has gone */
	for (size_t i = 0; i < s->counters.cpus; i++)
		if (s->counters.ring[i].fd >= 0)
			watch(s, s->counters.ring[i].fd, EPOLLIN);
	return true;
}

static bool target_lives(const struct sampler *s)
{
	return s->target >= 0 || kill(s->options->command ? s->child.pid : s->options->pid, 0) == 0;
}

/* Move what the rings hold to the output. */
static void drain(struct sampler *s, uint64_t horizon)
{
	uint64_t records = merge_rings(s->counters.ring, s->counters.cpus, layout(s), horizon,
				       s->out, &s->counts);
	if (records)
		writer_empty(s->out, RECORD_FINISHED_ROUND);
	output_flush(s->out);
}

/* Milliseconds to wait for, at most. */
static int patience(const struct sampler *s)
{
	uint64_t time = now(), end = s->began + s->options->duration;

	if (!s->options->duration || end > time + ROUND_MS * 1000000ULL)
		return ROUND_MS;
	return end > time ? (int)((end - time + 999999) / 1000000) : 0;
}

static void take_events(struct sampler *s)
{
	struct epoll_event event[16];
	int n = epoll_wait(s->poll, event, 16, patience(s));

	for (int i = 0; i < n; i++) {
		if (event[i].data.fd == s->target)
			s->done = true;
		else if (event[i].data.fd == s->out->fd)
			s->done = true;
		/* nobody writes there now */
		else if (event[i].events & (EPOLLHUP | EPOLLERR))
			epoll_ctl(s->poll, EPOLL_CTL_DEL, event[i].data.fd, NULL);
	}
}

static void loop(struct sampler *s)
{
	const struct sampler_options *o = s->options;

	while (!s->done) {
		take_events(s);
		drain(s, now() - HOLD_BACK);
		if (*o->stop || output_ended(s->out) || !target_lives(s) ||
		    (o->duration && now() >= s->began + o->duration))
			s->done = true;
	}
	s->ended = now();
	counters_stop();
	drain(s, UINT64_MAX);
}

static void summarize(const struct sampler *s)
{
	const struct merge_counts *c = &s->counts;
	double seconds = (double)(s->ended - s->began) / 1e9;
	struct rusage used;

	if (c->lost)
		report_note(s->report, "%" PRIu64 " records were lost: the ring was full; "
			    "enlarge it with -m, or sample less often", c->lost);
	if (c->throttled)
		report_note(s->report, "throttled %" PRIu64 " times: the kernel stopped an event "
			    "that came too fast; sample less often", c->throttled);
	getrusage(RUSAGE_SELF, &used);
	report_summary(s->report, "%" PRIu64 " samples in %.3f s (%.0f/s), %" PRIu64 " lost, "
		       "throttled %" PRIu64 " times, %" PRIu64 " bytes, %zu threads, "
		       "%zu event fds; CPU %ld ms, %ld KiB resident", c->samples, seconds,
		       (double)c->samples / seconds, c->lost, c->throttled, s->out->written,
		       s->threads.count, s->counters.fds,
		       used.ru_utime.tv_sec * 1000 + used.ru_utime.tv_usec / 1000 +
		       used.ru_stime.tv_sec * 1000 + used.ru_stime.tv_usec / 1000, used.ru_maxrss);
}

void sampler_run(const struct sampler_options *options, struct output *out, struct report *report)
{
	struct sampler s = { .options = options, .out = out, .report = report,
			     .poll = -1, .target = -1 };

	prepare_events(&s);
	if (!counters_init(&s.counters, options->events, options->ring_size, report) ||
	    !open_target(&s))
		goto out;
	s.began = now();
	write_beginning(&s);
	if (!watch_all(&s) ||
	    (options->command && !child_go(&s.child, options->command[0], report)))
		goto out;
	loop(&s);
	about_write_span(out, s.began, s.ended);
	summarize(&s);
out:
	child_stop(&s.child);
	if (s.poll >= 0)
		close(s.poll);
	if (s.target >= 0)
		close(s.target);
	counters_close(&s.counters);
	threads_release(&s.threads);
	events_release(&s.events);
}
