/* SPDX-License-Identifier: Apache-2.0 */
/* totals - writes the end of each stream, and the summary for the user: counts, losses, costs. */
#include "base/units.h"
#include "record/events.h"
#include "sample/internal.h"
#include "stream/writer.h"
#include "target/features.h"

#include <inttypes.h>
#include <sys/resource.h>

enum { SILENT_NS = 10000000 };	/* an event that counts nothing for so long may not exist */

/*
 * Write a READ record (linux/perf_event.h) for EVENT: u32 pid, tid; value, time enabled, time
 * running, id, lost; sample_id.  With several files, the values are those of the current file.
 */
static void write_total(struct sampler *s, uint32_t event)
{
	struct counters_total *previous = &s->previous[event];
	static const uint8_t zeros[64];
	const struct perf_event_attr *attr = &s->options->events->event[event].attr;
	const struct ids *ids = &s->counters.ids[event];
	const struct counters_total total = s->total[event];
	struct writer w;

	if (!ids->count || attr->read_format & PERF_FORMAT_GROUP)
		return;
	writer_begin(&w, s->out, PERF_RECORD_READ, 0);
	writer_u64(&w, UINT64_MAX);	/* pid and tid -1: no single process */
	writer_u64(&w, total.count - previous->count);
	writer_u64(&w, total.enabled - previous->enabled);
	writer_u64(&w, total.running - previous->running);
	writer_u64(&w, ids->id[0]);
	if (attr->read_format & PERF_FORMAT_LOST)
		writer_u64(&w, total.lost - previous->lost);
	writer_bytes(&w, zeros, sampler_layout(s)->trailer_size);
	writer_end(&w);
	*previous = total;
}

/*
 * Return whether the kernel also counts EVENT for a task that does not run: for a tracepoint with
 * __perf_task() (include/trace/events/sched.h).  perf_tp_event() then also counts it in the events
 * of that task, but takes no samples.
 */
static bool counts_twice(const struct sampler *s, const struct event *event)
{
	static const char *const names[] = {
		EVENT_WAKING, "sched:sched_wakeup", "sched:sched_wakeup_new",
		"sched:sched_stat_wait", "sched:sched_stat_sleep", "sched:sched_stat_iowait",
		"sched:sched_stat_blocked",
	};

	if (event->attr.type != PERF_TYPE_TRACEPOINT || target_is_by_cpu(s->options->target))
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(event->base, names[i]))
			return true;
	return false;
}

/* Return what the samples of event I, including lost samples, stand for. */
static uint64_t known_of(const struct sampler *s, uint32_t i)
{
	const struct perf_event_attr *attr = &s->options->events->event[i].attr;
	const struct flow_event *e = &s->flow.event[i];

	return e->sum + s->total[i].lost * event_mean_period(attr, e->samples, e->sum);
}

void sampler_write_end(struct sampler *s)
{
	counters_totals(&s->counters, s->flow.owners.twice, s->flow.owners.tasks, s->total);
	for (uint32_t i = 0; i < s->options->events->count; i++) {
		struct doubt_samples samples = flow_samples(&s->flow, i);
		doubt_leave_out(&s->total[i], &samples);
		uint64_t *count = &s->total[i].count, known = known_of(s, i);
		if (counts_twice(s, &s->options->events->event[i]) && *count > known)
			*count = known;
		write_total(s, i);
	}
	features_write_time_span(s->out, s->file_start, s->end_time);
}

/* Return whether EVENT is counted by a CPU core; most of these events happen all the time. */
static bool counts_in_hardware(const struct event *event)
{
	return event_needs_counter(&event->attr) &&
	       (!event->pmu || strstr(event->pmu, "cpu") || strstr(event->pmu, "armv"));
}

