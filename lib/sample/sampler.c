/* SPDX-License-Identifier: Apache-2.0 */
#include "sample/sampler.h"
#include "sample/about.h"
#include "sample/attach.h"
#include "sample/child.h"
#include "sample/existing.h"
#include "sample/merge.h"
#include "stream/writer.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	/* ms: a round at least this often, so that a live pipe is live */
	ROUND_MS = 100,
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
	int *process;		/* pidfds of those whose end is ours */
	size_t processes, alive;
	uint64_t began, ended;	/* ns of the records' clock */
	bool delayed;		/* counting has not begun */
	bool done;
};

static uint64_t now(const struct sampler *s)
{
	struct timespec t;

	clock_gettime(s->options->wants.clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Prepare the attrs; know where the time lies in their records. */
static bool prepare_events(struct sampler *s)
{
	const struct target *t = s->options->target;
	const struct wants_opening opening = {
		.on_exec = t->command, .delayed = s->options->delay,
		.inherit = !target_is_by_cpu(t) && !t->tids,
		.threads_only = !t->command && !t->children,
		.wakeup = (uint32_t)(s->options->ring_size / 4),
	};
	const struct event_options presets = { 0 };
	const char *error;

	/* One that counts nothing tells of mappings and threads while the others wait. */
	if (s->options->delay && !event_parse(s->options->events, &presets, "dummy", s->report))
		return false;
	if (!wants_apply(&s->options->wants, &opening, s->options->events, s->report))
		return false;
	for (size_t i = 0; i < s->options->events->count; i++)
		events_add(&s->events, &s->options->events->event[i].attr,
			   sizeof(struct perf_event_attr), (struct cursor){ 0 }, &error);
	return true;
}

static const struct sample_layout *layout(const struct sampler *s)
{
	return &s->events.event[0].layout;
}

static bool open_target(struct sampler *s)
{
	const struct target *t = s->options->target;
	bool ended;

	if (!t->command)
		return attach(&s->counters, t, &s->threads, s->report);
	return child_start(&s->child, t->command, s->out->fd == STDOUT_FILENO, s->report) &&
	       counters_open(&s->counters, s->child.pid, 0, &ended);
}

static void write_process(pid_t pid, void *context)
{
	struct sampler *s = context;
	size_t first = s->threads.count;

	if (target_is_by_cpu(s->options->target))
		threads_scan(&s->threads, pid);
	else
		first = 0;
	for (size_t i = first; i < s->threads.count; i++)
		if (s->threads.thread[i].pid == pid)
			existing_thread(s->out, layout(s), pid, s->threads.thread[i].tid);
	existing_mappings(s->out, layout(s), pid,
			  s->options->wants.callchain == CHAIN_DWARF);
}

static void write_processes(struct sampler *s)
{
	const struct target *t = s->options->target;

	if (target_is_by_cpu(t))
		target_each_process(write_process, s);
	for (size_t i = 0; i < t->pids; i++)
		write_process(t->pid[i], s);
	for (size_t i = 0; i < t->tids; i++)
		for (size_t k = 0; k < s->threads.count; k++)
			if (s->threads.thread[k].tid == t->tid[i])
				write_process(s->threads.thread[k].pid, s);
}

/* All that comes before the kernel's own records. */
static void write_beginning(struct sampler *s)
{
	const struct sampler_options *o = s->options;

	writer_header(s->out);
	about_write_recorder(s->out, o->remark);
	for (size_t i = 0; i < o->events->count; i++) {
		const struct ids *ids = &s->counters.ids[i];
		writer_attr(s->out, &o->events->event[i].attr, ids->id, ids->count);
		if (ids->count)
			writer_event_name(s->out, ids->id[0], o->events->event[i].name);
	}
	about_write(s->out, o->argc, o->argv, o->wants.clock);
	existing_kernel(s->out, layout(s));
	write_processes(s);
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

	s->alive += fd >= 0;
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
	if (t->command)
		watch_process(s, s->child.pid);
	for (size_t i = 0; i < t->pids; i++)
		watch_process(s, t->pid[i]);
	watch(s, s->out->fd, 0);	/* EPOLLERR: its reader has gone */
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

	if (target_is_by_cpu(t) || s->alive > 0)
		return true;
	for (size_t i = 0; i < s->processes; i++)
		if (s->process[i] < 0 && lives(t->command ? s->child.pid : t->pid[i]))
			return true;
	for (size_t i = 0; i < t->tids; i++)
		if (lives(t->tid[i]))
			return true;
	return false;
}

/*
 * Move what the rings hold to the output.  While it waits for a slow reader
 * with a full buffer the rings keep it, and what they cannot keep the kernel
 * counts as lost.
 */
static void drain(struct sampler *s, uint64_t horizon)
{
	if (output_waiting(s->out) >= s->options->buffer_size && horizon != UINT64_MAX)
		return;
	uint64_t records = merge_rings(s->counters.ring, s->counters.cpus, layout(s), horizon,
				       s->out, &s->counts);
	if (records)
		writer_empty(s->out, RECORD_FINISHED_ROUND);
	output_flush(s->out);
}

/* When something is due that no descriptor tells of: the begin or end of counting; 0: never. */
static uint64_t next_due(const struct sampler *s)
{
	if (s->delayed)
		return s->began + s->options->delay;
	return s->options->duration ? s->began + s->options->delay + s->options->duration : 0;
}

/* Milliseconds to wait for, at most. */
static int patience(const struct sampler *s)
{
	uint64_t time = now(s), due = next_due(s);

	if (!due || due > time + ROUND_MS * 1000000ULL)
		return ROUND_MS;
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
			s->alive--;
			return;
		}
	if (event->events & (EPOLLHUP | EPOLLERR))	/* nobody writes to this ring now */
		epoll_ctl(s->poll, EPOLL_CTL_DEL, fd, NULL);
}

static void loop(struct sampler *s)
{
	struct epoll_event event[16];

	while (!s->done) {
		int n = epoll_wait(s->poll, event, 16, patience(s));
		for (int i = 0; i < n; i++)
			take_event(s, &event[i]);
		drain(s, now(s) - HOLD_BACK);
		bool is_due = next_due(s) && now(s) >= next_due(s);
		if (is_due && s->delayed) {
			counters_start();
			s->delayed = false;
			is_due = false;
		}
		if (*s->options->stop || output_ended(s->out) || is_due || !any_lives(s))
			s->done = true;
	}
	s->ended = now(s);
	counters_stop();
	drain(s, UINT64_MAX);
}

/*
 * A READ record (linux/perf_event.h) per event: u32 pid, tid; value, time
 * enabled, time running, id, lost; sample_id.
 */
static void write_total(struct sampler *s, uint32_t event, const struct counters_total *total)
{
	static const uint8_t zeros[64];
	const struct perf_event_attr *attr = &s->options->events->event[event].attr;
	const struct ids *ids = &s->counters.ids[event];
	struct writer w;

	if (!ids->count || attr->read_format & PERF_FORMAT_GROUP)
		return;
	writer_begin(&w, s->out, PERF_RECORD_READ, 0);
	writer_u64(&w, UINT64_MAX);	/* no one process */
	writer_u64(&w, total->count);
	writer_u64(&w, total->enabled);
	writer_u64(&w, total->running);
	writer_u64(&w, ids->id[0]);
	if (attr->read_format & PERF_FORMAT_LOST)
		writer_u64(&w, total->lost);
	writer_bytes(&w, zeros, layout(s)->trailer_size);
	writer_end(&w);
}

/* What each event counted, and whether it did all the time. */
static void write_totals(struct sampler *s)
{
	for (uint32_t i = 0; i < s->options->events->count; i++) {
		struct counters_total t = counters_total(&s->counters, i);
		const char *name = s->options->events->event[i].name;
		double share = t.enabled ? (double)t.running / (double)t.enabled : 1;

		write_total(s, i, &t);
		report_summary(s->report, "%s: %" PRIu64 " counted in %.3f s, lost %" PRIu64
			       " samples", name, t.count, (double)t.running / 1e9, t.lost);
		if (share < 0.95 && t.enabled > 0)
			report_note(s->report, "'%s' counted only %.0f %% of the time: more events "
				    "were asked for than there are counters", name, 100 * share);
	}
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
		       s->threads.count, s->counters.count,
		       used.ru_utime.tv_sec * 1000 + used.ru_utime.tv_usec / 1000 +
		       used.ru_stime.tv_sec * 1000 + used.ru_stime.tv_usec / 1000, used.ru_maxrss);
}

static void release(struct sampler *s)
{
	for (size_t i = 0; i < s->processes; i++)
		if (s->process[i] >= 0)
			close(s->process[i]);
	if (s->poll >= 0)
		close(s->poll);
	free(s->process);
	counters_close(&s->counters);
	threads_release(&s->threads);
	events_release(&s->events);
}

int sampler_run(const struct sampler_options *options, struct output *out, struct report *report)
{
	struct sampler s = { .options = options, .out = out, .report = report, .poll = -1,
			     .delayed = options->delay };
	const struct target *t = options->target;

	if (!prepare_events(&s) ||
	    !counters_init(&s.counters, options->events, t, options->ring_size, report) ||
	    !open_target(&s))
		goto out;
	s.began = now(&s);
	if (options->buffer_size)
		output_make_elastic(out);	/* after the fork: it starts a thread */
	write_beginning(&s);
	if (!watch_all(&s) || (t->command && !child_go(&s.child, t->command[0], report)))
		goto out;
	loop(&s);
	write_totals(&s);
	about_write_span(out, s.began + options->delay, s.ended);
	summarize(&s);
out:;
	int status = child_stop(&s.child);
	release(&s);
	return status;
}
