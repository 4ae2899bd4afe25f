/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the records of a stream one by one, and follows what they say. */
#include "library/stream.h"

#include <stdlib.h>

/*
 * Unwind the copy of the stack in S->sample, if it has one: its callchain is then in S->unwound.
 * Return false if the new record is damaged (reported).
 */
static bool unwind_dump(struct pmukit_stream *s)
{
	const struct stream_event *event = &stream_events(s->in)->event[s->sample.event];
	struct record unwound;

	if (!s->unwind || !unwind_takes(s->unwind, &event->attr) ||
	    unwind_sample(s->unwind, event, &s->record, &s->sample, s->unwound) == 0)
		return true;
	record_frame(&unwound, s->unwound, false);
	unwound.offset = s->record.offset;
	return stream_sample(s->in, &unwound, &s->sample);
}

/* Take S->record, a SAMPLE of a raw stream. */
static void take_sample(struct pmukit_stream *s)
{
	s->is_raw = true;
	if (!stream_sample(s->in, &s->record, &s->sample))
		return;
	if (stream_events(s->in)->event[s->sample.event].is_labels) {
		label_join_take(&s->labels, s->in, &s->record, &s->sample);
		s->last = LAST_LABELS;
		return;
	}
	if (!unwind_dump(s))
		return;
	leaf_callers_add(&s->leaf_callers, s->in, &s->sample);
	label_join_take(&s->labels, s->in, &s->record, &s->sample);
	s->increases = groups_split(&s->groups, stream_events(s->in), &s->sample, s->increase);
	s->last = LAST_RAW;
}

/* Follow S->record, of a raw stream, of any type except SAMPLE. */
static void follow(struct pmukit_stream *s)
{
	const struct tasks *tasks = resolver_tasks(s->resolver);

	resolver_follow(s->resolver, s->in, &s->record);
	if (s->unwind)
		unwind_follow(s->unwind, &s->record);
	leaf_callers_follow(&s->leaf_callers, s->in, &s->record);
	label_join_follow(&s->labels, &s->record);
	for (uint32_t i = 0; i < tasks->forgotten_count; i++)
		groups_forget(&s->groups, tasks->forgotten[i].tid);
	stream_note_groups(s->in, &s->groups);
}

/* Take S->record, of a resolved stream.  Return what is wrong with it, or NULL. */
static const char *take_resolved(struct pmukit_stream *s)
{
	const struct record *rec = &s->record;
	struct resolved_tool unused;
	const char *why = NULL;
	bool good;

	if (record_is_resolved_sample(rec->type)) {
		good = resolved_read_sample(&s->reader, rec, stream_events(s->in)->count, s->ids,
					    &s->resolved, &why);
		if (!good)
			return why;
		s->resolved.time = stream_possible_time(s->in, s->resolved.time);
		resolved_translate(&s->reader, &s->resolved);
		resolved_translate_frames(&s->reader, &s->resolved, s->ids);
		s->increase[0].event = s->resolved.event;
		s->increase[0].period = s->resolved.period;
		s->increases = 1;
		s->last = LAST_RESOLVED;
	} else if (rec->type == RECORD_TOOL) {
		good = resolved_read_tool(rec, &unused, &why);
	} else if (rec->type == RECORD_END) {
		good = s->has_end = resolved_read_end(&s->reader, rec, &why);
	} else {
		good = resolved_read_definition(&s->reader, rec, &why);
	}
	return good ? NULL : why;
}

/* Drop definitions that are not in use any more, now that no sample refers to them. */
static void limit_definitions(struct pmukit_stream *s)
{
	struct resolved past = { 0 };

	/* in a resolved stream, ids refer to the sets until it restarts */
	if (!s->is_resolved && label_sets_is_full(&s->tables.labels))
		label_sets_forget(&s->tables.labels);
	if (s->reader.restarted)
		resolved_forget(&s->reader, &past, NULL, 0);
	else if (s->is_raw && resolver_is_full(s->resolver, resolved_memory(&s->tables)))
		resolver_restart(s->resolver, &past, NULL, 0);
	else
		return;
	resolved_release(&past);
	frame_list_forget(&s->frames);
}

void stream_keep_damage(struct pmukit_stream *s)
{
	if (!s->damage[0])
		snprintf(s->damage, sizeof(s->damage), "%s", s->handle.sentence);
}

bool stream_step(struct pmukit_stream *s)
{
	const char *why = NULL;

	s->has_begun = true;
	s->last = LAST_OTHER;
	s->increases = s->increase_at = 0;
	limit_definitions(s);
	if (!stream_next(s->in, &s->record))
		return false;
	bool is_resolved = record_is_resolved(s->record.type);
	if (s->record.type == PERF_RECORD_SAMPLE && s->is_resolved)
		why = RESOLVED_HAS_RAW;
	else if (s->record.type == PERF_RECORD_SAMPLE)
		take_sample(s);
	else if (is_resolved && s->is_raw)
		why = RESOLVED_IN_RAW;
	else if (is_resolved)
		why = take_resolved(s);
	else
		follow(s);
	s->is_resolved |= is_resolved && !s->is_raw;
	if (why)
		stream_damaged(s->in, &s->record, why);
	return true;
}

int stream_end(struct pmukit_stream *s)
{
	struct handle *h = &s->handle;
	struct report *report = &h->report;

	if (s->is_told)
		return 0;
	s->is_told = true;
	if (s->unwind)
		unwind_report(s->unwind);
	if (s->is_stopped)
		return 0;
	if (s->is_resolved && !s->has_end && stream_is_whole(s->in))
		report_error(report, "%s", RESOLVED_NO_END);
	bool is_event = selection_check_event(&s->selection, stream_events(s->in), report);
	if (stream_is_whole(s->in) && is_event && (!s->is_resolved || s->has_end))
		return 0;
	if (s->damage[0])
		snprintf(h->sentence, sizeof(h->sentence), "%s", s->damage);
	if (stream_error(s->in)) {
		h->subject = REPORT_FAILURE;
		h->error = stream_error(s->in);
		return PMUKIT_SYSTEM;
	}
	return is_event ? PMUKIT_DAMAGED : PMUKIT_NOT_FOUND;
}
