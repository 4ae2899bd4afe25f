/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile.proto, written in pieces: a message cut into several that have some
 * of its fields each means the same as their concatenation.  So every sample,
 * mapping, location and function is packed as a profile of its own, and no
 * copy of the whole is ever in memory.
 */
#include "base/intern.h"
#include "profile.pb-c.h"
#include "profile/gzip.h"
#include "profile/profile.h"

#include <inttypes.h>

enum { LABEL_SIZE = 128 };	/* bytes of a sample type's name */

struct encoder {
	const struct profile *p;
	const struct resolved *r;
	const struct stream_events *events;
	struct gzip *gz;
	struct intern strings;	/* of the profile: its string table */
	struct use {		/* what samples refer to; the rest is left out */
		bool *frame, *object, *function;
	} used;
	struct object_has {	/* what is known of all frames in an object */
		bool functions, files, lines, inlines;
		uint64_t samples;	/* in which it stands, if it is some process's main one */
	} *has;			/* by object */
	uint8_t *buffer;
	size_t capacity;
};

static void write_piece(struct encoder *e, const Perftools__Profiles__Profile *piece)
{
	size_t size = perftools__profiles__profile__get_packed_size(piece);

	if (size > e->capacity) {
		e->capacity = 2 * size;
		e->buffer = mem_resize(e->buffer, e->capacity);
	}
	perftools__profiles__profile__pack(piece, e->buffer);
	gzip_write(e->gz, e->buffer, size);
}

static int64_t text_id(struct encoder *e, const char *text)
{
	return intern_text(&e->strings, text);
}

static int64_t string_id(struct encoder *e, uint32_t string)
{
	return string ? text_id(e, e->r->string[string]) : 0;
}

/* Events that count nothing, but carry others' records. */
static bool is_silent(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_DUMMY;
}

static uint32_t counting_events(const struct encoder *e)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < e->events->count; i++)
		n += !is_silent(&e->events->event[i].attr);
	return n;
}

/* What the values of event I are: "cpu" in "nanoseconds", "cycles" in "count". */
static Perftools__Profiles__ValueType value_type(struct encoder *e, uint32_t i)
{
	Perftools__Profiles__ValueType type = PERFTOOLS__PROFILES__VALUE_TYPE__INIT;
	const struct stream_event *event = &e->events->event[i];
	bool is_clock = event_is_clock(&event->attr);

	for (uint32_t before = 0; is_clock && before < i; before++)	/* "cpu" only once */
		if (event_is_clock(&e->events->event[before].attr))
			is_clock = false;
	type.type = text_id(e, is_clock ? "cpu" : event->name);
	type.unit = text_id(e, event_is_clock(&event->attr) ? "nanoseconds" : "count");
	return type;
}

/* For each event "samples" and its values; several events tell their samples apart by name. */
static void write_types(struct encoder *e)
{
	bool several = counting_events(e) > 1, first = true;
	char name[LABEL_SIZE];

	for (uint32_t i = 0; i < e->events->count; i++) {
		Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;
		Perftools__Profiles__ValueType samples = PERFTOOLS__PROFILES__VALUE_TYPE__INIT;
		const struct stream_event *event = &e->events->event[i];

		if (is_silent(&event->attr))
			continue;
		Perftools__Profiles__ValueType value = value_type(e, i);
		const char *of = several ? e->strings.text[value.type] : "";
		snprintf(name, sizeof(name), "%s%ssamples", of, several ? "_" : "");
		samples.type = text_id(e, name);
		samples.unit = text_id(e, "count");
		piece.n_sample_type = 2;
		piece.sample_type = (Perftools__Profiles__ValueType *[]){ &samples, &value };
		if (first) {
			piece.default_sample_type = value.type;
			piece.period_type = &value;
			if (i < e->p->events && !e->p->event[i].varies)
				piece.period = (int64_t)e->p->event[i].period;
			else if (!event->attr.freq)
				piece.period = (int64_t)event->attr.sample_period;
		}
		first = false;
		write_piece(e, &piece);
	}
}

