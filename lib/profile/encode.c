/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes profile.proto in pieces.  Encoded messages that are concatenated mean the same
 * as one message with all their fields.  So every sample, mapping, location and function
 * is packed as a profile of its own, and the tree of the whole is never in memory.
 */
#include "base/intern.h"
#include "base/text.h"
#include "profile.pb-c.h"
#include "profile/as-time.h"
#include "profile/figures.h"
#include "profile/canonical.h"
#include "profile/pack.h"
#include "profile/wire.h"

#include <inttypes.h>
#include <malloc.h>

enum { LABEL_SIZE = 128 };	/* limit of a sample type's name, in bytes */

struct encoder {
	const struct profile *p;
	const struct stream_events *events;
	struct canonical canonical;
	struct pack *pack;
	struct intern strings;	/* the profile's string table */
	int64_t *figures;	/* strings: a comment for each event that is shown */
	size_t figures_count;
	int64_t *count_name;	/* strings: the name of each event's type with counts */
	double ns_per_cycle;	/* estimated, of the event CYCLES; 0: not shown */
	uint32_t cycles;
	struct encoded_strings {	/* 1 + index of a text in STRINGS; 0: not yet */
		uint32_t *resolved, *own, *labels;	/* by id of the text there */
	} id;
	uint32_t first_clock;	/* index of the first event that is a clock */
	struct object_has {	/* what the frames in an object have */
		bool functions, files, lines, inlines;
		uint64_t samples;	/* that have a frame in it, for a main executable */
	} *has;			/* by place in canonical.objects.order */
};

static void write_piece(struct encoder *e, const Perftools__Profiles__Profile *piece)
{
	size_t size = perftools__profiles__profile__get_packed_size(piece);

	perftools__profiles__profile__pack(piece, pack_room(e->pack, size));
}

/* Return the string index of TEXT, made UTF-8 and safe to print: sampled programs choose names. */
static int64_t text_id(struct encoder *e, const char *text)
{
	if (!text_needs_care(text))
		return intern_text(&e->strings, text);
	char *safe = mem_resize(NULL, strlen(text) + 1);
	memcpy(safe, text, strlen(text) + 1);
	text_make_safe(safe);
	int64_t id = intern_text(&e->strings, safe);
	free(safe);
	return id;
}

/* The same, memoized in *ID, for a text that many parts may share. */
static int64_t known_id(struct encoder *e, uint32_t *id, const char *text)
{
	if (*id == 0)
		*id = (uint32_t)text_id(e, text) + 1;
	return (int64_t)*id - 1;
}

static int64_t string_id(struct encoder *e, const struct resolved *t, uint32_t string)
{
	uint32_t *id = t == e->p->resolved ? e->id.resolved : e->id.own;

	return string ? known_id(e, &id[string], t->string[string]) : 0;
}

static bool shows(const struct encoder *e, uint32_t event)
{
	const struct stream_event *it = &e->events->event[event];

	return profile_shows(it) && (!e->p->only || !strcmp(it->name, e->p->only));
}

static uint32_t counting_events(const struct encoder *e)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < e->events->count; i++)
		n += shows(e, i);
	return n;
}

static bool is_waiting(const struct encoder *e, uint32_t event)
{
	return event < e->p->events && e->p->event[event].is_waiting;
}

/* Return the event's own name, for NAMING_PERF. */
static const char *event_name(const struct encoder *e, uint32_t i)
{
	return e->events->event[i].name;
}

/* Return the name for values of event I.  The first clock, and clocks of its name, are "cpu". */
static const char *value_name(const struct encoder *e, uint32_t i)
{
	uint32_t first = e->first_clock < i ? e->first_clock : i;

	if (is_waiting(e, i))
		return "off-cpu";
	return event_is_clock(&e->events->event[i].attr) &&
	       !strcmp(event_name(e, first), event_name(e, i)) ? "cpu" : event_name(e, i);
}

/* The names of the events so far, with counts. */
struct names {
	struct intern texts;
	uint32_t *count;	/* events with the name, by id */
	uint32_t counts;
};

