/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notes - prints messages for a user at a terminal: what is sampled, and why there are no samples.
 */
#include "sample/internal.h"
#include "record/events.h"

#include <inttypes.h>
#include <stdio.h>

static void name_target(const struct target *t, char *text, size_t size)
{
	if (t->command)
		snprintf(text, size, "'%.100s'", *t->command);
	else if (t->pids == 1)
		snprintf(text, size, "process %d", (int)*t->pid);
	else if (t->pids)
		snprintf(text, size, "%zu processes", t->pids);
	else if (t->tids)
		snprintf(text, size, "%zu thread%s", t->tids, t->tids == 1 ? "" : "s");
	else if (t->cgroup)
		snprintf(text, size, "a cgroup");
	else if (t->cpus.count)
		snprintf(text, size, "%zu CPU%s", t->cpus.count, t->cpus.count == 1 ? "" : "s");
	else
		snprintf(text, size, "all CPUs");
}

void sampler_announce(const struct sampler *s)
{
	const struct sampler_options *o = s->options;
	size_t events = s->sampled;
	char target[128], more[32] = "";

	if (!o->shown_file)
		return;
	name_target(o->target, target, sizeof(target));
	if (events > 1)
		snprintf(more, sizeof(more), " and %zu more", events - 1);
	report_note(s->report, "sampling %s by %s%s into '%s'; Ctrl-C ends it", target,
		    o->events->event[0].name, more, o->shown_file);
}

void sampler_report_written(const struct sampler *s)
{
	if (s->options->shown_file)
		report_note(s->report, "wrote %.3f MB (%" PRIu64 " samples) to '%s'",
			    (double)(s->bytes + s->out->written) / 1e6, s->flow.counts.samples,
			    s->options->shown_file);
}

/* The target did not run while it was recorded.  Explain that. */
static void explain_sleep(const struct sampler_options *o, char *why, size_t size)
{
	const struct target *t = o->target;
	const char *who = target_is_by_cpu(t) ? "what was recorded"
			: t->pids + t->tids > 1 ? "the target" : t->tids ? "the thread"
			: "the process";

	if (o->settings.waits)
		snprintf(why, size, "%s did not run, and may not be asked where it waits", who);
	else
		snprintf(why, size, "%s did not run; --off-cpu shows where it waits", who);
}

/* Explain why EVENT, with its TOTAL, gave no samples.  "": unknown. */
static void explain_silence(const struct sampler_options *o, const struct event *event,
			    const struct counters_total *total, char *why, size_t size)
{
	uint64_t period = event_mean_period(&event->attr, 0, 0);

	if (total->enabled == 0)
		explain_sleep(o, why, size);
	else if (total->count == 0)
		snprintf(why, size, "'%s' did not happen", event->name);
	else if (total->count >= period && period)
		snprintf(why, size, "%s", event->attr.exclude_kernel ? "the event may have "
			 "happened only in the kernel, which is not sampled" : "");
	else if (event_is_clock(&event->attr))
		snprintf(why, size, "the target ran for only %.3f ms; -F takes more samples per "
			 "second", (double)total->count / 1e6);
	else
		snprintf(why, size, "'%s' was counted only %" PRIu64 " times; -c 1 samples each "
			 "of them, -F takes more samples per second", event->name, total->count);
}

void sampler_report_no_samples(const struct sampler *s)
{
	const struct event_list *events = s->options->events;
	char why[256] = "";
	bool any = false;

	if (s->flow.counts.samples || s->flow.counts.lost || s->options->flight_recorder)
		return;
	for (size_t i = 0; i < s->sampled && !*why; i++) {
		const struct event *event = &events->event[i];
		if (!event->attr.sample_period || event_is_dummy(&event->attr))
			continue;
		any = true;
		explain_silence(s->options, event, &s->total[i], why, sizeof(why));
	}
	if (s->delayed)
		snprintf(why, sizeof(why), "counting had not started (--delay, --control)");
	if (!*why && any)
		snprintf(why, sizeof(why), "let it run longer, or sample more often (-F 10000)");
	if (*why)
		report_note(s->report, "no samples: %s", why);
}