static void mark_frame(struct encoder *e, uint32_t frame)
{
	const struct resolved_frame *f = &e->r->frame[frame];
	struct object_has *has = &e->has[f->object];

	if (e->used.frame[frame])
		return;
	e->used.frame[frame] = e->used.object[f->object] = true;
	for (uint32_t i = 0; i < f->lines; i++) {
		e->used.function[f->line[i].function] = true;
		has->functions = true;
		has->files |= f->line[i].file != 0;
		has->lines |= f->line[i].line != 0;
	}
	has->inlines |= f->lines > 1;
}

/* Of the executables that were run, the one with most samples gives the profile its name. */
static void weigh_main(struct encoder *e, const struct stack *stack,
		       const struct stack_value *value)
{
	uint32_t last = TABLE_NONE;

	for (uint32_t i = 0; i < stack->frames; i++) {
		uint32_t object = e->r->frame[stack->frame[i]].object;
		if (object == last || !(e->r->object[object].flags & OBJECT_IS_MAIN))
			continue;
		last = object;
		for (uint32_t k = 0; k < e->p->stacks.events; k++)
			e->has[object].samples += value[k].samples;
	}
}

/* The SUM of an event's periods, and of what its counter missed while others had it. */
static int64_t scaled(const struct encoder *e, uint32_t event, uint64_t sum)
{
	double scale = profile_scale(e->p, event);

	return scale > 1 ? (int64_t)((double)sum * scale + 0.5) : (int64_t)sum;
}

static void write_samples(struct encoder *e)
{
	uint32_t types = 2 * counting_events(e), location_capacity = 0;
	int64_t *value = mem_resize(NULL, types * sizeof(*value));
	uint64_t *location = NULL;

	for (uint32_t s = 0; s < e->p->stacks.count; s++) {
		Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;
		Perftools__Profiles__Sample sample = PERFTOOLS__PROFILES__SAMPLE__INIT;
		const struct stack *stack = &e->p->stacks.stack[s];
		const struct stack_value *v = stacks_values(&e->p->stacks, s);

		if (stack->frames > location_capacity) {
			location_capacity = 2 * stack->frames;
			location = mem_resize(location, location_capacity * sizeof(*location));
		}
		for (uint32_t i = 0; i < stack->frames; i++) {
			mark_frame(e, stack->frame[i]);
			location[i] = (uint64_t)stack->frame[i] + 1;
		}
		weigh_main(e, stack, v);
		uint32_t n = 0;
		for (uint32_t i = 0; i < e->events->count; i++) {
			if (is_silent(&e->events->event[i].attr))
				continue;
			bool counted = i < e->p->stacks.events;
			value[n++] = counted ? (int64_t)v[i].samples : 0;
			value[n++] = counted ? scaled(e, i, v[i].sum) : 0;
		}
		sample.n_location_id = stack->frames;
		sample.location_id = location;
		sample.n_value = types;
		sample.value = value;
		piece.n_sample = 1;
		piece.sample = (Perftools__Profiles__Sample *[]){ &sample };
		write_piece(e, &piece);
	}
	free(location);
	free(value);
}

static void write_mapping(struct encoder *e, uint32_t id)
{
	Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;
	Perftools__Profiles__Mapping m = PERFTOOLS__PROFILES__MAPPING__INIT;
	const struct resolved_object *o = &e->r->object[id];
	char build_id[2 * BUILD_ID_MAX + 1] = "";

	for (int i = 0; i < o->build_id_size; i++)
		snprintf(build_id + 2 * i, 3, "%02x", o->build_id[i]);
	m.id = (uint64_t)id + 1;
	m.memory_start = o->start;
	m.memory_limit = o->start + o->size;
	m.file_offset = o->file_offset;
	m.filename = string_id(e, o->path);
	m.build_id = text_id(e, build_id);
	m.has_functions = e->has[id].functions;
	m.has_filenames = e->has[id].files;
	m.has_line_numbers = e->has[id].lines;
	m.has_inline_frames = e->has[id].inlines;
	piece.n_mapping = 1;
	piece.mapping = (Perftools__Profiles__Mapping *[]){ &m };
	write_piece(e, &piece);
}

/* The main binary's comes first: pprof names the profile after it. */
static void write_mappings(struct encoder *e)
{
	uint32_t main = TABLE_NONE;

	for (uint32_t i = 0; i < e->r->objects; i++)
		if (e->used.object[i] && e->r->object[i].flags & OBJECT_IS_MAIN &&
		    (main == TABLE_NONE || e->has[i].samples > e->has[main].samples))
			main = i;
	if (main != TABLE_NONE)
		write_mapping(e, main);
	for (uint32_t i = 0; i < e->r->objects; i++)
		if (e->used.object[i] && i != main && e->r->object[i].kind != OBJECT_UNKNOWN)
			write_mapping(e, i);
}