/* Report the totals of each event.  Returns the longest time enabled, in ns. */
static uint64_t report_totals(const struct sampler *s)
{
	uint64_t longest = 0;

	for (uint32_t i = 0; i < s->sampled; i++) {
		const struct counters_total t = s->total[i];
		const char *name = s->options->events->event[i].name;
		double share = t.enabled ? (double)t.running / (double)t.enabled : 1;

		report_summary(s->report, "%s: %" PRIu64 " counted in %.3f s, lost %" PRIu64
			       " samples", name, t.count, (double)t.running / 1e9, t.lost);
		if (t.count == 0 && t.running > SILENT_NS &&
		    counts_in_hardware(&s->options->events->event[i]))
			report_note(s->report, "'%s' has counted nothing in %.3f s: perhaps this "
				    "CPU accepts its code, but does not have the event", name,
				    (double)t.running / 1e9);
		if (share < 0.95 && t.enabled > 0 && !s->delayed &&
		    counters_new_cpu(&s->counters) < 0)
			report_note(s->report, "'%s' counted only %.0f %% of the time: there are "
				    "more events than counters", name, 100 * share);
		if (t.enabled > longest)
			longest = t.enabled;
	}
	return longest;
}

/* Report if more than 1 % of a count may have been counted twice. */
static void report_doubt(const struct sampler *s)
{
	for (uint32_t i = 0; i < s->sampled; i++) {
		double percent = doubt_percent(&s->total[i]);
		if (percent <= 0)
			continue;
		report_note(s->report, "'%s': the count and the lost samples are upper bounds; the "
			    "count may be %.0f %% too high: threads began while events were "
			    "opened, and records of that were lost",
			    s->options->events->event[i].name, percent);
		return;
	}
}

/* Say what makes samples rarer or smaller.  There is one for each wait, which nobody can choose. */
static const char *how_to_sample_less(const struct sample_settings *settings)
{
	enum { FEW = 8192 };	/* bytes of a stack */

	if (!settings->wakes)
		return "sample less often, ";
	return settings->callchain == CHAIN_DWARF && settings->stack_bytes > FEW
		? "copy less of each stack (--unwind --call-graph dwarf,8192), " : "";
}

static void report_lost(const struct sampler *s)
{
	const struct flow_counts *c = &s->flow.counts;
	const char *less = how_to_sample_less(&s->options->settings);
	bool switches = s->options->settings.switches;

	if (c->lost && counters_have_lost(&s->counters))
		report_note(s->report, "%" PRIu64 " of %" PRIu64 " samples were lost: there was no "
			    "room for them; %senlarge the rings with -m, or, for a reader that "
			    "stalls, --buffer", c->lost, c->samples + c->lost, less);
	else if (c->lost)
		report_note(s->report, "%" PRIu64 " records were lost, samples or others: there "
			    "was no room for them; %senlarge the rings with -m, or, for a reader "
			    "that stalls, --buffer; before Linux 6.0 the kernel does not count "
			    "the last losses", c->lost, less);
	if (c->lost_others)
		report_note(s->report, "%" PRIu64 " records of %smappings, names and processes "
			    "were lost: %snames of functions may be missing; enlarge the rings "
			    "with -m", c->lost_others, switches ? "switches, " : "",
			    switches ? "waits and " : "");
}