/* Return the name OF, or if it is taken, NAME, in which it has a number: "cycles#2". */
static const char *unique_name(struct names *n, const char *of, char name[LABEL_SIZE])
{
	uint32_t id = intern_text(&n->texts, of);

	for (; n->counts < n->texts.count; n->counts++) {
		n->count = array_grow(n->count, n->counts, sizeof(*n->count));
		n->count[n->counts] = 0;
	}
	if (++n->count[id] == 1)
		return of;
	snprintf(name, LABEL_SIZE, "%.100s#%" PRIu32, of, n->count[id]);
	return name;
}

static void release_names(struct names *n)
{
	intern_release(&n->texts);
	free(n->count);
}

/* Return the value type of event I: "cpu" in "nanoseconds", "cycles" in "count". */
static Perftools__Profiles__ValueType value_type(struct encoder *e, uint32_t i,
						 const char *name)
{
	Perftools__Profiles__ValueType type = PERFTOOLS__PROFILES__VALUE_TYPE__INIT;
	const struct stream_event *event = &e->events->event[i];
	bool is_time = event_is_clock(&event->attr) || is_waiting(e, i);

	type.type = text_id(e, name);
	type.unit = text_id(e, is_time ? "nanoseconds" : "count");
	return type;
}

/* Use the names of perf_to_profile: cycles_sample and cycles_event, both in "count". */
static void name_as_perf(struct encoder *e, const char *event,
			 Perftools__Profiles__ValueType *samples,
			 Perftools__Profiles__ValueType *value)
{
	char name[LABEL_SIZE];

	snprintf(name, sizeof(name), "%.100s_sample", event);
	samples->type = text_id(e, name);
	snprintf(name, sizeof(name), "%.100s_event", event);
	value->type = text_id(e, name);
	value->unit = samples->unit;
}

static void add_comment(struct encoder *e, const struct figures *f)
{
	char text[FIGURES_SIZE];

	figures_write(text, f);
	e->figures = array_grow(e->figures, e->figures_count, sizeof(*e->figures));
	e->figures[e->figures_count++] = text_id(e, text);
}

/* Add a comment with what statistics need to know about event I and its types COUNT, VALUE. */
static void add_figures(struct encoder *e, uint32_t i, int64_t count, int64_t value)
{
	const struct profile *p = e->p;
	const struct perf_event_attr *attr = &e->events->event[i].attr;
	const struct profile_event none = { 0 }, *of = i < p->events ? &p->event[i] : &none;
	double scale = profile_scale(p, i);

	add_comment(e, &(struct figures){
		.samples = of->samples, .squares = (double)of->squares * scale * scale,
		.lost = of->all_lost, .enabled = of->enabled, .running = of->running,
		.is_complete = is_waiting(e, i) || (!attr->freq && attr->sample_period == 1),
		.is_group = attr->sample_type & PERF_SAMPLE_READ &&
			    attr->read_format & PERF_FORMAT_GROUP,
		.run = p->run, .count = e->strings.text[count],
		.value = e->strings.text[value] });
}

/*
 * The same for VALUE, the further type of event I.  Its samples are those of the event COUNTED:
 * I itself, or for time on CPUs and waiting time the clock.
 */
static void add_more_figures(struct encoder *e, uint32_t i, uint32_t counted, int64_t value)
{
	const struct profile_event none = { 0 };
	const struct profile_event *more = i < e->p->events ? &e->p->event[i] : &none;
	const struct profile_event *of = counted < e->p->events ? &e->p->event[counted] : &none;
	double scale = profile_scale(e->p, i);

	add_comment(e, &(struct figures){
		.samples = more->more_samples,
		.squares = (double)more->more_squares * scale * scale, .lost = of->all_lost,
		.enabled = of->enabled, .running = of->running, .run = e->p->run,
		.count = e->strings.text[e->count_name[counted]],
		.value = e->strings.text[value] });
}

/* Return whether event I has a further type, which comes after the two types of all events. */
static bool has_more(const struct encoder *e, uint32_t i)
{
	return shows(e, i) && profile_has_more(e->p, e->events, i);
}

