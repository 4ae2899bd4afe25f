/* SPDX-License-Identifier: Apache-2.0 */
/* The records and samples of a stream, its events and its origin. */
#include "library/stream.h"

#include <stdlib.h>

struct stream_asking {
	struct pmukit_stream *s;
	const struct pmukit_record **record;
	const struct pmukit_sample **sample;
	pmukit_on_sample *on_sample;
	void *context;
	int index;
	const struct pmukit_stream_event *event;
};

static const char *comm_of(const struct pmukit_stream *s)
{
	if (s->last == LAST_RESOLVED)
		return s->tables.string[s->resolved.comm];
	return tasks_name_text(resolver_tasks(s->resolver), s->sample.tid);
}

/* Return whether the last sample is selected as one of the event INDEX. */
static bool is_selected(const struct pmukit_stream *s, uint32_t index)
{
	const struct sample *raw = &s->sample;
	const struct resolved_sample *r = &s->resolved;
	bool is_raw = s->last == LAST_RAW;

	return !s->selects || selection_contains(&s->selection, &(struct selection_values){
		.pid = is_raw ? raw->pid : r->pid, .tid = is_raw ? raw->tid : r->tid,
		.cpu = is_raw ? raw->cpu : r->cpu, .time = is_raw ? raw->time : r->time,
		.event = stream_events(s->in)->event[index].name, .comm = comm_of(s) });
}

/* Return whether the last record is shown: all are, but samples that are not selected. */
static bool is_shown(struct pmukit_stream *s)
{
	if (!s->selects || s->last == LAST_OTHER)
		return true;
	if (s->last == LAST_RESOLVED)
		return is_selected(s, s->resolved.event);
	return selection_takes(&s->selection, stream_events(s->in), &s->sample,
			       tasks_name_text(resolver_tasks(s->resolver), s->sample.tid));
}

static int next_record(void *arguments)
{
	const struct stream_asking *a = arguments;
	struct pmukit_stream *s = a->s;
	const struct record *rec = &s->record;

	do {
		if (!stream_step(s))
			return stream_end(s);
		stream_keep_damage(s);
	} while (!is_shown(s));
	s->shown_record = (struct pmukit_record){
		.type = rec->type, .misc = rec->misc, .time = stream_time(s->in, rec),
		.offset = rec->offset, .bytes = record_bytes(rec), .size = record_size(rec),
	};
	*a->record = &s->shown_record;
	return 1;
}

int pmukit_stream_next(struct pmukit_stream *s, const struct pmukit_record **record)
{
	struct stream_asking a = { .s = s, .record = record };

	if (!record)
		return fail(PMUKIT_WRONG_ARGUMENT, "no place for the record");
	return guarded(s ? &s->handle : NULL, HANDLE_STREAM, next_record, &a);
}

static uint64_t *room_for_callchain(struct pmukit_stream *s, size_t count)
{
	if (count > s->callchain_room) {
		s->callchain_room = 2 * count;
		s->callchain = mem_resize(s->callchain, 8 * s->callchain_room);
	}
	return s->callchain;
}

/* Show the callchain of the last sample: of a resolved one, the addresses in the objects. */
static void show_callchain(struct pmukit_stream *s)
{
	struct pmukit_sample *out = &s->shown;

	if (s->last == LAST_RAW) {
		struct words chain = s->sample.callchain;
		stack_end_take(&chain);
		out->callchain_size = chain.count;
		out->callchain = room_for_callchain(s, chain.count);
		if (chain.count)
			memcpy(s->callchain, chain.at, 8 * chain.count);
		return;
	}
	out->callchain_size = s->resolved.frames;
	out->callchain = room_for_callchain(s, s->resolved.frames);
	for (uint32_t i = 0; i < s->resolved.frames; i++)
		s->callchain[i] = s->tables.frame[s->resolved.frame[i]].address;
	out->ip = s->callchain[0];
}

/* Show the labels in SET, an id of label_sets. */
static void show_labels(struct pmukit_stream *s, uint32_t id)
{
	const struct label_sets *sets = &s->tables.labels;
	const struct label_set *set = &sets->set[id];

	for (uint32_t i = 0; i < set->pairs; i++) {
		struct label_pair pair = sets->pair[set->pair[i]];

		s->label[i] = (struct pmukit_label){ .key = sets->texts.text[pair.key],
						     .value = sets->texts.text[pair.value],
						     .unit = "" };
	}
	s->shown.labels = s->label;
	s->shown.labels_size = set->pairs;
	s->shown.has |= PMUKIT_HAS_LABELS;
}

static bool has_labels(bool is_known, uint8_t status)
{
	enum label_state state = label_state(is_known, status);

	return state == LABELS_NONE || state == LABELS_SOME;
}

static void show_raw(struct pmukit_stream *s)
{
	const struct sample *sample = &s->sample;
	struct pmukit_sample *out = &s->shown;

	out->time = sample->time;
	out->pid = sample->pid;
	out->tid = sample->tid;
	out->cpu = sample->cpu;
	out->ip = sample->ip;
	out->address = sample->addr;
	if (has_labels(sample->labels.is_known, sample->labels.status))
		show_labels(s, label_sets_of_sample(&s->tables.labels, &sample->labels));
}

