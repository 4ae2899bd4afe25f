/* SPDX-License-Identifier: Apache-2.0 */
#include "show/tally.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/json.h"
#include "resolved/resolved.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void add_sample(struct tally *t, uint32_t event, uint64_t period)
{
	for (; t->events <= event; t->events++) {
		t->event = array_grow(t->event, t->events, sizeof(*t->event));
		t->event[t->events] = (struct tally_event){ 0 };
	}
	t->event[event].samples++;
	t->event[event].sum += period;
}

/* The counters of threads that have ended are not needed any more. */
static void forget_ended(struct tally *t, struct stream_reader *in, const struct record *rec)
{
	if (t->groups.counters == 0)
		return;
	tasks_follow(&t->tasks, rec);
	stream_note_tasks(in, &t->tasks);
	stream_note_groups(in, &t->groups);
	for (uint32_t i = 0; i < t->tasks.forgotten_count; i++)
		groups_forget(&t->groups, t->tasks.forgotten[i].tid);
}

void tally_add(struct tally *t, struct stream_reader *in, const struct record *rec)
{
	struct group_increase increase[GROUP_EVENTS_MAX];
	struct sample_brief brief;
	struct loss loss;
	struct sample sample;

	t->records++;
	t->bytes += record_size(rec);
	if (rec->type < TALLY_TYPES)
		t->type[rec->type]++;
	else if (record_is_resolved(rec->type))
		t->resolved[rec->type - RECORD_STRING]++;
	else
		t->unknown++;
	if (rec->type == PERF_RECORD_SAMPLE && stream_count_sample(in, rec, &brief)) {
		add_sample(t, brief.event, brief.period);
		clock_widen(&t->first_time, &t->last_time, brief.time);
		label_counts_add(&t->labels, LABELS_UNKNOWN, 0);
		return;
	}
	if (rec->type == PERF_RECORD_SAMPLE) {
		if (!stream_sample(in, rec, &sample))
			return;
		if (!label_join_take(&t->join, in, rec, &sample))
			label_counts_add(&t->labels, label_state(sample.labels.is_known,
					 sample.labels.status), sample.labels.flags);
		uint32_t increases = groups_split(&t->groups, stream_events(in), &sample, increase);
		for (uint32_t i = 0; i < increases; i++)
			add_sample(t, increase[i].event, increase[i].period);
		clock_widen(&t->first_time, &t->last_time, sample.time);
		return;
	}
	if ((rec->type == PERF_RECORD_LOST || rec->type == PERF_RECORD_LOST_SAMPLES) &&
	    loss_read(stream_events(in), rec, &loss))
		t->lost.of[loss.kind] += loss.count;
	label_join_follow(&t->join, rec);
	t->throttled += rec->type == PERF_RECORD_THROTTLE;
	forget_ended(t, in, rec);
	clock_widen(&t->first_time, &t->last_time, stream_time(in, rec));
}

static void print_count(bool json, const char *name, uint64_t count)
{
	if (count == 0)
		return;
	if (json) {
		json_key(name, false);
		printf("%" PRIu64, count);
	} else {
		printf("%-20s %12" PRIu64 "\n", name, count);
	}
}

static void print_types(const struct tally *t, bool json)
{
	for (uint32_t i = 0; i < TALLY_TYPES; i++) {
		char number[16];
		const char *name = record_type_name(i);
		snprintf(number, sizeof(number), "%" PRIu32, i);
		print_count(json, name ? name : number, t->type[i]);
	}
	for (uint32_t i = 0; i < sizeof(t->resolved) / sizeof(*t->resolved); i++)
		if (record_type_name(RECORD_STRING + i))
			print_count(json, record_type_name(RECORD_STRING + i), t->resolved[i]);
	print_count(json, "unknown", t->unknown);
}

/* Events without samples are shown, too, but not the dummy events that carry other records. */
static bool shows(const struct tally_event *e, const struct stream_event *event)
{
	return e->samples || !event_is_dummy(&event->attr);
}

static void print_event(const char *name, const struct tally_event *e, bool json, bool is_first)
{
	if (!json) {
		printf("event %s: %" PRIu64 " samples, %" PRIu64 " in all\n", name, e->samples,
		       e->sum);
		return;
	}
	fputs(is_first ? "{" : ", {", stdout);
	json_key("name", true);
	json_string(name);
	printf(", \"samples\": %" PRIu64 ", \"sum\": %" PRIu64 "}", e->samples, e->sum);
}

static void print_events(const struct tally *t, const struct stream_events *events, bool json)
{
	bool is_first = true;

	if (json) {
		json_key("events", false);
		putchar('[');
	}
	for (uint32_t i = 0; i < events->count; i++) {
		const struct tally_event none = { 0 };
		const struct tally_event *e = i < t->events ? &t->event[i] : &none;
		if (!shows(e, &events->event[i]))
			continue;
		print_event(events->event[i].name, e, json, is_first);
		is_first = false;
	}
	if (json)
		putchar(']');
}

/* Print how many samples have labels of the program. */
static void print_labels(const struct tally *t, bool json)
{
	const uint64_t *n = t->labels.samples;
	char text[LABEL_COUNTS_TEXT];

	label_counts_text(&t->labels, text, sizeof(text));
	if (!json) {
		printf("labels: %s\n", text);
		return;
	}
	json_key("labels", false);
	printf("{\"with\": %" PRIu64 ", \"without\": %" PRIu64 ", \"no_record\": %" PRIu64
	       ", \"unreadable\": %" PRIu64 ", \"cut\": %" PRIu64 "}", n[LABELS_SOME],
	       n[LABELS_NONE], n[LABELS_UNKNOWN], n[LABELS_UNREADABLE], t->labels.cut);
}

void tally_print(const struct tally *t, const struct stream_reader *in, bool json)
{
	double span = (double)(t->last_time - t->first_time) / 1e9;
	char lost[LOSS_TEXT];

	loss_text(&t->lost, lost);
	if (json)
		printf("{\"records\": %" PRIu64 ", \"bytes\": %" PRIu64 ", \"lost\": %" PRIu64
		       ", \"lost_records\": %" PRIu64 ", \"lost_others\": %" PRIu64
		       ", \"throttled\": %" PRIu64 ", \"first_time\": %" PRIu64
		       ", \"last_time\": %" PRIu64 ", \"types\": {\"all\": %" PRIu64, t->records,
		       t->bytes, t->lost.of[LOSS_SAMPLES], loss_mixed(&t->lost),
		       t->lost.of[LOSS_OTHERS], t->throttled, t->first_time, t->last_time,
		       t->records);
	else
		printf("%-20s %12" PRIu64 "\n", "records", t->records);
	print_types(t, json);
	if (json)
		putchar('}');
	print_events(t, stream_events(in), json);
	if (stream_events(in)->has_labels && t->type[PERF_RECORD_SAMPLE])
		print_labels(t, json);
	if (json)
		puts("}");
	else
		printf("%" PRIu64 " bytes, %s, throttled %" PRIu64
		       " times; %.6f s from %.6f to %.6f\n", t->bytes, lost, t->throttled, span,
		       (double)t->first_time / 1e9, (double)t->last_time / 1e9);
}

void tally_release(struct tally *t)
{
	free(t->event);
	tasks_release(&t->tasks);
	groups_release(&t->groups);
	label_join_release(&t->join);
	*t = (struct tally){ 0 };
}