/* Write the further type of event I, and its figures.  Returns its name. */
static int64_t write_more(struct encoder *e, uint32_t i, struct names *values)
{
	Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;
	bool is_wall = profile_has_wall(e->p, e->events, i);
	uint32_t counted = is_wall ? e->first_clock : i;	/* the event that is sampled */
	char own[LABEL_SIZE], name[LABEL_SIZE];

	if (is_wall)
		snprintf(own, sizeof(own), "wall");
	else if (i == e->first_clock)
		snprintf(own, sizeof(own), "latency");
	else
		snprintf(own, sizeof(own), "latency_%.100s", value_name(e, i));
	Perftools__Profiles__ValueType type = value_type(e, i, unique_name(values, own, name));
	piece.n_sample_type = 1;
	piece.sample_type = (Perftools__Profiles__ValueType *[]){ &type };
	write_piece(e, &piece);
	if (shows(e, counted))
		add_more_figures(e, i, counted, type.type);
	return type.type;
}

static double time_of(const struct encoder *e, uint64_t cycles)
{
	return (double)cycles * e->ns_per_cycle + 0.5;
}

/* Write the type of the estimated time, and its figures. */
static void write_time(struct encoder *e, struct names *values)
{
	Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;
	Perftools__Profiles__ValueType type = PERFTOOLS__PROFILES__VALUE_TYPE__INIT;
	const struct profile_event *of = &e->p->event[e->cycles];
	char name[LABEL_SIZE];

	type.type = text_id(e, unique_name(values, "cpu", name));
	type.unit = text_id(e, "nanoseconds");
	piece.n_sample_type = 1;
	piece.sample_type = (Perftools__Profiles__ValueType *[]){ &type };
	write_piece(e, &piece);
	add_comment(e, &(struct figures){
		.samples = of->samples, .lost = of->all_lost, .enabled = of->enabled,
		.running = of->running, .run = e->p->run,
		.squares = (double)of->squares * e->ns_per_cycle * e->ns_per_cycle,
		.count = e->strings.text[e->count_name[e->cycles]],
		.value = e->strings.text[type.type] });
}

/* Write which type is shown first. */
static void write_default(struct encoder *e, int64_t name)
{
	Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;

	piece.default_sample_type = name;
	write_piece(e, &piece);
}

/*
 * Write two types for each event: "samples" ("cycles_samples" if there are several) and values;
 * and then the further types.  Shown first is the first further type, or else the time that
 * threads waited, or else the values of the first event.
 */
static void write_types(struct encoder *e)
{
	bool several = counting_events(e) > 1, first = true;
	char name[LABEL_SIZE], of_value[LABEL_SIZE], of_event[LABEL_SIZE];
	struct names values = { 0 }, own = { 0 };
	int64_t shown = 0, waits = 0, more = 0;

	e->count_name = mem_zeroed(e->events->count, sizeof(*e->count_name));

	for (uint32_t i = 0; i < e->events->count; i++) {
		Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;
		Perftools__Profiles__ValueType samples = PERFTOOLS__PROFILES__VALUE_TYPE__INIT;
		const struct stream_event *event = &e->events->event[i];

		const char *value_is = unique_name(&values, value_name(e, i), of_value);
		const char *event_is = unique_name(&own, event_name(e, i), of_event);
		if (!shows(e, i))
			continue;
		Perftools__Profiles__ValueType value = value_type(e, i, value_is);
		const char *of = several ? e->strings.text[value.type] : "";
		snprintf(name, sizeof(name), "%.100s%ssamples", of, several ? "_" : "");
		samples.type = text_id(e, name);
		samples.unit = text_id(e, "count");
		if (e->p->naming == NAMING_PERF)
			name_as_perf(e, event_is, &samples, &value);
		piece.n_sample_type = 2;
		piece.sample_type = (Perftools__Profiles__ValueType *[]){ &samples, &value };
		if (first) {
			shown = value.type;
			piece.period_type = &value;
			if (i < e->p->events && !e->p->event[i].varies)
				piece.period = (int64_t)e->p->event[i].period;
			else if (!event->attr.freq)
				piece.period = (int64_t)event->attr.sample_period;
		}
		first = false;
		write_piece(e, &piece);
		add_figures(e, i, samples.type, value.type);
		e->count_name[i] = samples.type;
		if (!waits && is_waiting(e, i))
			waits = value.type;
	}
	for (uint32_t i = 0; i < e->events->count; i++)
		if (has_more(e, i)) {
			int64_t type = write_more(e, i, &values);
			more = more ? more : type;
		}
	if (e->ns_per_cycle > 0)
		write_time(e, &values);
	write_default(e, more ? more : waits ? waits : shown);
	free(e->count_name);
	release_names(&values);
	release_names(&own);
}