static void show_resolved(struct pmukit_stream *s)
{
	const struct resolved_sample *sample = &s->resolved;
	struct pmukit_sample *out = &s->shown;

	out->time = sample->time;
	out->pid = sample->pid;
	out->tid = sample->tid;
	out->cpu = sample->cpu;
	out->address = sample->has & PERF_SAMPLE_ADDR ? sample->value[VALUE_ADDR] : 0;
	if (sample->labels && has_labels(true, sample->label_status))
		show_labels(s, sample->labels - 1);
}

/* Show the last sample, as one of INCREASE. */
static void show(struct pmukit_stream *s, const struct group_increase *increase)
{
	const uint64_t bits = stream_events(s->in)->event[increase->event].attr.sample_type;
	struct pmukit_sample *out = &s->shown;

	*out = (struct pmukit_sample){ .event = (int)increase->event, .period = increase->period,
				       .comm = comm_of(s) };
	out->has = (bits & PERF_SAMPLE_TIME ? PMUKIT_HAS_TIME : 0) |
		   (bits & PERF_SAMPLE_TID ? PMUKIT_HAS_TASK : 0) |
		   (bits & PERF_SAMPLE_CPU ? PMUKIT_HAS_CPU : 0) |
		   (bits & PERF_SAMPLE_ADDR ? PMUKIT_HAS_ADDRESS : 0);
	if (s->last == LAST_RAW)
		show_raw(s);
	else
		show_resolved(s);
	if (!(out->has & PMUKIT_HAS_TASK))
		out->pid = out->tid = 0;
	show_callchain(s);
	if (out->callchain_size)
		out->has |= PMUKIT_HAS_CALLCHAIN;
}

/* Read the next sample that is selected.  Return 1, 0 at the end, or a status. */
static int read_sample(struct pmukit_stream *s)
{
	for (;;) {
		while (s->increase_at < s->increases) {
			const struct group_increase *i = &s->increase[s->increase_at++];

			if (is_selected(s, i->event)) {
				show(s, i);
				return 1;
			}
		}
		if (!stream_step(s))
			return stream_end(s);
		stream_keep_damage(s);
	}
}

static int next_sample(void *arguments)
{
	const struct stream_asking *a = arguments;
	int status = read_sample(a->s);

	if (status > 0)
		*a->sample = &a->s->shown;
	return status;
}

int pmukit_stream_next_sample(struct pmukit_stream *s, const struct pmukit_sample **sample)
{
	struct stream_asking a = { .s = s, .sample = sample };

	if (!sample)
		return fail(PMUKIT_WRONG_ARGUMENT, "no place for the sample");
	return guarded(s ? &s->handle : NULL, HANDLE_STREAM, next_sample, &a);
}

int pmukit_stream_each_sample(struct pmukit_stream *s, pmukit_on_sample *on_sample, void *context)
{
	const struct pmukit_sample *sample;
	int status;

	if (!on_sample)
		return fail(PMUKIT_WRONG_ARGUMENT, "no callback for samples");
	while ((status = pmukit_stream_next_sample(s, &sample)) > 0)
		if (on_sample(context, sample))
			return fail(PMUKIT_STOPPED, "the callback for samples asked to end");
	return status;
}

static int count_events(void *arguments)
{
	const struct pmukit_stream *s = arguments;

	return (int)stream_events(s->in)->count;
}

int pmukit_stream_events(struct pmukit_stream *s)
{
	return guarded(s ? &s->handle : NULL, HANDLE_STREAM, count_events, s);
}

static int ask_event(void *arguments)
{
	struct stream_asking *a = arguments;
	struct pmukit_stream *s = a->s;
	const struct stream_events *events = stream_events(s->in);

	if (a->index < 0 || (uint32_t)a->index >= events->count)
		return PMUKIT_NOT_FOUND;
	for (; s->events <= (uint32_t)a->index; s->events++) {
		s->event = array_grow(s->event, s->events, sizeof(struct stream_event_shown *));
		s->event[s->events] = mem_zeroed(1, sizeof(struct stream_event_shown));
	}
	const struct stream_event *e = &events->event[a->index];
	struct stream_event_shown *shown = s->event[a->index];
	shown->attr = e->attr;
	shown->event = (struct pmukit_stream_event){
		.name = e->name, .period = e->attr.freq ? 0 : e->attr.sample_period,
		.frequency = e->attr.freq ? e->attr.sample_freq : 0, .attr = &shown->attr,
		.attr_size = e->attr.size && e->attr.size < sizeof(e->attr)
			? e->attr.size : sizeof(e->attr),
	};
	a->event = &shown->event;
	return 0;
}

const struct pmukit_stream_event *pmukit_stream_event(struct pmukit_stream *s, int index)
{
	struct stream_asking a = { .s = s, .index = index };

	guarded(s ? &s->handle : NULL, HANDLE_STREAM, ask_event, &a);
	return a.event;
}

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

static int show_origin(void *arguments)
{
	struct pmukit_stream *s = arguments;
	const struct stream_origin *o = stream_origin(s->in);

	s->origin = (struct pmukit_origin){
		.host = or_empty(o->host), .kernel = or_empty(o->kernel),
		.machine = or_empty(o->arch), .command = or_empty(o->command), .cpus = o->cpus,
	};
	return 0;
}

const struct pmukit_origin *pmukit_stream_origin(struct pmukit_stream *s)
{
	int status = guarded(s ? &s->handle : NULL, HANDLE_STREAM, show_origin, s);

	return status < 0 ? NULL : &s->origin;
}
