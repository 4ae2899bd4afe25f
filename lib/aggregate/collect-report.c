/* SPDX-License-Identifier: Apache-2.0 */
/* Says what a stream lacks for what was asked for, and what became of the program's labels. */
#include "aggregate/as-time.h"
#include "aggregate/collect-blame.h"
#include "record/words.h"

#include <inttypes.h>

/* Report how many samples have labels of the program, and which labels were left out. */
static void summarize_labels(const struct collect *c, struct report *report)
{
	const struct program_labels *labels = &c->labeler.program;
	const struct stream_events *events = stream_events(c->in);
	char text[LABEL_COUNTS_TEXT];

	if (!events->has_labels) {
		if (!c->usual_labels && labeler_wants_program(&c->labeler) && events->count)
			report_error(report, "the stream has no labels of the program: record them "
				     "with pmu-sample --labels");
		return;
	}
	label_counts_text(&c->labels, text, sizeof(text));
	report_summary(report, "labels: %s", text);
	for (uint32_t i = 0; i < labels->keys; i++) {
		const struct program_key *key = &labels->key[i];
		if (key->all_others)
			report_note(report, "the label '%s' has more than %" PRIu64 " values: %"
				    PRIu64 " samples are at " WORD_OTHER "; --max-label-values "
				    "keeps more", key->key, labels->most, key->all_others);
		if (!key->is_seen && c->samples)
			report_note(report, "no sample has the label '%s' of the program",
				    key->key);
	}
	if (labels->keys_left_out)
		report_note(report, "no profile can have more than %d labels: choose some with "
			    "--label label:NAME,...", LABEL_KEYS_MAX);
}

/* Report what the stream lacks for the types and labels that were asked for. */
static void check_switches(const struct collect_options *how, const struct stream_events *events,
			   struct report *report)
{
	const char *needs = how->latency ? "latency" : how->parallelism ? "parallelism" : NULL;
	bool latency = false, waits = false;

	for (uint32_t i = 0; i < events->count; i++) {
		const struct perf_event_attr *attr = &events->event[i].attr;
		latency |= event_is_clock(attr) || event_is_cycles(attr);
		waits |= events_sample_waits(events, i);
	}
	if (events->count == 0)
		return;
	if (needs && !events->switches)
		report_error(report, "--add %s needs the context switches: record them with "
			     "pmu-sample --record switches, or --off-cpu", needs);
	else if (how->latency && !latency)
		report_error(report, "--add latency needs a clock or cycles: the stream has "
			     "neither");
	if (how->wall && (!waits || events_first_clock(events) == TABLE_NONE))
		report_error(report, "--add wall needs a clock, and where threads wait: record "
			     "with pmu-sample --off-cpu -e cpu-clock");
}

static void check_time(const struct collect *c, const struct stream_events *events,
		       struct report *report)
{
	uint32_t event;
	const char *why = as_time_refuses(events, &event);

	if (!c->how.as_time || events->count == 0)
		return;
	if (why)
		report_error(report, "--add time: %s", why);
	else if (!collect_has_time(c))
		report_error(report, "--add time: the stream has no total of '%s': it is cut "
			     "short, or pmu-sample did not write it", events->event[event].name);
}

void collect_report(const struct collect *c, struct report *report)
{
	const struct stream_events *events = stream_events(c->in);

	summarize_labels(c, report);
	check_switches(&c->how, events, report);
	check_time(c, events, report);
	if (c->blame)
		collect_report_blame(c, report);
}
