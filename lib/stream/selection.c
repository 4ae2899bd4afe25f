/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/selection.h"
#include "base/arena.h"
#include "base/units.h"
#include "record/label-record.h"
#include "stream/tasks.h"

#include <stdlib.h>

const char *selection_parse_time(const char *text, void *selection)
{
	const char *comma = strchr(text, ',');
	size_t length = comma ? (size_t)(comma - text) : 0;
	struct selection *c = selection;
	char from[32];

	if (!comma || length >= sizeof(from))
		return text;
	snprintf(from, sizeof(from), "%.*s", (int)length, text);
	return (!*from || units_parse_duration(from, &c->from)) &&
	       (!comma[1] || units_parse_duration(comma + 1, &c->to)) ? NULL : text;
}

bool selection_restricts(const struct selection *c)
{
	return c->pid >= 0 || c->tid >= 0 || c->cpu >= 0 || c->comm || c->event || c->from || c->to;
}

static bool is_called(const char *wanted, const char *name)
{
	return !wanted || (name && !strcmp(name, wanted));
}

bool selection_contains(const struct selection *c, const struct selection_values *s)
{
	return (c->pid < 0 || s->pid == c->pid) && (c->tid < 0 || s->tid == c->tid) &&
	       (c->cpu < 0 || s->cpu == (uint32_t)c->cpu) && s->time >= c->from &&
	       (!c->to || s->time < c->to) && is_called(c->event, s->event) &&
	       is_called(c->comm, s->comm);
}

/* Return the name of the event of S; if S is a labels record, the name of its sample's event. */
static const char *event_of(const struct selection *c, const struct stream_events *events,
			    const struct sample *s)
{
	const struct stream_event *event = &events->event[s->event];
	struct label_record labels;

	if (!event->is_labels || is_called(c->event, event->name) ||
	    label_record_read(s->raw, &labels) || labels.event >= events->count)
		return event->name;
	return events->event[labels.event].name;
}

bool selection_takes(const struct selection *c, const struct stream_events *events,
		     const struct sample *s, const char *comm)
{
	return selection_contains(c, &(struct selection_values){
		s->pid, s->tid, s->cpu, s->time, event_of(c, events, s), comm });
}

bool selection_keeps(struct selection *c, struct stream_reader *in, const struct record *rec)
{
	struct sample s;

	if (c->comm && !c->tasks)
		c->tasks = mem_zeroed(1, sizeof(*c->tasks));
	if (rec->type != PERF_RECORD_SAMPLE) {
		if (c->comm) {
			tasks_follow(c->tasks, rec);
			stream_note_tasks(in, c->tasks);
		}
		return true;
	}
	if (!stream_sample(in, rec, &s))
		return false;
	return selection_takes(c, stream_events(in), &s,
			       c->comm ? tasks_name_text(c->tasks, s.tid) : "");
}

void selection_release(struct selection *c)
{
	if (c->tasks)
		tasks_release(c->tasks);
	free(c->tasks);
	c->tasks = NULL;
}

bool selection_check_event(const struct selection *s, const struct stream_events *events,
			   struct report *report)
{
	char names[400] = "";

	if (!s->event || events->count == 0)
		return true;
	for (uint32_t i = 0; i < events->count; i++) {
		size_t used = strlen(names);
		if (!strcmp(events->event[i].name, s->event))
			return true;
		snprintf(names + used, sizeof(names) - used, " '%s'", events->event[i].name);
	}
	report_error(report, "the stream has no event '%s'; it has%s", s->event, names);
	return false;
}