/* Learn from the used frames what is known about their objects. */
static void learn_objects(struct encoder *e)
{
	uint32_t id;

	for (uint32_t i = 0; i < e->canonical.frames.used; i++) {
		const struct resolved *t = canonical_frame(&e->canonical,
							   e->canonical.frames.order[i], &id);
		const struct resolved_frame *f = &t->frame[id];
		struct object_has *has = &e->has[canonical_object_rank(&e->canonical, t,
								       f->object) - 1];
		has->functions |= f->lines > 0;
		has->inlines |= f->lines > 1;
		for (uint32_t k = 0; k < f->lines; k++) {
			has->files |= f->line[k].file != 0;
			has->lines |= f->line[k].line != 0;
		}
	}
}

/* Count samples per main executable: the profile is named after the one with the most. */
static void weigh_main(struct encoder *e, const struct chain *chain,
		       const struct stack_value *value)
{
	const struct resolved *r = e->p->resolved;
	uint32_t last = TABLE_NONE;

	for (uint32_t i = 0; i < chain->frames; i++) {
		if (chain->frame[i] & FRAME_OWN)
			continue;
		uint32_t object = r->frame[chain->frame[i]].object;
		if (object == last || !(r->object[object].flags & OBJECT_IS_MAIN))
			continue;
		last = object;
		for (uint32_t k = 0; k < e->p->stacks.events; k++)
			e->has[canonical_object_rank(&e->canonical, r, object) - 1].samples +=
				value[k].samples;
	}
}

/*
 * Make [FROM, END) a length-delimited field: shift it right, and write FIELD's tag and
 * length before it.  Returns the new end.
 */
static uint8_t *enclose(uint8_t *from, uint8_t *end, unsigned field)
{
	uint8_t head[1 + WIRE_VARINT_MAX];
	size_t size = (size_t)(wire_bytes(head, field, (uint64_t)(end - from)) - head);

	memmove(from + size, from, (size_t)(end - from));
	memcpy(from, head, size);
	return end + size;
}

/* Each label: message Label { key = 1; str = 2; num = 3; num_unit = 4; }, field 3 of Sample */
static uint8_t *put_labels(struct encoder *e, uint32_t set, uint8_t *to)
{
	const struct labels *l = e->p->labels;

	for (uint32_t i = 0; set != 0 && i < l->keys; i++) {
		int64_t value = labels_values(l, set)[i];
		uint8_t *begin = to;
		if (value == LABEL_ABSENT)
			continue;
		to = wire_number(to, 1, (uint64_t)text_id(e, l->key[i].name));
		if (l->key[i].is_text) {
			to = wire_number(to, 2, (uint64_t)known_id(e, &e->id.labels[value],
								     l->texts.text[value]));
		} else {
			to = wire_number(to, 3, (uint64_t)value);
			to = wire_number(to, 4, (uint64_t)text_id(e, l->key[i].unit));
		}
		to = enclose(begin, to, 3);
	}
	return to;
}

/* Return value PLACE of V, the values of a stack. */
static struct stack_value value_at(const struct encoder *e, const struct stack_value *v,
				   uint32_t place)
{
	return place < e->p->stacks.events ? v[place] : (struct stack_value){ 0 };
}

static uint8_t *put_sum(struct encoder *e, uint32_t event, struct stack_value value, uint8_t *to)
{
	return wire_varint(to, (uint64_t)profile_scaled(e->p, event, value.sum));
}

/* Write the two values of each event that is shown, and then the further ones. */
static uint8_t *put_values(struct encoder *e, const struct stack_value *v, uint8_t *to)
{
	for (uint32_t i = 0; i < e->events->count; i++) {
		struct stack_value value = value_at(e, v, profile_place(e->p, i));
		if (!shows(e, i))
			continue;
		to = wire_varint(to, value.samples);
		to = put_sum(e, i, value, to);
	}
	for (uint32_t i = 0; i < e->events->count && (e->p->latency || e->p->wall); i++)
		if (has_more(e, i))
			to = put_sum(e, i, value_at(e, v, profile_place(e->p, i) + 1), to);
	if (e->ns_per_cycle > 0) {
		double ns = time_of(e, value_at(e, v, profile_place(e->p, e->cycles)).sum);
		to = wire_varint(to, ns < 0x1p63 ? (uint64_t)ns : INT64_MAX);
	}
	return to;
}