/* Report how many samples have labels. */
static void report_labels(const struct sampler *s)
{
	const struct label_records *c = &s->labels.counts;

	if (s->flow.labels)
		report_summary(s->report, "labels: %" PRIu64 " samples labelled, %" PRIu64
			       " without, %" PRIu64 " unreadable, %" PRIu64 " not known, %" PRIu64
			       " cut", c->labelled, c->without, c->unreadable, c->unknown, c->cut);
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

/*
 * Report how many of ALL stacks were followed by frame pointers, although the user asked for
 * unwinding.
 */
static void report_beyond(const struct sampler *s, const struct relay *r, uint64_t all)
{
	const struct unwind_budget *b = &s->options->unwind_budget;
	char memory[UNITS_SIZE], late[64] = "";

	if (!r->beyond) {
		report_note(s->report, "%" PRIu64 " of %" PRIu64 " stacks were followed by frame "
			    "pointers: the process that unwinds was too slow", r->late, all);
		return;
	}
	units_format_size(memory, b->memory);
	if (r->late)
		snprintf(late, sizeof(late), " (%" PRIu64 " because it was too slow)", r->late);
	report_note(s->report, "%" PRIu64 " of %" PRIu64 " stacks were followed by frame pointers: "
		    "unwinding may take %g %% of the CPU time and %s of memory%s; "
		    "--unwind=SHARE,SIZE changes that", r->beyond + r->late, all, 100 * b->cpu,
		    memory, late);
}

/* Report stacks that the helper did not unwind, and its cost. */
static void report_unwinding(const struct sampler *s)
{
	const struct relay *r = &s->flow.relay;

	if (!r->helper)
		return;
	uint64_t all = r->kept + r->without + r->unwound + r->beyond + r->late +
		       r->spared;
	double cost = seconds(r->used) + seconds(r->helper->used.ru_utime) +
		      seconds(r->helper->used.ru_stime);
	if (r->kept)
		report_note(s->report, "%" PRIu64 " of %" PRIu64 " stacks were recorded as they "
			    "are: the process that unwinds them %s; put pmu-unwind after "
			    "pmu-sample", r->kept, all,
			    r->hung ? "hung or was stopped" : "was too slow");
	if (r->without)
		report_note(s->report, "%" PRIu64 " of %" PRIu64 " stacks were recorded as they "
			    "are, while the process that unwinds them did not run; put pmu-unwind "
			    "after pmu-sample", r->without, all);
	if (r->beyond + r->late)
		report_beyond(s, r, all);
	if (r->spared)
		report_summary(s->report, "%" PRIu64 " stacks left to frame pointers, which find "
			       "nearly all callers", r->spared);
	report_summary(s->report, "%" PRIu64 " stacks unwound in %.3f s of another process's CPU "
		       "time%s", r->unwound, cost,
		       r->all_starts ? ", which was started more than once" : "");
}

/* Write COUNT of EVENT to TEXT, as "0.825 s" or "1234567". */
static void format_count(char *text, size_t size, const struct event *event, uint64_t count)
{
	if (event_is_clock(&event->attr))
		snprintf(text, size, "%.3f s", (double)count / 1e9);
	else
		snprintf(text, size, "%" PRIu64, count);
}

/* Say why samples of EVENT are missing.  BY_ENDS: they may be the ends of tasks. */
static const char *why_unsampled(const struct sampler *s, const struct event *event, bool by_ends)
{
	bool is_clock = event_is_clock(&event->attr);

	if (by_ends)
		return "threads were too short for a sample; -a samples CPUs, whatever runs there";
	if (!s->flow.labels && event->attr.type == PERF_TYPE_TRACEPOINT)
		return "the kernel did not take all samples";
	if (!s->flow.labels)
		return is_clock ? "the timer came late, as in a busy virtual machine; sample less "
				  "often"
				: "the kernel did not take all samples; sample less often";
	return is_clock
		? "the kernel did not take all samples; of an event with labels it takes none "
		  "while another BPF program runs on the CPU, and the clocks of a busy virtual "
		  "machine are late"
		: "the kernel did not take all samples; of an event with labels it takes none "
		  "while another BPF program runs on the CPU";
}

/*
 * Report if the samples of event I, with the lost samples, represent much less than was
 * counted.  A task loses half a period per CPU, on average, when it ends: with many short
 * threads, that can be most of the count.
 *
 * With labels, one sample in a hundred is much: while another BPF program runs on a CPU, the kernel
 * does not run ours, writes no sample, and does not count it as lost.  But a clock also counts what
 * it takes to switch threads, and the clocks of a busy virtual machine are late.
 */
static void report_unsampled(const struct sampler *s, uint32_t i)
{
	enum { PERIODS = 20 };	/* a smaller difference may be chance */
	const struct event *event = &s->options->events->event[i];
	const struct flow_event *e = &s->flow.event[i];
	uint64_t period = event_mean_period(&event->attr, e->samples, e->sum);
	uint64_t known = known_of(s, i), counted = s->total[i].count;
	if (s->flow.labels && event_is_clock(&event->attr) && counted > s->total[i].running)
		counted = s->total[i].running;
	uint64_t missed = counted > known ? counted - known : 0;
	uint64_t tasks = s->flow.counts.tasks + s->threads.count;
	char all[32], in_samples[32];

	/* Before Linux 6.0 it is not known how many samples were lost: report_lost() says so. */
	if (s->flow.counts.lost && !counters_have_lost(&s->counters))
		return;
	if (s->flow.flight_recorder || s->flow.processes.on || !event_samples_all(&event->attr) ||
	    missed < PERIODS * period || period == 0)
		return;
	bool by_ends = !target_is_by_cpu(s->options->target) &&
		       missed / period <= tasks * s->counters.cpus;
	if (missed <= counted / (s->flow.labels && !by_ends ? 100 : 10))
		return;
	format_count(all, sizeof(all), event, counted);
	format_count(in_samples, sizeof(in_samples), event, known);
	report_note(s->report, "'%s': %s counted, but samples stand for %s: %s", event->name, all,
		    in_samples, why_unsampled(s, event, by_ends));
}

void sampler_summarize(struct sampler *s)
{
	const struct flow_counts *c = &s->flow.counts;
	double elapsed = (double)(s->end_time - s->start_time) / 1e9;
	double of_target = (double)report_totals(s) / 1e9;
	int missed = counters_new_cpu(&s->counters);
	struct rusage used;

	if (missed >= 0)
		report_note(s->report, "CPU %d came online meanwhile: what ran there is not "
			    "sampled", missed);
	if (s->options->note && (c->samples || c->lost))
		report_note(s->report, "%s", s->options->note);
	report_lost(s);
	report_doubt(s);
	report_unwinding(s);
	report_labels(s);
	for (uint32_t i = 0; i < s->sampled; i++) {
		report_unsampled(s, i);
		sampler_report_excess(s, i);
	}
	if (c->throttled)
		report_note(s->report, "throttled %" PRIu64 " times: the kernel stopped an event "
			    "that came too fast; sample less often", c->throttled);
	if (!sampler_report_children(s) && !sampler_report_unseen(s))
		sampler_report_no_samples(s);
	sampler_report_daemons(s);
	sampler_report_written(s);
	getrusage(RUSAGE_SELF, &used);
	double own = seconds(used.ru_utime) + seconds(used.ru_stime);
	report_summary(s->report, "%" PRIu64 " samples in %.3f s (%.0f/s), %" PRIu64 " lost, "
		       "throttled %" PRIu64 " times, %" PRIu64 " bytes", c->samples, elapsed,
		       elapsed > 0 ? (double)c->samples / elapsed : 0, c->lost, c->throttled,
		       s->bytes + s->out->written);
	if (s->options->waits_min)
		report_summary(s->report, "%" PRIu64 " waits were shorter than --waits-min: their "
			       "stacks are left out", s->flow.shorts.replaced);
	if (s->flow.foreign.count)
		report_summary(s->report, "%" PRIu64 " samples had the ID of another session's "
			       "event, as Linux leaves it there: they were given ours",
			       s->flow.foreign.count);
	if (s->flow.processes.on)
		report_summary(s->report, "%" PRIu64 " records of other processes were dropped",
			       s->flow.processes.dropped);
	report_summary(s->report, "%zu threads, %zu event fds; sampling took %.3f s of CPU time, "
		       "%.2f %% of the target's %.3f s; %ld KiB resident", s->threads.count,
		       s->counters.count, own, of_target > 0 ? 100 * own / of_target : 0,
		       of_target, used.ru_maxrss);
}