static void write_location(struct encoder *e, uint32_t id)
{
	Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;
	Perftools__Profiles__Location location = PERFTOOLS__PROFILES__LOCATION__INIT;
	const struct resolved_frame *f = &e->r->frame[id];
	Perftools__Profiles__Line *line = mem_zeroed(f->lines, sizeof(*line));
	Perftools__Profiles__Line **lines = mem_zeroed(f->lines, sizeof(*lines));

	for (uint32_t i = 0; i < f->lines; i++) {
		perftools__profiles__line__init(&line[i]);
		line[i].function_id = (uint64_t)f->line[i].function + 1;
		line[i].line = f->line[i].line;
		line[i].column = f->line[i].column;
		lines[i] = &line[i];
	}
	location.id = (uint64_t)id + 1;
	if (e->r->object[f->object].kind != OBJECT_UNKNOWN)
		location.mapping_id = (uint64_t)f->object + 1;
	location.address = f->address;
	location.n_line = f->lines;
	location.line = lines;
	piece.n_location = 1;
	piece.location = (Perftools__Profiles__Location *[]){ &location };
	write_piece(e, &piece);
	free(line);
	free(lines);
}

static void write_function(struct encoder *e, uint32_t id)
{
	Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;
	Perftools__Profiles__Function function = PERFTOOLS__PROFILES__FUNCTION__INIT;
	const struct resolved_function *f = &e->r->function[id];

	function.id = (uint64_t)id + 1;
	function.name = string_id(e, f->name);
	function.system_name = string_id(e, f->system_name);
	function.filename = string_id(e, f->file);
	function.start_line = f->line;
	piece.n_function = 1;
	piece.function = (Perftools__Profiles__Function *[]){ &function };
	write_piece(e, &piece);
}

/* When, for how long, and the comments. */
static void write_about(struct encoder *e, const struct stream_origin *origin)
{
	Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;
	int64_t *comment = mem_zeroed(e->p->comments, sizeof(*comment));

	for (size_t i = 0; i < e->p->comments; i++)
		comment[i] = text_id(e, e->p->comment[i]);
	piece.n_comment = e->p->comments;
	piece.comment = comment;
	piece.duration_nanos = (int64_t)(e->p->last_time - e->p->first_time);
	if (origin->has_clock && e->p->first_time)
		piece.time_nanos = (int64_t)(origin->wall_time +
					     (e->p->first_time - origin->clock_time));
	write_piece(e, &piece);
	free(comment);
}

static void write_strings(struct encoder *e)
{
	for (uint32_t i = 0; i < e->strings.count; i++) {
		Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;
		char *text = (char *)(uintptr_t)e->strings.text[i];	/* packing reads it only */

		piece.n_string_table = 1;
		piece.string_table = &text;
		write_piece(e, &piece);
	}
}

void profile_write(const struct profile *p, const struct stream_events *events,
		   const struct stream_origin *origin, struct output *out)
{
	const struct resolved *r = p->resolved;
	struct encoder e = {
		.p = p, .r = r, .events = events, .gz = gzip_open(out),
		.used.frame = mem_zeroed(r->frames, sizeof(bool)),
		.used.object = mem_zeroed(r->objects, sizeof(bool)),
		.used.function = mem_zeroed(r->functions, sizeof(bool)),
		.has = mem_zeroed(r->objects, sizeof(*e.has)),
	};

	text_id(&e, "");	/* entry 0 */
	write_types(&e);
	write_samples(&e);
	write_mappings(&e);
	for (uint32_t i = 0; i < r->frames; i++)
		if (e.used.frame[i])
			write_location(&e, i);
	for (uint32_t i = 0; i < r->functions; i++)
		if (e.used.function[i])
			write_function(&e, i);
	write_about(&e, origin);
	write_strings(&e);
	gzip_close(e.gz);
	output_flush(out);
	intern_release(&e.strings);
	free(e.used.frame);
	free(e.used.object);
	free(e.used.function);
	free(e.has);
	free(e.buffer);
}