/* message Sample { location_id = 1; value = 2; label = 3; }, field 2 of Profile, at ROOM */
static size_t put_sample(struct encoder *e, uint32_t s, uint8_t *room)
{
	const struct stack *stack = &e->p->stacks.stack[s];
	const struct chain *chain = &e->p->chains.chain[stack->chain];
	const struct stack_value *v = stacks_values(&e->p->stacks, s);
	uint8_t *to = room, *begin;

	for (uint32_t i = 0; i < chain->frames; i++)
		to = wire_varint(to, canonical_frame_rank(&e->canonical, chain->frame[i]));
	to = begin = enclose(room, to, 1);
	to = enclose(begin, put_values(e, v, to), 2);
	to = put_labels(e, stack->labels, to);
	weigh_main(e, chain, v);
	return (size_t)(enclose(room, to, 2) - room);
}

/* Samples are many, so they are encoded here, three times as fast as by the library. */
static void write_samples(struct encoder *e)
{
	const size_t heads = 64, label = 4 * WIRE_VARINT_MAX + heads;
	size_t longest = 0;

	for (uint32_t i = 0; i < e->p->chains.count; i++)
		if (e->p->chains.chain[i].frames > longest)
			longest = e->p->chains.chain[i].frames;
	size_t room = WIRE_VARINT_MAX * (longest + 3 * (size_t)e->events->count + 1) + heads +
		      LABEL_KEYS_MAX * label;
	uint8_t *scratch = mem_resize(NULL, room);
	for (uint32_t i = 0; i < e->p->stacks.count; i++) {
		size_t size = put_sample(e, e->canonical.stacks[i], scratch);
		memcpy(pack_room(e->pack, size), scratch, size);
	}
	free(scratch);
}

static void write_mapping(struct encoder *e, uint32_t place)
{
	Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;
	Perftools__Profiles__Mapping m = PERFTOOLS__PROFILES__MAPPING__INIT;
	char build_id[BUILD_ID_HEX];
	uint32_t id;
	const struct resolved *t = canonical_object(&e->canonical,
						    e->canonical.objects.order[place], &id);
	const struct resolved_object *o = &t->object[id];

	if (o->kind == OBJECT_UNKNOWN)
		return;
	record_build_id_hex(o->build_id, o->build_id_size, build_id);
	m.id = (uint64_t)place + 1;
	m.memory_start = o->start;
	m.memory_limit = o->start + o->size;
	m.file_offset = o->file_offset;
	m.filename = string_id(e, t, o->path);
	m.build_id = text_id(e, build_id);
	m.has_functions = e->has[place].functions;
	m.has_filenames = e->has[place].files;
	m.has_line_numbers = e->has[place].lines;
	m.has_inline_frames = e->has[place].inlines;
	piece.n_mapping = 1;
	piece.mapping = (Perftools__Profiles__Mapping *[]){ &m };
	write_piece(e, &piece);
}

static bool is_main(const struct encoder *e, uint32_t place)
{
	uint32_t id;
	const struct resolved *t = canonical_object(&e->canonical,
						    e->canonical.objects.order[place], &id);

	return t->object[id].flags & OBJECT_IS_MAIN;
}

/* The mapping of the main executable comes first: pprof names the profile after it. */
static void write_mappings(struct encoder *e)
{
	uint32_t main = TABLE_NONE, used = e->canonical.objects.used;

	for (uint32_t i = 0; i < used; i++)
		if (is_main(e, i) &&
		    (main == TABLE_NONE || e->has[i].samples > e->has[main].samples))
			main = i;
	if (main != TABLE_NONE)
		write_mapping(e, main);
	for (uint32_t i = 0; i < used; i++)
		if (i != main)
			write_mapping(e, i);
}

static void write_location(struct encoder *e, uint32_t place)
{
	Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;
	Perftools__Profiles__Location location = PERFTOOLS__PROFILES__LOCATION__INIT;
	uint32_t id;
	const struct resolved *t = canonical_frame(&e->canonical, e->canonical.frames.order[place],
						   &id);
	const struct resolved_frame *f = &t->frame[id];
	Perftools__Profiles__Line *line = mem_zeroed(f->lines, sizeof(*line));
	Perftools__Profiles__Line **lines = mem_zeroed(f->lines, sizeof(*lines));

	for (uint32_t i = 0; i < f->lines; i++) {
		perftools__profiles__line__init(&line[i]);
		line[i].function_id = canonical_function_rank(&e->canonical, t,
							      f->line[i].function);
		line[i].line = f->line[i].line;
		line[i].column = f->line[i].column;
		lines[i] = &line[i];
	}
	location.id = (uint64_t)place + 1;
	if (t->object[f->object].kind != OBJECT_UNKNOWN)
		location.mapping_id = canonical_object_rank(&e->canonical, t, f->object);
	location.address = f->address;
	location.n_line = f->lines;
	location.line = lines;
	piece.n_location = 1;
	piece.location = (Perftools__Profiles__Location *[]){ &location };
	write_piece(e, &piece);
	free(line);
	free(lines);
}

static void write_function(struct encoder *e, uint32_t place)
{
	Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;
	Perftools__Profiles__Function function = PERFTOOLS__PROFILES__FUNCTION__INIT;
	uint32_t id;
	const struct resolved *t = canonical_function(&e->canonical,
						      e->canonical.functions.order[place], &id);
	const struct resolved_function *f = &t->function[id];

	function.id = (uint64_t)place + 1;
	function.name = string_id(e, t, f->name);
	function.system_name = string_id(e, t, f->system_name);
	function.filename = string_id(e, t, f->file);
	function.start_line = f->line;
	piece.n_function = 1;
	piece.function = (Perftools__Profiles__Function *[]){ &function };
	write_piece(e, &piece);
}

/* Write the profile's time, duration and comments. */
static void write_origin(struct encoder *e, const struct stream_origin *origin)
{
	Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;
	size_t own = e->p->comments;
	int64_t *comment = mem_zeroed(own + e->figures_count, sizeof(*comment));

	for (size_t i = 0; i < own; i++)
		comment[i] = text_id(e, e->p->comment[i]);
	for (size_t i = 0; i < e->figures_count; i++)
		comment[own + i] = e->figures[i];
	piece.n_comment = own + e->figures_count;
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

/* Encode all of P, and free its stacks: what comes next needs their memory. */
static struct pack *encode(struct profile *p, const struct stream_events *events,
			   const struct stream_origin *origin)
{
	struct encoder e = { .p = p, .events = events, .pack = pack_open() };

	chains_seal(&p->chains);
	table_release(&p->stacks.table);
	malloc_trim(0);		/* return freed memory to the system before more is needed */
	canonical_make(&e.canonical, p);
	e.has = mem_zeroed(e.canonical.objects.used, sizeof(*e.has));
	e.id.resolved = mem_zeroed(p->resolved->strings, sizeof(*e.id.resolved));
	e.id.own = mem_zeroed(p->own.strings, sizeof(*e.id.own));
	e.id.labels = mem_zeroed(p->labels->texts.count, sizeof(*e.id.labels));
	text_id(&e, "");	/* entry 0 */
	e.first_clock = events_first_clock(events);
	e.ns_per_cycle = as_time_factor(p, events, &e.cycles);
	if (e.ns_per_cycle > 0 && !shows(&e, e.cycles))
		e.ns_per_cycle = 0;
	write_types(&e);
	learn_objects(&e);
	write_samples(&e);
	write_mappings(&e);
	for (uint32_t i = 0; i < e.canonical.frames.used; i++)
		write_location(&e, i);
	for (uint32_t i = 0; i < e.canonical.functions.used; i++)
		write_function(&e, i);
	write_origin(&e, origin);
	write_strings(&e);
	free(e.id.resolved);
	free(e.id.own);
	free(e.id.labels);
	canonical_release(&e.canonical);
	stacks_release(&p->stacks);
	chains_release(&p->chains);
	intern_release(&e.strings);
	free(e.figures);
	free(e.has);
	malloc_trim(0);
	return e.pack;
}

void profile_write(struct profile *p, const struct stream_events *events,
		   const struct stream_origin *origin, struct output *out)
{
	pack_close(encode(p, events, origin), p->packing, out);
}

uint8_t *profile_bytes(struct profile *p, const struct stream_events *events,
		       const struct stream_origin *origin, size_t *size)
{
	return pack_take(encode(p, events, origin), size);
}
